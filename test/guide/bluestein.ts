/** The rows of the document on Bluestein's algorithm. */
import type { ProblemInput } from '../../src/index.ts';
import { czt } from '../../src/signal/index.ts';
import { all, type Check, explained, insist, launched, launchesOf, random, refused, right, rowsOf } from './toolkit.ts';

const { rows, row } = rowsOf('Bluestein');
export const bluesteinRows = rows;

const noRader = { multiply: [2, 13], convolve: [2, 13] } as const;
const alone = (length: number, bluestein = {}): ProblemInput => ({
  size: [length],
  tuning: { rader: noRader, bluestein },
});
/** Several launches for short axes on the CPU. */
const cut = { two: 256 };

/** The steps of all launches of an axis of a million points on an H200. */
function stepsHold(holds: (text: string) => boolean): Check {
  return explained('h200', { size: [1000003] }, (plan) => holds(plan.explain()));
}

const spiral: Check = async () => {
  const n = 40;
  const x = Float64Array.from({ length: n }, () => random.unit());
  const angle = -0.13;
  const w = { re: 0.99 * Math.cos(angle), im: 0.99 * Math.sin(angle) };
  const a = { re: 1.02 * Math.cos(0.3), im: 1.02 * Math.sin(0.3) };
  const { data } = await czt(x, { m: 17, w, a });
  for (let k = 0; k < 17; k++) {
    let [re, im] = [0, 0];
    for (let j = 0; j < n; j++) {
      const size = x[j]! * 1.02 ** -j * 0.99 ** (j * k);
      re += size * Math.cos(-0.3 * j + angle * j * k);
      im += size * Math.sin(-0.3 * j + angle * j * k);
    }
    insist(Math.hypot(data[2 * k]! - re, data[2 * k + 1]! - im) < 1e-12, `point ${k} of the spiral is off`);
  }
};

row(
  'background',
  'both directions, the inverse unnormalised and normalised',
  right(alone(37), { ...alone(37), normalize: true }),
);
row(
  'algorithm',
  'any length: primes, and lengths over 2^23',
  all(
    right(alone(101), alone(1009)),
    explained('h200', { size: [10000019] }, (_, facts) => launchesOf(facts).length > 1),
  ),
);
row('chirp', 'chirp z-transforms along a spiral against direct sums', spiral);
row(
  'zero padding',
  'a padded length of 2N − 1 at least, of radices that there are',
  all(right(alone(29, { length: 60 }), alone(37, { length: 75 })), refused('invalid-field', alone(29, { length: 68 }))),
);
row('config', 'a short length takes one launch', launched('h200', alone(1009), 1));
row('config', 'a long length takes as few as it can', launched('h200', { size: [1000003] }, 3));
row(
  'default form',
  'six kernels: chirp, padding, transforms and products apart',
  explained(
    'h200',
    { size: [1000003], tuning: { bluestein: { launches: 'six' } } },
    (_, facts) => launchesOf(facts).length >= 6,
  ),
);
row(
  'default form',
  'two transforms forward in one node',
  'does not apply: the spectrum of the chirp is a table of plan time',
);
row(
  'optimised',
  'chirp, padding and products are fused into loads and stores',
  stepsHold(
    (text) =>
      /load single, × chirp/.test(text) &&
      /× chirp spectrum/.test(text) &&
      /× chirp, keep 1000003 bins, store/.test(text),
  ),
);
row(
  'optimised',
  'the way there and the way back apart: 2k launches',
  launched('h200', { size: [1000003], tuning: { bluestein: { launches: 'separate' } } }, 4),
);
row('optimised', 'the product is part of a transform’s launch', launched('h200', { size: [1000003] }, 3));
row(
  'principles',
  'the chirp is a table, made at plan time',
  explained('h200', { size: [1000003] }, ({ bytes }) => bytes.tables > 8 * 1000003),
);
row('principles', 'two transforms at a time', 'does not apply: there is one');
row(
  'principles',
  'indices over several launches: an axis in two uploads',
  right({ size: [1009], tuning: { rader: noRader, uploadSwitch: cut } }),
);
row(
  'principles',
  'temps as large as the padded data',
  explained('h200', { size: [1000003] }, ({ bytes }) => bytes.temp === 8 * 2007040),
);
row(
  'batched',
  'batches, and axes with strides',
  right({ ...alone(101), batches: 9 }, { size: [6, 101], omit: [true, false], tuning: { rader: noRader } }),
);
row(
  'conv block',
  'convolutions on the same block',
  all(
    right({ size: [2048], convolution: {}, tuning: { uploadSwitch: cut } }),
    launched('h200', { size: [2 ** 20], convolution: {} }, 3),
  ),
);
row(
  'conv block',
  'a long real convolution in three launches',
  launched('h200', { size: [2 ** 20], transform: 'r2c', convolution: {} }, 3),
);
