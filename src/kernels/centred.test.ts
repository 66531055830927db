import { describe, expect, it } from 'vitest';
import { planDirection } from '../../test/support/planned.ts';
import { randomFor } from '../../test/support/random.ts';
import { rootsIn } from '../../test/support/tables.ts';
import { numberOf } from '../../test/support/values.ts';
import { cpuProfile } from '../devices/profiles/cpu.ts';
import { Expressions, evaluate, type Real, TableBuilder, variable } from '../ir/index.ts';
import type { DeviceProfile } from '../plan/device/profile.ts';
import { normalizeProblem, type ProblemInput } from '../problem/index.ts';
import { belowZero, centredPass, signsOf } from './centred.ts';
import { vectorForm } from './vector-form.ts';
import { type VectorLeaf, vectorLeaf } from './vector-leaf.ts';

const random = randomFor('kernels/centred/data');
const device: DeviceProfile = { name: 'cpu', multiprocessors: 1, ...cpuProfile };

function leavesOf(input: ProblemInput): VectorLeaf[] {
  const { launches } = planDirection(normalizeProblem(input), 'forward', device, false);
  return launches.map(({ leaf }) => vectorLeaf(leaf));
}

describe('centred passes', () => {
  it.each([3, 4, 5, 7])(
    'of radix %i transform points that conjugate twiddles were due to, some to the negative',
    (radix) => {
      // In blocks and in planes, and all lanes with one root.
      for (const input of [{ size: [1024] }, { size: [2187] }, { size: [8, 1024] }]) {
        const leaf = leavesOf(input).at(-1)!;
        for (const stride of [12, 48]) {
          const tables = new TableBuilder('f64');
          const x = new Expressions();
          const i = variable('i', stride);
          const points = Array.from({ length: radix }, (_, m) => ({
            re: x.load({ name: 'x', space: 'shared', type: 'f64' }, 2 * m),
            im: x.load({ name: 'x', space: 'shared', type: 'f64' }, 2 * m + 1),
          }));
          const outputs = centredPass(tables, leaf, radix, stride, vectorForm(leaf).aligned)(x, points, i);
          const table: number[] = [];
          for (const { p, q, re, im } of rootsIn(tables.build()!)) {
            table[re] = Math.cos((2 * Math.PI * p) / q);
            table[im] = -Math.sin((2 * Math.PI * p) / q);
          }
          for (let n = 0; n < stride; n++) {
            const data = Array.from({ length: 2 * radix }, () => random.unit() - 0.5);
            const at = new Map([[i, n]]);
            const value = (node: Real) =>
              numberOf(node, ({ array, index }) => (array.space === 'table' ? table : data)[evaluate(index, at)]!);
            outputs.forEach((output, k) => {
              let re = 0;
              let im = 0;
              for (let m = 0; m < radix; m++) {
                const turn = ((m - belowZero(radix)) * (n + k * stride)) / (radix * stride);
                const [c, s] = [Math.cos(2 * Math.PI * turn), -Math.sin(2 * Math.PI * turn)];
                re += data[2 * m]! * c - data[2 * m + 1]! * s;
                im += data[2 * m]! * s + data[2 * m + 1]! * c;
              }
              const sign = signsOf(new Map([[stride, radix]]))?.pattern[k * stride + n] ? -1 : 1;
              expect(sign * value(output.re)).toBeCloseTo(re, 13);
              expect(sign * value(output.im)).toBeCloseTo(im, 13);
            });
          }
        }
      }
    },
  );

  it('leave the same elements of every block negative, whatever was negative before', () => {
    const twice = signsOf(
      new Map([
        [4, 4],
        [16, 3],
        [48, 4],
      ]),
    )!;
    for (let i = 0; i < 192; i++) {
      const [first, second] = [Math.floor(i / 4) % 4, Math.floor(i / 48)];
      expect(twice.pattern[i]).toBe([1, 2].includes(first) !== [1, 2].includes(second) ? 1 : 0);
    }
    expect(signsOf(new Map([[9, 3]]))).toBeUndefined();
    // Tables with other signs are other tables.
    expect(signsOf(new Map([[4, 4]]))!.key).not.toBe(signsOf(new Map([[16, 4]]))!.key);
  });

  it('are those between the first and the last', () => {
    const formsOf = (input: ProblemInput) =>
      leavesOf(input).map((leaf) => {
        const { centred, shift } = vectorForm(leaf);
        return [leaf.radices.join('.'), [...centred.keys()], shift];
      });
    expect(formsOf({ size: [256] })).toEqual([['4.4.4.4', [4, 16], 2 * 16 + 2 * 4]]);
    expect(formsOf({ size: [128] })).toEqual([['8.4.4', [8], 2 * 4]]);
    expect(formsOf({ size: [2187], precision: 'double' })).toEqual([
      ['9.3.3.3.3.3', [9, 27, 81, 243], 81 + 27 + 9 + 3],
    ]);
    expect(formsOf({ size: [2187] })).toEqual([['9.3.3.3.3.3', [9, 27, 81, 243], 81 + 27 + 9 + 3]]);
    expect(formsOf({ size: [10_000] })).toEqual([
      ['4.5.5.5.5.4', [4, 20, 100, 500], 2 * 500 + 2 * 100 + 2 * 20 + 2 * 4],
    ]);
    // A single one is not worth going round for, but where that is a bit mask.
    expect(formsOf({ size: [80] })).toEqual([['4.5.4', [], 0]]);
    expect(formsOf({ size: [125] })).toEqual([['5.5.5', [], 0]]);
    expect(formsOf({ size: [343] })).toEqual([['7.7.7', [7], 3 * 7]]);
    expect(formsOf({ size: [640], precision: 'double' })).toEqual([['10.4.4.4', [10, 40], 2 * 16 + 2 * 4]]);
  });
});
