/** Phases in place: as WebAssembly and by an interpreter, item by item and where neighbours have to load together. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { expectSame } from '../../../test/support/wasm.ts';
import {
  type ArrayRef,
  add,
  blocked,
  type ElementType,
  Expressions,
  index,
  interleaved,
  type Kernel,
  type Loop,
  type Phase,
  runsView,
  scale,
  type Var,
  variable,
  verify,
} from '../../ir/index.ts';

interface Shape {
  readonly type: ElementType;
  /** Items that load together. */
  readonly together: number;
  /** Blocks of so many items along the lanes; rows of them, around the lanes or inside them. */
  readonly blocks: number;
  readonly rows: number;
  readonly rowsInside: boolean;
  readonly unroll?: number;
  /** Where the numbers begin. */
  readonly begin: number;
  /** Where to: pairs, from blocks; or the blocks themselves, so that items may do one by one. */
  readonly pairs: boolean;
  /** How far beside the blocks pairs are written. */
  readonly ahead?: number;
}

/** Butterflies of radix 2 in the output, after a phase that has filled it with blocks of parts. */
function butterflies({ type, together, blocks, rows, rowsInside, unroll, begin, pairs, ahead = 0 }: Shape): Kernel {
  const [input, output] = ['input', 'output'].map((name): ArrayRef => ({ name, space: 'global', type }));
  const group = variable('group', 1);
  const half = together * blocks;
  const memory = runsView(blocked(output!, together), () => index(begin));
  const results = pairs ? runsView(interleaved(output!), () => index(begin + ahead)) : memory;
  const nest = (): { i: Var; row: Var; loops: Loop[] } => {
    const i = variable('i', half);
    const row = variable('row', rows);
    const lanes = { variable: i, ...(unroll ? { unroll } : {}) };
    return { i, row, loops: rowsInside ? [lanes, { variable: row }] : [{ variable: row }, lanes] };
  };
  const fill = nest();
  const x = new Expressions();
  const phases: Phase[] = [
    {
      loops: fill.loops,
      lanes: fill.i,
      stores: [0, 1].flatMap((m) => {
        const at = add(scale(fill.row, 2 * half), fill.i, m * half);
        const [re, im] = [0, 1].map((part) => x.load(input!, add(scale(at, 2), part)));
        return memory.store(x, [at, 0], { re: re!, im: im! });
      }),
      repeatable: true,
      exchange: 'group',
    },
  ];
  const { i, row, loops } = nest();
  const y = new Expressions();
  const [a, b] = [0, 1].map((m) => memory.load(y, [add(scale(row, 2 * half), i, m * half), 0]));
  const inPlace = pairs ? together : 1;
  const rotated = { re: y.mul(y.constant(0.75), b!.im), im: y.mul(y.constant(-0.5), b!.re) };
  const sums = [
    { re: y.add(a!.re, rotated.re), im: y.add(a!.im, rotated.im) },
    { re: y.sub(a!.re, rotated.re), im: y.sub(a!.im, rotated.im) },
  ];
  phases.push({
    loops,
    lanes: i,
    stores: sums.flatMap((value, m) => results.store(y, [add(scale(row, 2 * half), i, m * half), 0], value)),
    repeatable: false,
    inPlace,
    exchange: 'group',
  });
  const globals = [input!, output!];
  return { name: 'pairs', precision: type, group, threads: 1, globals, tables: [], shared: [], phases };
}

const shapes: fc.Arbitrary<Shape> = fc.record({
  type: fc.constantFrom('f32' as const, 'f64' as const),
  together: fc.constantFrom(1, 2, 3, 4, 8),
  blocks: fc.integer({ min: 1, max: 9 }),
  rows: fc.integer({ min: 1, max: 12 }),
  rowsInside: fc.boolean(),
  unroll: fc.constantFrom(...([undefined, 2, 3] as unknown as number[])),
  begin: fc.nat({ max: 5 }),
  pairs: fc.boolean(),
});

function lengthsOf({ together, blocks, rows, begin }: Shape) {
  const length = 4 * together * blocks * rows;
  return { input: length, output: begin + length };
}

describe('phases in place', () => {
  it('write pairs where blocks of parts were, and parts where parts were', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(shapes, (shape) => expectSame(butterflies(shape), lengthsOf(shape))),
      { seed: seedFor('emit/wasm/in-place') | 0, numRuns: process.env.OMNIFFT_EXHAUSTIVE === '1' ? 5000 : 300 },
    );
  });

  it('are whole vectors where these are what loads together', () => {
    const shape = { blocks: 3, rows: 2, rowsInside: false, begin: 0, pairs: true } as const;
    for (const type of ['f32', 'f64'] as const) {
      for (const together of [2, 4])
        expectSame(butterflies({ ...shape, type, together }), lengthsOf({ ...shape, type, together }));
    }
  });

  it('are refused where neighbours would not load together', () => {
    const shape: Shape = { type: 'f32', together: 4, blocks: 3, rows: 1, rowsInside: false, begin: 0, pairs: true };
    const kernel = butterflies(shape);
    const { phases } = kernel;
    const [fill, last] = phases as [Phase, Phase];
    const changed = (change: Partial<Phase>): string[] => verify({ ...kernel, phases: [fill, { ...last, ...change }] });
    expect(changed({})).toEqual([]);
    const shared = 'pairs, phase 1: two items may touch the same place of output';
    expect(changed({ inPlace: 2 })).toEqual([shared]);
    expect(changed({ inPlace: 1 })).toContain(shared);
    expect(changed({ inPlace: 5 })).toEqual(['pairs, phase 1: an item may be without its neighbours']);
    const limited = last.loops.map((loop) => ({ ...loop, limit: index(3) }));
    expect(changed({ loops: limited })).toEqual(['pairs, phase 1: an item may be without its neighbours']);
    // The last number of the last neighbour reaches into the next block.
    expect(verify(butterflies({ ...shape, ahead: 1 }))).toEqual([shared]);
    // Twelve items together have room of their own just as well.
    expect(changed({ inPlace: 12 })).toEqual([]);
  });
});
