// Poisson's equation in three dimensions with periodic ends: Δu = f, solved by a real transform, a division by
// −(k² + l² + m²), and the transform back. The division is a callback: part of the last launch of the way there.
//
// `node examples/poisson.mjs [device] [points along an axis]` (after `npm start` or `npm run build`): cpu, webgpu, cuda …

import { openDevice } from 'omnifft';

const [kind = 'cpu', points = '64'] = process.argv.slice(2);
const n = Number(points);
const bins = Math.floor(n / 2) + 1;

const device = await openDevice(kind);
const plan = await device.plan({
  size: [n, n, n],
  transform: 'r2c',
  normalize: true,
  callbacks: {
    forward: {
      store: (x, value, at) => {
        const [k, l, m] = at.axis.map((place, axis) => x.load(axis === 0 ? 'bins' : 'waves', place));
        const squares = x.add(x.add(k, l), m);
        const isMean = x.less(squares, x.constant(0.5));
        const factor = x.select(isMean, x.constant(0), x.div(x.constant(-1), squares));
        return { re: x.mul(factor, value.re), im: x.mul(factor, value.im) };
      },
    },
    arrays: { bins: { type: 'f32', length: bins }, waves: { type: 'f32', length: n } },
  },
});

// Squares of the wave numbers along the first axis, of which there is half, and along the others.
const waves = Float32Array.from({ length: n }, (_, k) => Math.min(k, n - k) ** 2);
const arrays = { bins: waves.slice(0, bins), waves };

// A solution that is known, and its Laplacian term by term.
const terms = [
  { k: 1, l: 2, m: 0, size: 1 },
  { k: 3, l: 0, m: 1, size: 0.5 },
  { k: 2, l: 2, m: 2, size: 0.25 },
];
const solution = new Float32Array(n ** 3);
const f = new Float32Array(n ** 3);
for (let at = 0; at < n ** 3; at++) {
  const [i, j, h] = [at % n, Math.floor(at / n) % n, Math.floor(at / n ** 2)];
  for (const { k, l, m, size } of terms) {
    const wave = size * Math.cos((2 * Math.PI * (k * i + l * j + m * h)) / n + k);
    solution[at] += wave;
    f[at] -= (k ** 2 + l ** 2 + m ** 2) * wave;
  }
}

const u = await plan.inverse(await plan.forward(f, undefined, { arrays }));
const error = u.reduce((most, value, at) => Math.max(most, Math.abs(value - solution[at])), 0);
console.log(`${n}³ points on ${device.name}: the largest error is ${error.toExponential(1)}`);

const milliseconds = (await plan.measure('forward')) + (await plan.measure('inverse'));
console.log(`${milliseconds.toFixed(2)} ms for both transforms and the division, data on the device`);
plan.destroy();
device.close();
if (!(error < 1e-5)) process.exit(1);
