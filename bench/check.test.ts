import { describe, expect, it } from 'vitest';
import { check } from './check.ts';
import { fill, freshSeed } from './data.ts';
import { fftjs } from './peers/fftjs.ts';
import type { Subject, Workload } from './subject.ts';

/** The definition again, written another way than in check.ts: whole, with one exponent for all axes and batches. */
function direct({ size, batches = 1 }: Workload, spoil = 0): Subject {
  const length = size.reduce((product, n) => product * n, 1);
  const data = new Float64Array(2 * length * batches);
  const digits = (index: number) => size.map((_, d) => Math.floor(index / size.slice(0, d).reduce((p, n) => p * n, 1)));
  return {
    name: 'direct',
    load: (seed) => fill(data, seed),
    bins: (indices) =>
      Float64Array.from(
        indices.flatMap((bin) => {
          const base = bin - (bin % length);
          const k = digits(bin % length);
          let [re, im] = [spoil, 0];
          for (let j = 0; j < length; j++) {
            const turns = digits(j).reduce((sum, digit, d) => sum + ((digit * k[d]!) % size[d]!) / size[d]!, 0);
            const [c, s] = [Math.cos(2 * Math.PI * turns), -Math.sin(2 * Math.PI * turns)];
            const [x, y] = [data[2 * (base + j)]!, data[2 * (base + j) + 1]!];
            re += x * c - y * s;
            im += x * s + y * c;
          }
          return [re, im];
        }),
      ),
    time: () => 1,
    close() {},
  };
}

const seed = freshSeed();

describe(`checking a subject before it is timed, seed ${seed}`, () => {
  const workloads: Workload[] = [
    { size: [64], precision: 'double' },
    { size: [3, 4, 5], precision: 'double' },
    { size: [10, 9], batches: 3, precision: 'double' },
  ];
  it.each(workloads)('accepts the definition and refuses a wrong bin: $size × $batches', async (workload) => {
    await check(direct(workload), workload, seed);
    await expect(check(direct(workload, 1e-6), workload, seed)).rejects.toThrow(/direct, .*: bin \d+ is/);
  });

  it('accepts a peer', async () => {
    await expect(check(fftjs(256), { size: [256], precision: 'double' }, seed)).resolves.toBeUndefined();
  });
});
