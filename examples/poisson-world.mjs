// Poisson's equation in three dimensions with periodic ends, over many ranks: Δu = f, solved by a real transform, a division by
// −(k² + l² + m²) of the bins that each rank has, and the transform back. No rank ever has all of the field, until it is gathered for the picture.
//
// `mpirun -np 4 node examples/poisson-world.mjs` or `node examples/poisson-world.mjs 4` for four ranks in one process (after `npm start`
// or `npm run build`).

import { openWorld } from 'omnifft/world';
import { writeGrey } from './pictures.mjs';

const [ranks] = process.argv.slice(2);
const n = 64;
const world = ranks ? await openWorld('workers', { ranks: Number(ranks) }) : await openWorld('mpi');
// The bins stay where the last pass leaves them: one exchange less each way.
const plan = await world.plan({
  size: [n, n, n],
  transform: 'r2c',
  precision: 'double',
  normalize: true,
  output: 'any',
});
if (world.rank === 0) console.log(`${world.library}\n${plan.explain()}`);

/** Calls with the indices of all elements of a brick, and the place of each in the memory of its rank. */
function eachPoint({ from, to, strides, offset }, take) {
  for (let z = from[2]; z < to[2]; z++)
    for (let y = from[1]; y < to[1]; y++)
      for (let x = from[0]; x < to[0]; x++) {
        take([x, y, z], offset + (x - from[0]) * strides[0] + (y - from[1]) * strides[1] + (z - from[2]) * strides[2]);
      }
}

// A solution that is known, and its Laplacian term by term.
const terms = [
  { wave: [1, 2, 0], size: 1 },
  { wave: [3, 0, 1], size: 0.5 },
  { wave: [2, 5, 2], size: 0.25 },
];
const phase = (wave, point) => (2 * Math.PI * wave.reduce((sum, k, axis) => sum + k * point[axis], 0)) / n + wave[0];
const solution = (point) => terms.reduce((sum, { wave, size }) => sum + size * Math.cos(phase(wave, point)), 0);
const laplacian = (point) =>
  terms.reduce(
    (sum, { wave, size }) => sum - size * wave.reduce((s, k) => s + k * k, 0) * Math.cos(phase(wave, point)),
    0,
  );

// One array for each rank held here: one under mpirun.
const f = plan.input.parts.map(({ length }) => new Float64Array(length));
const bins = plan.output.parts.map(({ length }) => new Float64Array(length));
for (const brick of plan.input.bricks) {
  const own = f[world.ranks.indexOf(brick.rank)];
  eachPoint(brick, (point, place) => {
    own[place] = laplacian(point);
  });
}

await plan.forward(f, bins);
for (const brick of plan.output.bricks) {
  const own = bins[world.ranks.indexOf(brick.rank)];
  eachPoint(brick, (bin, place) => {
    const squares = bin.reduce((sum, k) => sum + Math.min(k, n - k) ** 2, 0);
    const factor = squares === 0 ? 0 : -1 / squares;
    own[2 * place] *= factor;
    own[2 * place + 1] *= factor;
  });
}
await plan.inverse(bins, f);

let error = 0;
for (const brick of plan.input.bricks) {
  const own = f[world.ranks.indexOf(brick.rank)];
  eachPoint(brick, (point, place) => {
    error = Math.max(error, Math.abs(own[place] - solution(point)));
  });
}
const u = await world.gather(plan.input, f);
if (u) {
  const plane = Float32Array.from({ length: n * n }, (_, k) => 0.5 + u[k + n * n * (n / 4)] / 3.5);
  console.log(`${n}³ points on ${world.size} ranks: the largest error on rank 0 is ${error.toExponential(1)}`);
  console.log(`a plane of the solution is in ${await writeGrey('poisson-world.png', [plane], n, n)}`);
}
plan.destroy();
await world.close();
if (!(error < 1e-12)) process.exitCode = 1;
