/** What is computed is what the table holds: for every root that a kernel may load, at random places. */
import { describe, expect, it } from 'vitest';
import { compiledProblems } from '../../../../test/device/cases.ts';
import { kernelsOf } from '../../../../test/device/kernels.ts';
import { languageSamples } from '../../../../test/support/language.ts';
import { randomFor } from '../../../../test/support/random.ts';
import { gpuProfile } from '../../../devices/profiles/gpu.ts';
import { type Index, substitute, type Table, type Var, variable, variablesOf } from '../../../ir/index.ts';
import type { RootRun } from '../../../numeric/nearest-roots.ts';
import { emitCuda } from '../../cuda/index.ts';
import { emitWgsl } from '../../wgsl/index.ts';
import { isSecond, loadsOfPhase, pairIndex } from './accesses.ts';
import { ComputedTable } from './computed.ts';
import { tablesBeside } from './memory.ts';

const random = randomFor('emit/computed');
const profile = {
  ...gpuProfile,
  name: 'test',
  sharedBytes: 64 * 1024,
  registerFile: 65536,
  cluster: { blocks: 8, sharedBytes: 32 * 1024, above: { single: 32 * 1024, double: 32 * 1024 } },
  maxThreads: 1024,
  multiprocessors: 8,
};
const kernels = kernelsOf(compiledProblems, profile).filter(({ tables }) => !tables.some(({ pairs }) => pairs));

/** An index where every variable has a value. */
const numberOf = (index: Index, at: ReadonlyMap<Var, Index>): number => {
  const { constant, terms } = substitute(index, at);
  expect(terms).toEqual([]);
  return constant;
};

const entryOf = (table: Table, re: number): readonly [p: number, q: number] => {
  for (const run of table.runs()) {
    const place = (re - run.re) / 2;
    if (place >= 0 && place < run.count) return [run.p + place * run.step, run.q];
  }
  throw new Error(`nothing is at ${re}`);
};

describe('computed tables', () => {
  it('have the roots of the tables that they stand for', () => {
    let seen = 0;
    for (const { tables, phases } of kernels) {
      for (const table of tables) {
        const computed = new ComputedTable(table);
        const loads = phases.flatMap(loadsOfPhase).filter(({ array, index }) => array === table && !isSecond(index));
        for (const { index } of loads) {
          const { first, factor, by, q, most } = computed.at(pairIndex(index));
          const at = new Map(
            [...variablesOf(index)].map((v) => [v, { constant: random.integer(0, v.count - 1), terms: [] }]),
          );
          const p = numberOf(first, at) + numberOf(factor, at) * numberOf(by, at);
          expect(p).toBeLessThanOrEqual(most);
          expect([p, q]).toEqual(entryOf(table, numberOf(index, at)));
          seen++;
        }
      }
    }
    expect(seen).toBeGreaterThan(100);
  });

  it('refuse roots that follow no rule', () => {
    const run = { p: 0, q: 64, count: 4, stride: 2, block: 4, skip: 0 };
    const table = (steps: readonly number[], more: Partial<RootRun> = {}): Table => ({
      name: 'odd',
      space: 'table',
      type: 'f32',
      length: 8 * steps.length,
      key: 'odd',
      runs: () => steps.map((step, n) => ({ ...run, step, re: 8 * n, im: 8 * n + 1, ...more })),
    });
    const anywhere = { constant: 0, terms: [{ atom: variable('i', 12), factor: 1 }] };
    expect(new ComputedTable(table([1, 2, 3])).at(anywhere)).toMatchObject({ q: 64, most: 9 });
    expect(() => new ComputedTable(table([1, 2, 4])).at(anywhere)).toThrow(/do not grow evenly/);
    // One row of them is even in itself.
    const inThird = { constant: 8, terms: [{ atom: variable('i', 4), factor: 1 }] };
    expect(new ComputedTable(table([1, 2, 4])).at(inThird)).toMatchObject({ factor: { constant: 4, terms: [] } });
    expect(() => new ComputedTable(table([1], { stride: 1, im: 4 })).at({ constant: 0, terms: [] })).toThrow(/no rule/);
  });

  it('leave tables alone that hold anything else', () => {
    const sample = languageSamples(random, 'f32').find(({ name }) => name === 'lookups')!;
    const { bindings, source } = emitCuda(sample.kernel, { computedRoots: true });
    expect(bindings).toHaveLength(sample.kernel.globals.length + 2);
    expect(source).not.toContain('root(');
    expect(tablesBeside(sample.kernel)).toEqual(sample.kernel.tables);
    expect(kernels.flatMap(tablesBeside)).toEqual([]);
  });

  it('need a language with sines', () => {
    const single = kernels.find(
      ({ precision, tables, cluster }) => precision === 'f32' && tables.length > 0 && !cluster,
    );
    expect(() => emitWgsl(single!, { computedRoots: true })).toThrow(/no sines/);
  });
});
