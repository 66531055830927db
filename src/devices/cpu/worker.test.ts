import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import { CONTROL, MOST_SHARES, takeGroups } from './worker.ts';

const random = randomFor('cpu worker');

/** The words of a job, as the calling thread writes them. */
function jobOf(begin: number, end: number, shares: number, parts: number): Int32Array {
  const control = new Int32Array(new SharedArrayBuffer(4 * CONTROL.words));
  control[CONTROL.begin] = begin;
  control[CONTROL.end] = end;
  control[CONTROL.shares] = shares;
  control[CONTROL.parts] = parts;
  for (let share = 0; share < shares; share++) {
    control[CONTROL.next + share * CONTROL.nextApart] = begin + Math.floor(((end - begin) * share) / shares);
  }
  return control;
}

describe('groups of a job', () => {
  it('are all taken, each by one thread, whoever comes when', () => {
    for (let round = 0; round < 300; round++) {
      const threads = random.integer(1, 24);
      const begin = random.integer(0, 100);
      const groups = random.integer(1, 400);
      const shares = Math.min(threads, MOST_SHARES);
      const control = jobOf(begin, begin + groups, shares, random.integer(1, 6));
      const times = new Uint8Array(begin + groups);
      const waiting = Array.from({ length: threads - 1 }, (_, n) => n + 1);
      const come = (thread: number): void =>
        takeGroups(control, CONTROL, thread, (first, last) => {
          expect(last).toBeGreaterThan(first);
          for (let group = first; group < last; group++) times[group] = times[group]! + 1;
          // Others come while this one is at work, or never.
          if (waiting.length > 0 && random.integer(0, 2) === 0) come(waiting.pop()!);
        });
      come(0);
      expect([...times]).toEqual([...times].map((_, group) => (group < begin ? 0 : 1)));
    }
  });

  it('are those of the own share first, more at once than later, then those of others', () => {
    const control = jobOf(0, 64, 4, 2);
    const taken: number[][] = [];
    takeGroups(control, CONTROL, 2, (first, last) => taken.push([first, last]));
    expect(taken.slice(0, 5)).toEqual([
      [32, 40],
      [40, 44],
      [44, 46],
      [46, 47],
      [47, 48],
    ]);
    expect(taken[5]).toEqual([48, 56]);
    expect(taken.at(-1)).toEqual([31, 32]);
  });

  it('are left where one has failed', () => {
    const control = jobOf(0, 64, 4, 2);
    const failing = () => {
      throw new Error('out of bounds');
    };
    expect(() => takeGroups(control, CONTROL, 1, failing)).toThrow('out of bounds');
    takeGroups(control, CONTROL, 0, () => expect.unreachable());
  });
});
