import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { chooseLayout, type LayoutQuestion, type SharedLayout, spanOf, type Tile, type WaveAccess } from './banks.ts';

const options = (name: string) => ({ seed: seedFor(`kernels/banks/${name}`) | 0, numRuns: 200 });

/** Where an element lies, by what the type of a layout says. */
function placeOf({ axis, batch, period, pad, swizzle }: SharedLayout, [n, c]: readonly [number, number]): number {
  const a = n * axis + c * batch;
  const move = Math.floor(a / period);
  if (swizzle) return Math.floor(a / swizzle) * swizzle + ((a + move) % swizzle);
  return a + pad * move;
}

/** How often threads find another element on their bank. */
function conflictsOf(layout: SharedLayout, accesses: readonly WaveAccess[], wave: number): number {
  return accesses.reduce((sum, access) => {
    const banks = Array.from({ length: wave }, () => 0);
    for (const at of access) banks[placeOf(layout, at) % wave]!++;
    return sum + Math.max(1, ...banks) - 1;
  }, 0);
}

/** The accesses between two passes of one radix each: stores a stride apart, and loads N/r apart, by neighbouring threads. */
function between({ length, columns }: Tile, stride: number, radix: number, next: number, wave: number): WaveAccess[] {
  const items = (length / radix) * columns;
  return Array.from({ length: Math.ceil(items / wave) }, (_, w) =>
    Array.from({ length: Math.min(wave, items - w * wave) }, (_, t) => w * wave + t),
  ).flatMap((threads) => {
    const store = (m: number) =>
      threads.map((item): [number, number] => {
        const b = item % (length / radix);
        const i = b % stride;
        return [(b - i) * radix + i + m * stride, Math.floor(item / (length / radix))];
      });
    const load = (m: number) =>
      threads
        .filter((item) => item < (length / next) * columns)
        .map((item): [number, number] => [
          (item % (length / next)) + (m * length) / next,
          Math.floor(item / (length / next)),
        ]);
    return [store(0), store(radix - 1), load(0), load(next - 1)];
  });
}

const powers = fc
  .record({
    radix: fc.constantFrom(2, 4, 8, 16),
    next: fc.constantFrom(2, 4, 8, 16),
    before: fc.constantFrom(1, 2, 4, 16),
    after: fc.constantFrom(1, 2, 8),
    wave: fc.constantFrom(16, 32),
  })
  .map(({ radix, next, before, after, wave }) => {
    const tile = { length: before * radix * next * after, columns: 1 };
    const accesses = between(tile, before, radix, next, wave);
    return { tile, accesses, stores: before * radix, wave, room: 2 * tile.length, aligned: false };
  });

/** Any tile, and any elements of it in lockstep. */
const questions: fc.Arbitrary<LayoutQuestion> = fc
  .record({
    length: fc.integer({ min: 2, max: 100 }),
    columns: fc.integer({ min: 1, max: 9 }),
    wave: fc.constantFrom(8, 16, 32),
    stores: fc.integer({ min: 2, max: 64 }),
    aligned: fc.boolean(),
    room: fc.integer({ min: 0, max: 2000 }),
    picks: fc.array(fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 32 }), { maxLength: 5 }),
  })
  .map(({ length, columns, picks, ...others }) => ({
    ...others,
    tile: { length, columns },
    accesses: picks.map((access) =>
      access.slice(0, others.wave).map(([n, c]): [number, number] => [n % length, c % columns]),
    ),
  }));

describe('layouts of shared memory', () => {
  it('let neighbouring threads of passes over a power of two never wait for a bank', () => {
    fc.assert(
      fc.property(powers, (question) => {
        expect(conflictsOf(chooseLayout(question), question.accesses, question.wave)).toBe(0);
      }),
      options('powers of two'),
    );
  });

  it('give each element a place of its own, within their span, which is no longer than there is room', () => {
    fc.assert(
      fc.property(questions, (question) => {
        const { tile, room } = question;
        const layout = chooseLayout(question);
        const span = spanOf(layout, tile);
        const places = Array.from({ length: tile.length * tile.columns }, (_, at) =>
          placeOf(layout, [at % tile.length, Math.floor(at / tile.length)]),
        );
        expect(new Set(places).size).toBe(places.length);
        expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...places)).toBeLessThan(span);
        expect(span).toBeLessThanOrEqual(Math.max(room, places.length));
      }),
      options('places'),
    );
  });

  it('never wait longer than one after another in memory', () => {
    fc.assert(
      fc.property(questions, (question) => {
        const { tile, accesses, wave } = question;
        const plain = { axis: 1, batch: tile.length, period: tile.length * tile.columns, pad: 0 };
        const chosen = conflictsOf(chooseLayout(question), accesses, wave);
        expect(chosen).toBeLessThanOrEqual(conflictsOf(plain, accesses, wave));
      }),
      options('plain'),
    );
  });
});
