/** Logarithms and exponentials of kernels against those of the host, in units of the last place. */
import { describe, expect, it } from 'vitest';
import { processor, runLowered } from '../../../test/support/lift-interpreted.ts';
import { randomFor } from '../../../test/support/random.ts';
import { openDevice } from '../../index.ts';
import { exp, log, map, program, real } from '../../lift/index.ts';

const random = randomFor('logarithms of programs');

describe('log and exp', () => {
  const both = program({ x: real(64) }, ({ x }) => map((a) => [log(a), exp(a)], x));
  const given = Float64Array.from({ length: 64 }, (_, i) =>
    i < 32 ? 2 ** ((i - 16) * 7) * (1 + random.unit()) : 60 * (2 * random.unit() - 1),
  );

  for (const [precision, unit, bounds] of [
    ['f32', 2 ** -24, [3, 5]],
    ['f64', 2 ** -53, [4, 8]],
  ] as const) {
    it(`are within a few units of the last place in ${precision}`, () => {
      const x = precision === 'f32' ? Float64Array.from(given, Math.fround) : given;
      const { result } = runLowered(both, { x }, processor, {}, precision);
      x.forEach((value, i) => {
        if (value > 0) {
          const error = Math.abs(result[2 * i]! - Math.log(value)) / Math.max(Math.abs(Math.log(value)), 0.1);
          expect(error / unit, `log ${value}`).toBeLessThan(bounds[0]);
        }
        if (Math.abs(value) > 60) return;
        expect(Math.abs(result[2 * i + 1]! / Math.exp(value) - 1) / unit, `exp ${value}`).toBeLessThan(bounds[1]);
      });
    });
  }

  it('of the smallest and the largest numbers are right, too', () => {
    const powers = [-149, -140, -127, -126, -101, -100, -99, -1, 0, 1, 100, 127];
    const x = Float64Array.from({ length: 64 }, (_, i) => 1.25 * 2 ** powers[i % powers.length]!);
    const { result } = runLowered(both, { x: x.map(Math.fround) }, processor, {}, 'f32');
    x.map(Math.fround).forEach((value, i) => {
      expect(Math.abs(result[2 * i]! / Math.log(value) - 1), `log ${value}`).toBeLessThan(4 * 2 ** -24);
    });
    const wide = Float64Array.from(
      { length: 64 },
      (_, i) => 1.25 * 2 ** [-1074, -1023, -1000, -600, 481, 600, 961, 1023][i % 8]!,
    );
    const doubles = runLowered(both, { x: wide }, processor, {}, 'f64').result;
    wide.forEach((value, i) => {
      expect(Math.abs(doubles[2 * i]! / Math.log(value) - 1), `log ${value}`).toBeLessThan(4 * 2 ** -53);
    });
  });

  it('of what has no finite one are infinite, 0 or no number', () => {
    const x = Float64Array.from({ length: 64 }, (_, i) => [0, -1, 1e30, -1e30, Number.POSITIVE_INFINITY, 1][i % 6]!);
    const { result } = runLowered(both, { x }, processor, {}, 'f32');
    expect([...result.slice(0, 12)]).toEqual([
      ...[Number.NEGATIVE_INFINITY, 1, Number.NaN, expect.closeTo(Math.exp(-1), 6), expect.closeTo(Math.log(1e30), 4)],
      ...[Number.POSITIVE_INFINITY, Number.NaN, 0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0],
      expect.closeTo(Math.E, 6),
    ]);
  });

  it.each(['single', 'double'] as const)(
    'are Math.log of every kind of number on the CPU, in %s precision',
    async (precision) => {
      const isSingle = precision === 'single';
      const [digits, least] = isSingle ? [24, -149] : [53, -1074];
      const largest = (2 - 2 ** (1 - digits)) * 2 ** (isSingle ? 127 : 1023);
      const special = [
        0,
        -0,
        -1,
        2 ** least,
        -(2 ** least),
        largest,
        -largest,
        1,
        1 + 2 ** (1 - digits),
        1 - 2 ** -digits,
      ];
      const finite = () => (1 + Math.fround(random.unit())) * 2 ** random.integer(least, isSingle ? 126 : 1022);
      const values = [...special, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
      const x = Float64Array.from({ length: 64 }, (_, i) => values[i] ?? finite());
      const given = isSingle ? Float32Array.from(x) : x;
      const device = await openDevice('cpu', { threads: 1 });
      const logs = program({ x: real(64) }, ({ x }) => map((a) => log(a), x));
      const compiled = await device.compile(logs, { precision });
      const result = given.slice().fill(7);
      await compiled.run({ x: given } as never, result as never);
      await device.close();
      given.forEach((value, i) => {
        const wanted = Math.log(value);
        if (!Number.isFinite(wanted)) return expect(result[i], `log ${value}`).toBe(wanted);
        const error = Math.abs(result[i]! - wanted) / Math.max(Math.abs(wanted), 2 ** -digits);
        expect(error, `log ${value}`).toBeLessThan(4 * 2 ** -digits);
      });
    },
  );
});
