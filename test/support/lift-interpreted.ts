/** Runs what programs of patterns are lowered to, kernel by kernel, in the interpreter of kernels. */
import { fillTable } from '../../src/engine/programs/tables.ts';
import { type ElementType, verify } from '../../src/ir/index.ts';
import {
  OUTPUT,
  type ProgramPieces,
  type ProgramTarget,
  programPieces,
  USUALLY,
} from '../../src/kernels/programs/index.ts';
import type { Program } from '../../src/lift/index.ts';
import { resolvedSizes } from '../../src/patterns/language/sizing.ts';
import { interpret } from './interpret.ts';
import { runTransform } from './lift-transforms.ts';

export const processor: ProgramTarget = {
  lockstep: 'vector',
  lanes: 4,
  maxThreads: 1,
  multiprocessors: 2,
  sharedBytes: 2 ** 20,
  banks: 1,
  doubleBuffered: true,
};
export const graphics: ProgramTarget = {
  lockstep: 'threads',
  lanes: 32,
  maxThreads: 256,
  multiprocessors: 4,
  sharedBytes: 2 ** 15,
  banks: 32,
  doubleBuffered: false,
};

export interface Lowered {
  readonly result: Float64Array;
  readonly pieces: ProgramPieces;
  /** What breaks the rules of kernels. */
  readonly problems: readonly string[];
}

/** @param inputs flat numbers by name @param precision of the kernels; what is in memory is the same */
export function runLowered(
  program: Program,
  inputs: { readonly [name: string]: ArrayLike<number> },
  target: ProgramTarget,
  sizes: { readonly [name: string]: number } = {},
  precision: ElementType = 'f64',
  way = USUALLY,
): Lowered {
  const pieces = programPieces(program, resolvedSizes(program, sizes), precision, target, way);
  const make = (numbers: ArrayLike<number>) =>
    precision === 'f64' ? Float64Array.from(numbers) : Float32Array.from(numbers);
  const poisoned = (length: number) => make(new Float64Array(length).fill(Number.NaN));
  const buffers = new Map(Object.entries(inputs).map(([name, numbers]) => [`input ${name}`, make(numbers)]));
  for (const [name, length] of pieces.buffers) buffers.set(name, poisoned(length));
  buffers.set(OUTPUT, poisoned(pieces.outputLength));
  const problems: string[] = [];
  for (const launch of pieces.launches) {
    const { reads, writes } = launch;
    if ('transform' in launch) {
      const tables = Object.fromEntries(
        Object.entries(launch.tables ?? {}).map(([name, { tables }]) => {
          const data = poisoned(tables[0]!.length);
          fillTable(data, tables[0]!);
          return [name, data] as const;
        }),
      );
      runTransform(launch, (buffer) => buffers.get(buffer)!, tables);
      continue;
    }
    const { kernel } = launch;
    problems.push(...verify(kernel));
    const memory = Object.fromEntries(
      kernel.globals.map(({ name }, n) => [name, buffers.get([...reads, writes][n]!)!] as const),
    );
    for (const table of kernel.tables) {
      const data = poisoned(table.length);
      fillTable(data, table);
      memory[table.name] = data;
    }
    interpret(kernel, memory);
  }
  return { result: Float64Array.from(buffers.get(OUTPUT)!), pieces, problems };
}
