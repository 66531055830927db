import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { Heap } from './heap.ts';

const seed = seedFor('heap');
const START = 4096;
const END = START + 2 ** 20;

/** Actions: a positive number takes that many bytes; a negative one gives back one of the blocks in use. */
const actions = fc.array(
  fc.oneof(
    fc.record({ take: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 ** 18 })) }),
    fc.record({ give: fc.nat(100) }),
  ),
  { maxLength: 200 },
);

describe('heap', () => {
  it('never hands out overlapping or misaligned memory and is whole again at the end', () => {
    fc.assert(
      fc.property(actions, (list) => {
        const heap = new Heap(START, END);
        const held: { address: number; bytes: number }[] = [];
        for (const action of list) {
          if ('take' in action) {
            const largest = heap.largest;
            const address = heap.take(action.take);
            if (address === undefined) {
              expect(action.take).toBeGreaterThan(largest);
              continue;
            }
            expect(address % 64).toBe(0);
            expect(address).toBeGreaterThanOrEqual(START);
            expect(address + action.take).toBeLessThanOrEqual(END);
            for (const other of held) {
              const apart =
                address + Math.max(action.take, 1) <= other.address || other.address + other.bytes <= address;
              expect(apart).toBe(true);
            }
            held.push({ address, bytes: Math.max(action.take, 1) });
          } else if (held.length > 0) heap.give(held.splice(action.give % held.length, 1)[0]!.address);
        }
        for (const { address } of held) heap.give(address);
        expect(heap.free).toBe(END - START);
        expect(heap.largest).toBe(END - START);
      }),
      { seed, numRuns: 200 },
    );
  });

  it('starts neighbouring large blocks at different places of a page', () => {
    const heap = new Heap(START, END);
    const places = Array.from({ length: 4 }, () => heap.take(65536)! % 4096);
    expect(new Set(places).size).toBe(4);
    expect(new Set(places.map((place) => place % 512)).size).toBe(4);
  });

  it('uses a hole of exactly the right size again', () => {
    const heap = new Heap(START, END);
    const blocks = Array.from({ length: 8 }, () => heap.take(20_000)!);
    heap.give(blocks[3]!);
    const free = heap.free;
    const again = heap.take(20_000)!;
    expect(again).toBeLessThan(blocks[4]!);
    expect(heap.free).toBe(free - 20_032);
  });

  it('ignores addresses that it has not handed out', () => {
    const heap = new Heap(START, END);
    const address = heap.take(100)!;
    heap.give(address + 64);
    heap.give(address);
    heap.give(address);
    expect(heap.free).toBe(END - START);
  });
});
