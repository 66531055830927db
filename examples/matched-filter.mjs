// A matched filter: a known pulse is found in noise that is louder than its echoes, by correlating what was received with it. Of
// `omnifft/signal`, whose correlations run on plans that convolve.
//
// `node examples/matched-filter.mjs [device]` (after `npm start` or `npm run build`): cpu, webgpu, cuda …

import { openDevice } from 'omnifft';
import { correlate, correlationLags } from 'omnifft/signal';

const [kind = 'cpu'] = process.argv.slice(2);
const rate = 1e6; // samples a second
const speed = 1500; // metres a second, in water

// A millisecond that sweeps from 50 to 200 kHz.
const pulse = Float32Array.from({ length: rate / 1000 }, (_, k) => {
  const t = k / rate;
  return Math.sin(2 * Math.PI * (5e4 * t + (15e4 * t * t) / 2e-3));
});
const echoes = [
  { metres: 12.3, strength: 0.4 },
  { metres: 21, strength: 0.3 },
  { metres: 37.5, strength: 0.25 },
];
const received = Float32Array.from({ length: 60_000 }, () => 2 * (Math.random() - 0.5));
for (const { metres, strength } of echoes) {
  const delay = Math.round((2 * metres * rate) / speed);
  pulse.forEach((value, k) => {
    received[delay + k] += strength * value;
  });
}

const device = await openDevice(kind);
const { data } = await correlate(received, pulse, { mode: 'valid', device });
const lags = correlationLags(received.length, pulse.length, 'valid');
const energy = pulse.reduce((all, value) => all + value * value, 0);

// The strongest peaks, none of them beside a stronger one.
const order = Array.from(data.keys()).sort((a, b) => Math.abs(data[b]) - Math.abs(data[a]));
const peaks = [];
for (const at of order) {
  if (peaks.every((other) => Math.abs(other - at) > pulse.length / 2)) peaks.push(at);
  if (peaks.length === echoes.length) break;
}
const found = peaks.map((at) => (lags[at] * speed) / rate / 2).sort((a, b) => a - b);
console.log(`On ${device.name}: in noise ${(2 / Math.sqrt(12)).toFixed(2)} strong (rms), echoes from`);
for (const metres of found) {
  const strength = data[lags.indexOf(Math.round((2 * metres * rate) / speed))] / energy;
  console.log(`  ${metres.toFixed(2)} m, ${strength.toFixed(2)} of the pulse`);
}
device.close();
if (!found.every((metres, n) => Math.abs(metres - echoes[n].metres) < 0.01)) process.exit(1);
