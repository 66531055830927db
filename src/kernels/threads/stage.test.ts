import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wavesOf } from '../../../test/support/conflicts.ts';
import { interpret } from '../../../test/support/interpret.ts';
import { randomFrom, seedFor, uniform } from '../../../test/support/random.ts';
import { rootsIn } from '../../../test/support/tables.ts';
import {
  type ArrayRef,
  evaluate,
  index,
  interleaved,
  type Kernel,
  reachable,
  strided,
  TableBuilder,
  variable,
  verify,
} from '../../ir/index.ts';
import { cosTurn, sinTurn, toNumber } from '../../numeric/exact.ts';
import type { PassesStep, SharedMemory } from '../../plan/tree/leaf.ts';
import { alongOf, kernelSteps } from '../passes/steps.ts';
import { type Stage, stagePhases } from './stage.ts';
import { threadPassTwiddles } from './thread-twiddles.ts';

const options = (name: string) => ({ seed: seedFor(`kernels/stage/${name}`) | 0, numRuns: 40 });
const product = (values: readonly number[]): number => values.reduce((a, b) => a * b, 1);
const globals = ['input', 'output'].map((name): ArrayRef => ({ name, space: 'global', type: 'f64' }));

/** A tile that goes through all of its passes along one dimension after another. */
interface Question {
  /** Of each stage. */
  readonly radices: readonly (readonly number[])[];
  readonly columns: number;
  readonly shared: SharedMemory;
  readonly lanesAlong: PassesStep['lanesAlong'];
}

const radices = fc.array(fc.integer({ min: 2, max: 5 }), { minLength: 1, maxLength: 3 });
const walk = fc.constantFrom('axis' as const, 'batch' as const);
const questions: fc.Arbitrary<Question> = fc.record({
  radices: fc.array(radices, { minLength: 1, maxLength: 2 }).filter((all) => product(all.flat()) <= 400),
  columns: fc.integer({ min: 1, max: 4 }),
  shared: fc.record({
    format: fc.constantFrom('pairs' as const, 'planes' as const),
    arrays: fc.constantFrom(1 as const, 2 as const),
    banks: fc.constantFrom(1, 32),
    room: fc.constant(5000),
  }),
  lanesAlong: fc.record({ input: walk, output: walk }),
});

/** Transforms along the first dimension of [a, columns], or along the first, then the second of [a, b] where there are two stages. */
function kernelOf({ radices, columns, shared, lanesAlong }: Question): Kernel {
  const tables = new TableBuilder('f64');
  const [a, b] = radices.map(product) as [number, number | undefined];
  const stages = radices.map((own, n): Stage => {
    const steps = kernelSteps([{ do: 'passes', dimension: n, radices: own, columns: [], lanesAlong }]);
    return {
      length: product(own),
      columns: b === undefined ? columns : n === 0 ? b : a,
      walks: steps.map((step, at) => ({ step, along: alongOf(lanesAlong, steps, at) })),
      twiddle: ({ radix, stride }) => threadPassTwiddles(tables, radix, stride),
      raderPass: () => {
        throw new Error('no prime is too large here');
      },
      opposite: (c) => index(c),
      pairRoot: () => {
        throw new Error('nothing is paired here');
      },
      numbers: () => {
        throw new Error('nothing is multiplied here');
      },
      ends: { read: (view) => view, write: (view) => view },
      ...(n === 0 && b !== undefined ? { carry: (at, c) => ({ n: index(c), c: index(at) }) } : {}),
    };
  });
  const [input, output] = globals.map(interleaved);
  const built = stagePhases({
    ...{ stages, precision: 'double', shared, secondLine: undefined, limit: undefined, aliased: false },
    input: strided(input!, [1, a]),
    output: strided(output!, b === undefined ? [1, a] : [a, 1]),
  });
  const group = variable('group', 1);
  return { name: 'stages', precision: 'f64', group, threads: 8, globals, tables: tables.all(), ...built };
}

/** The transform by its definition, of numbers `step` apart. */
function transformed(values: Float64Array, length: number, starts: readonly number[], step: number): Float64Array {
  const result = values.slice();
  for (const start of starts) {
    for (let k = 0; k < length; k++) {
      let [re, im] = [0, 0];
      for (let n = 0; n < length; n++) {
        const at = 2 * (start + n * step);
        const [cos, sin] = [toNumber(cosTurn(n * k, length)), -toNumber(sinTurn(n * k, length))];
        re += values[at]! * cos - values[at + 1]! * sin;
        im += values[at]! * sin + values[at + 1]! * cos;
      }
      result.set([re, im], 2 * (start + k * step));
    }
  }
  return result;
}

const upTo = (count: number, step: number) => Array.from({ length: count }, (_, n) => n * step);

/** The places of shared memory that a phase stores to, or loads from, as often as it does. */
function places(kernel: Kernel, n: number, side: 'stores' | 'loads'): string[] {
  const phase = kernel.phases[n]!;
  const loads = reachable(phase.stores.map(({ value }) => value)).flatMap((node) => (node.op === 'load' ? [node] : []));
  const [all] = [...wavesOf(kernel, phase, Number.POSITIVE_INFINITY, 0)];
  return all!.flatMap((at) =>
    (side === 'stores' ? phase.stores : loads).flatMap(({ array, index: place }) =>
      array.space === 'shared' ? [`${array.name} ${evaluate(place, at)}`] : [],
    ),
  );
}

describe('stages', () => {
  it('are transforms along one dimension, or along both of a tile', () => {
    fc.assert(
      fc.property(questions, fc.nat(), (question, seed) => {
        const kernel = kernelOf(question);
        expect(verify(kernel)).toEqual([]);
        const [a, b = question.columns] = question.radices.map(product) as [number, number?];
        const input = uniform(randomFrom(seed), 2 * a * b);
        const [table] = kernel.tables;
        const roots = new Float64Array(table?.length ?? 0).fill(Number.NaN);
        for (const { p, q, re, im } of table ? rootsIn(table) : []) {
          roots[re] = toNumber(cosTurn(p, q));
          roots[im] = -toNumber(sinTurn(p, q));
        }
        const output = new Float64Array(2 * a * b).fill(Number.NaN);
        interpret(kernel, { input, output, table: roots });
        const rows = transformed(input, a, upTo(b, a), 1);
        const wanted = question.radices.length === 1 ? rows : transformed(rows, b, upTo(a, 1), a);
        const error = Math.max(...output.map((value, n) => Math.abs(value - wanted[n]!)));
        expect(error).toBeLessThan(2 ** -42);
      }),
      options('transforms'),
    );
  });

  it('find in shared memory what the pass before has left, each number once', () => {
    fc.assert(
      fc.property(questions, (question) => {
        const kernel = kernelOf(question);
        kernel.phases.slice(1).forEach((_, n) => {
          const stored = places(kernel, n, 'stores').sort();
          expect(new Set(stored).size).toBe(stored.length);
          expect(places(kernel, n + 1, 'loads').sort()).toEqual(stored);
        });
      }),
      options('places'),
    );
  });

  it('read all that one array holds before they write to it, and none are repeated then', () => {
    fc.assert(
      fc.property(questions, (question) => {
        const { shared, phases } = kernelOf(question);
        expect(shared).toHaveLength(Math.min(question.shared.arrays, phases.length - 1));
        const inner = phases.slice(1, -1);
        for (const phase of inner) {
          expect(phase.readsFirst === true).toBe(shared.length === 1);
          expect(phase.repeatable).toBe(shared.length === 2);
        }
      }),
      options('arrays'),
    );
  });
});
