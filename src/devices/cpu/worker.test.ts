import { afterEach, describe, expect, it, vi } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { CONTROL_ADDRESS, HEAP_START } from './memory.ts';
import { CONTROL, shareOut, takeGroups } from './worker.ts';

const random = randomFor('cpu worker');

function jobOf(begin: number, end: number, threads: number): Int32Array {
  const control = new Int32Array(new SharedArrayBuffer(4 * CONTROL.words));
  shareOut(control, begin, end, threads);
  return control;
}

afterEach(() => vi.restoreAllMocks());

describe('groups of a job', () => {
  it('are all taken, each by one thread, whoever comes when', () => {
    let collisions = 0;
    const load = Atomics.load.bind(Atomics) as (array: Int32Array, at: number) => number;
    for (let round = 0; round < 300; round++) {
      const threads = random.integer(1, 80);
      const begin = random.integer(0, 100);
      const groups = random.integer(1, 400);
      const control = jobOf(begin, begin + groups, threads);
      const times = new Uint8Array(begin + groups);
      const waiting = Array.from({ length: threads - 1 }, (_, n) => n + 1);
      const come = (thread: number): void =>
        takeGroups(control, CONTROL, thread, (first, last) => {
          expect(last).toBeGreaterThan(first);
          for (let group = first; group < last; group++) times[group] = times[group]! + 1;
        });
      // Between reading the next group and taking it, another thread may or may not take that group.
      vi.spyOn(Atomics, 'load').mockImplementation(((array: Int32Array, at: number) => {
        const seen = load(array, at);
        if (waiting.length > 0 && random.integer(0, 2) === 0) come(waiting.pop()!);
        if (load(array, at) !== seen) collisions++;
        return seen;
      }) as typeof Atomics.load);
      come(0);
      expect([...times]).toEqual([...times].map((_, group) => (group < begin ? 0 : 1)));
    }
    expect(collisions).toBeGreaterThan(100);
  });

  it('are those of the own share first, many at once and fewer and fewer, then some of others', () => {
    const control = jobOf(0, 64, 4);
    const taken: number[][] = [];
    takeGroups(control, CONTROL, 2, (first, last) => taken.push([first, last]));
    expect(taken.slice(0, 7)).toEqual([
      [32, 40],
      [40, 44],
      [44, 46],
      [46, 47],
      [47, 48],
      [48, 50],
      [50, 52],
    ]);
    expect(taken.at(-1)).toEqual([31, 32]);
  });

  it('are left where one has failed', () => {
    const control = jobOf(0, 64, 4);
    const failing = () => {
      throw new Error('out of bounds');
    };
    expect(() => takeGroups(control, CONTROL, 1, failing)).toThrow('out of bounds');
    takeGroups(control, CONTROL, 0, () => expect.unreachable());
  });
});

it('has room for its words before the heap', () => {
  expect(CONTROL_ADDRESS + 4 * CONTROL.words).toBeLessThanOrEqual(HEAP_START);
});
