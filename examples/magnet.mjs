// The field of a magnet: the magnetisation of every cell makes a field in all others, by a 3 × 3 matrix for each distance, so the
// field is a convolution with matrices. What VkFFT's convolutions were made for (micromagnetics). Cells beyond the magnet are blocks of
// zeros, so that nothing goes round.
//
// A sphere that is magnetised in one direction has the field −M/3 in its middle, whatever its size; here the cells are dipoles.
//
// `node examples/magnet.mjs [device] [cells along an axis]` (after `npm start` or `npm run build`): cpu, webgpu, cuda …

import { openDevice } from 'omnifft';
import { writeGrey } from './pictures.mjs';

const [kind = 'cpu', cells = '33'] = process.argv.slice(2);
const n = Number(cells);
const m = 2 * n;
const points = m ** 3;

// The field of a dipole, (3·r·rᵀ/r² − 1) / 4πr³, as the upper triangles of its matrices: xx, xy, xz, yy, yz, zz. A cell in its own field has −1/3.
const h = new Float32Array(6 * points);
const signed = (k) => (k < n ? k : k - m);
const pairs = [0, 1, 2].flatMap((row) => [0, 1, 2].filter((column) => column >= row).map((column) => [row, column]));
for (let at = 0; at < points; at++) {
  const r = [at % m, Math.floor(at / m) % m, Math.floor(at / m ** 2)].map(signed);
  const square = r[0] ** 2 + r[1] ** 2 + r[2] ** 2;
  pairs.forEach(([row, column], entry) => {
    const unit = row === column ? 1 : 0;
    h[entry * points + at] =
      square === 0 ? -unit / 3 : (3 * r[row] * r[column] - unit * square) / (4 * Math.PI * square ** 2.5);
  });
}

// Magnetisation 1 along z inside a sphere: three coordinates of m³ points, of which n³ are read.
const magnetisation = new Float32Array(3 * points);
const middle = (n - 1) / 2;
const radius = n / 3;
for (let z = 0; z < n; z++) {
  for (let y = 0; y < n; y++) {
    for (let x = 0; x < n; x++) {
      if (Math.hypot(x - middle, y - middle, z - middle) < radius) magnetisation[2 * points + x + m * (y + m * z)] = 1;
    }
  }
}

const device = await openDevice(kind);
const beyond = { from: n, to: m };
const plan = await device.plan({
  size: [m, m, m],
  transform: 'r2c',
  zeroPadding: { space: [beyond, beyond, beyond] },
  convolution: { matrix: 3, symmetric: true },
});
const kernel = await plan.prepareKernel(h);
const field = await plan.convolve(magnetisation, kernel);

const half = Math.floor(n / 2);
const inside = field[2 * points + half + m * (half + m * half)];
console.log(`On ${device.name}: the field in the middle of the sphere is ${inside.toFixed(4)} M, by theory −1/3`);
const milliseconds = await plan.measure('convolve', { kernel });
console.log(`${milliseconds.toFixed(2)} ms for the field of ${n}³ cells, data on the device`);

// Along x and z through the middle: strength of the field, z upwards.
const shown = Float32Array.from({ length: n * n }, (_, at) => {
  const place = (at % n) + m * (half + m * (n - 1 - Math.floor(at / n)));
  return 1.5 * Math.hypot(...[0, 1, 2].map((coordinate) => field[coordinate * points + place]));
});
console.log(`Its strength in a plane through it: ${await writeGrey('magnet.png', [shown], n, n)}`);
kernel.free();
plan.destroy();
device.close();
if (!(Math.abs(inside + 1 / 3) < 1e-3)) process.exit(1);
