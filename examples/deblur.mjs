// A picture out of focus made sharp again: by Wiener's filter, conj(H) / (|H|² + noise) where H is the spectrum of the blur.
// Blurring and sharpening are convolutions of one plan with two kernels.
//
// `node examples/deblur.mjs [device]` (after `npm start` or `npm run build`): cpu, webgpu, cuda …

import { openDevice } from 'omnifft';
import { readGrey, writeGrey } from './pictures.mjs';

const [kind = 'cpu'] = process.argv.slice(2);
const [width, height] = [400, 360];
const RADIUS = 4.3;
/** Power of the noise over that of the picture, about that of 8 bits. */
const NOISE = 3e-4;

const sharp = await readGrey('../docs/pictures/playground.png', { left: 20, top: 40, width, height });

// A lens out of focus makes a disc of each point. It goes round the origin, as the convolution does.
const blur = new Float32Array(width * height);
for (let y = 0; y < height; y++) {
  for (let x = 0; x < width; x++) {
    const distance = Math.hypot(Math.min(x, width - x), Math.min(y, height - y));
    blur[y * width + x] = Math.min(1, Math.max(0, RADIUS + 0.5 - distance));
  }
}
const sum = blur.reduce((a, b) => a + b);
blur.forEach((value, n) => {
  blur[n] = value / sum;
});

const device = await openDevice(kind);
const plan = await device.plan({ size: [width, height], transform: 'r2c', normalize: true, convolution: {} });

const lens = await plan.prepareKernel(blur);
const blurred = (await plan.convolve(sharp, lens)).map((value) => Math.round(255 * value) / 255);

const wiener = await plan.forward(blur);
for (let k = 0; k < wiener.length; k += 2) {
  const divisor = wiener[k] ** 2 + wiener[k + 1] ** 2 + NOISE;
  wiener[k] /= divisor;
  wiener[k + 1] /= -divisor;
}
const undo = await plan.prepareKernel(await plan.inverse(wiener));
const restored = await plan.convolve(blurred, undo);

const error = (picture) =>
  Math.sqrt(picture.reduce((all, value, n) => all + (value - sharp[n]) ** 2, 0) / sharp.length);
const [before, after] = [error(blurred), error(restored)];
console.log(`On ${device.name}: error ${before.toFixed(3)} blurred, ${after.toFixed(3)} restored`);
console.log(
  `${(await plan.measure('convolve', { kernel: undo })).toFixed(2)} ms for ${width} × ${height} pixels, data on the device`,
);
console.log(`Picture, blurred, restored: ${await writeGrey('deblur.png', [sharp, blurred, restored], width, height)}`);
for (const memory of [lens, undo, plan]) memory.free?.() ?? memory.destroy?.();
device.close();
if (!(after < before / 2)) process.exit(1);
