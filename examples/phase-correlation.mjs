// How far two pictures of one scene are apart: the correlation of their phases has its peak where one lies on the other. Brightness,
// which changes the magnitudes of a spectrum only, does not matter.
//
// `node examples/phase-correlation.mjs [device]` (after `npm start` or `npm run build`): cpu, webgpu, cuda …

import { openDevice } from 'omnifft';
import { readGrey, writeGrey } from './pictures.mjs';

const [kind = 'cpu'] = process.argv.slice(2);
const size = 256;
const moved = { x: 23, y: -17 };

// Two sections of a screenshot; the second one is darker, has less contrast, and noise.
const scene = '../docs/pictures/playground.png';
const section = { left: 60, top: 100, width: size, height: size };
const first = await readGrey(scene, section);
const there = { ...section, left: section.left - moved.x, top: section.top - moved.y };
const second = (await readGrey(scene, there)).map((value) => 0.2 + 0.5 * value + 0.1 * (Math.random() - 0.5));

// Without edges that the sections do not share.
const hann = Float32Array.from({ length: size }, (_, n) => Math.sin((Math.PI * (n + 0.5)) / size) ** 2);
const windowed = (picture) => {
  const mean = picture.reduce((a, b) => a + b) / picture.length;
  return picture.map((value, n) => (value - mean) * hann[n % size] * hann[Math.floor(n / size)]);
};

const device = await openDevice(kind);
const convolution = { conjugate: 'kernel', crossPower: true };
const plan = await device.plan({ size: [size, size], transform: 'r2c', convolution });
const kernel = await plan.prepareKernel(windowed(first));
const peaks = await plan.convolve(windowed(second), kernel);
kernel.free();

const peak = peaks.reduce((best, value, n) => (value > peaks[best] ? n : best), 0);
const signed = (n) => (n < size / 2 ? n : n - size);
const found = { x: signed(peak % size), y: signed(Math.floor(peak / size)) };
console.log(`On ${device.name}: the second picture is moved by ${found.x}, ${found.y}`);

// No shift in the middle.
const shown = peaks.map((_, n) => {
  const at = ((n + size / 2) % size) + size * ((Math.floor(n / size) + size / 2) % size);
  return Math.sqrt(Math.max(0, peaks[at]) / peaks[peak]);
});
console.log(
  `Both, and the correlation: ${await writeGrey('phase-correlation.png', [first, second, shown], size, size)}`,
);
plan.destroy();
device.close();
if (found.x !== moved.x || found.y !== moved.y) process.exit(1);
