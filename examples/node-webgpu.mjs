// A transform on the GPU of this machine, from Node: `node examples/node-webgpu.mjs` (after `npm start` or `npm run build`).
//
// The package `webgpu`, an optional dependency of omnifft, brings WebGPU to Node. Without a GPU, OMNIFFT_SOFTWARE_GPU=1
// computes on the processor instead.

import { FftError, listDevices, openDevice } from 'omnifft';

for (const { kind, name, available, reason } of await listDevices()) {
  console.log(`${kind.padEnd(10)} ${available ? name : `not here: ${reason}`}`);
}

let device;
try {
  device = await openDevice('webgpu');
} catch (error) {
  if (!(error instanceof FftError)) throw error;
  console.log(`\n${error.message}\nOMNIFFT_SOFTWARE_GPU=1 node examples/node-webgpu.mjs does without a GPU.`);
  process.exit(1);
}

try {
  // 16 signals of 1000 samples; signal b is a complex wave that turns b + 1 times.
  const plan = await device.plan({ size: [1000], batches: 16 });
  const signals = new Float32Array(2 * 1000 * 16);
  for (let b = 0; b < 16; b++) {
    for (let k = 0; k < 1000; k++) {
      const angle = (2 * Math.PI * k * (b + 1)) / 1000;
      signals.set([Math.cos(angle), Math.sin(angle)], 2 * (1000 * b + k));
    }
  }
  const spectra = await plan.forward(signals);
  const powers = (b) => Array.from({ length: 1000 }, (_, k) => spectra[2 * (1000 * b + k)] ** 2);
  const bins = Array.from({ length: 16 }, (_, b) => powers(b).indexOf(Math.max(...powers(b))));
  console.log(`\nStrongest bins on ${device.name}: ${bins.join(', ')}`);

  const milliseconds = await plan.measure('forward', { repeats: 100 });
  console.log(`${(milliseconds * 1000).toFixed(1)} µs for all 16, data on the device`);
  plan.destroy();
} finally {
  device.close();
}
