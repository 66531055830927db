/**
 * Whole plans, ready to run, as bytes: launches with their arguments, kernels with their code, and the contents of tables. Loading them needs
 * no planning and no writing of kernels. The bytes are run as they are, so they must come from a source that is trusted like a program's.
 */
import type { Backend, CompiledKernel, KernelOutline, PackedKernel, RealArray } from '../../devices/device.ts';
import { arrayOver, bytesOfArray } from '../../devices/host-arrays.ts';
import type { Kernel, Table } from '../../ir/index.ts';
import { buildKernel } from '../../kernels/index.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import type { Splits } from '../../plan/schemes/splits.ts';
import type { Leaf } from '../../plan/tree/leaf.ts';
import { type Direction, FftError, normalFormOf, type PlannedProblem, type Problem } from '../../problem/index.ts';
import type { KernelCache, Made } from '../programs/cache.ts';
import { DirectionProgram, kernelKeyOf, type ProgramOutline } from '../programs/program.ts';
import { compileOptions } from '../programs/tuning.ts';
import { packedContents, unpacked } from './container.ts';

/** The most bytes of a plan's tables. Larger plans are not kept, because reading them takes as long as making them. */
const MOST_TABLE_BYTES = 12 * 2 ** 20;

/** A plan that was kept. */
export interface KeptPlan {
  readonly problem: PlannedProblem;
  /** The splits of its axes. */
  readonly splits: Splits;
  readonly programs: { readonly [direction in Direction]?: ProgramOutline };
  readonly kernels: readonly KeptKernel[];
}

interface KeptKernel extends PackedKernel {
  /** Its key in the kernel cache, and the key of the opposite direction if the kernel is used for both. */
  readonly key?: string;
  readonly reverse?: string;
}

/** A kept plan as it is written: this record, followed by the code of each kernel and the contents of each table as stretches of bytes. */
interface Written {
  readonly problem: unknown;
  readonly splits: Splits;
  readonly programs: KeptPlan['programs'];
  readonly kernels: readonly (Omit<KeptKernel, 'outline' | 'code'> & { readonly outline: WrittenOutline })[];
  readonly tables: readonly WrittenTable[];
}

type WrittenOutline = Omit<KernelOutline, 'tables'> & { readonly tables: readonly number[] };
type WrittenTable = Pick<Table, 'name' | 'key' | 'length' | 'type'>;

/**
 * A plan as bytes.
 * @param whole whether to include native binaries, which the cache of code has in entries of their own
 * @returns undefined if its tables are too large
 * @throws FftError `compile-failed`
 */
export function keptBytes(
  problem: PlannedProblem,
  programs: readonly DirectionProgram[],
  backend: Backend,
  cache: KernelCache,
  whole: boolean,
): Uint8Array | undefined {
  const kernels = kernelsOfPrograms(programs).map((kernel) => ({
    ...kernel,
    ...backend.pack!(kernel.compiled, whole),
  }));
  const tables = new Map(kernels.flatMap(({ outline }) => outline.tables.map((table) => [table.key, table] as const)));
  const bytes = [...tables.values()].reduce((sum, { length, type }) => sum + length * bytesOfArray(type), 0);
  if (bytes > MOST_TABLE_BYTES) return undefined;
  const keys = [...tables.keys()];
  const data: Written = {
    problem,
    splits: programs[0]!.plan.splits!,
    programs: Object.fromEntries(programs.map(({ plan, outline }) => [plan.direction, outline])),
    kernels: kernels.map(({ key, reverse, facts, outline }) => ({
      ...(key === undefined ? {} : { key }),
      ...(reverse === undefined ? {} : { reverse }),
      facts,
      outline: { ...outline, tables: outline.tables.map((table) => keys.indexOf(table.key)) },
    })),
    tables: [...tables.values()].map(({ name, key, length, type }) => ({ name, key, length, type })),
  };
  const contents = [...tables.values()].map((table) => firstBytes(cache.contentsOf(table), table.length));
  return packedContents({ data, stretches: [...kernels.map(({ code }) => code), ...contents] });
}

/** Reads the bytes of `keptBytes`. @throws FftError `invalid-saved-plan` if the bytes are no such plan */
export function readKept(bytes: Uint8Array): KeptPlan {
  try {
    const { data, stretches } = unpacked(bytes);
    const { problem, splits, programs, kernels, tables } = data as Written;
    const shared = tables.map((table, n) => tableOf(table, stretches[kernels.length + n]!));
    return {
      problem: normalFormOf(problem),
      splits,
      programs,
      kernels: kernels.map(({ outline, ...kernel }, n) => ({
        ...kernel,
        outline: { ...outline, tables: outline.tables.map((table) => shared[table]!) },
        code: stretches[n]!,
      })),
    };
  } catch (cause) {
    throw new FftError('invalid-saved-plan', 'The saved plan is damaged.', { cause });
  }
}

/** The arguments of `restoreProgram`. */
export interface RestoredProgram {
  readonly kept: KeptPlan;
  readonly direction: Direction;
  readonly problem: Problem;
  readonly backend: Backend;
  readonly cache: KernelCache;
  /** Plans a direction anew. Running a kept plan does not need that, but explaining it does. */
  readonly planOf: (direction: Direction) => DirectionPlan;
}

/** Makes a program from a kept plan. @throws FftError `compile-failed` if the device rejects the kept code */
export function restoreProgram(restored: RestoredProgram): DirectionProgram {
  const { kept, direction, backend, cache, planOf } = restored;
  const outline = kept.programs[direction]!;
  const unpack = (kernel: KeptKernel): CompiledKernel => backend.unpack!(kernel, () => wholeKernel(kernel, restored));
  const find = (key: string) => kept.kernels.find((kernel) => kernel.key === key || kernel.reverse === key);
  return new DirectionProgram(
    {
      outline,
      make(step, known): Made {
        const { key } = outline.steps[step]!;
        const kernel = find(key)!;
        const reverse = kernel.key !== key;
        const other = reverse ? kernel.key : kernel.reverse;
        const made = { kernel: unpack(kernel), reverse };
        return other === undefined || known(other) ? made : { ...made, other };
      },
      pipeline() {
        const kernel = find(outline.pipelined!);
        return kernel && unpack(kernel);
      },
      plan: () => planOf(direction),
    },
    backend,
    cache,
  );
}

/** The kernel with its expressions, from which code other than the kept one can be generated. */
function wholeKernel({ key, reverse }: KeptKernel, { kept, problem, backend, planOf }: RestoredProgram): Kernel {
  const launching = compileOptions(problem);
  const leaves = (Object.keys(kept.programs) as Direction[]).flatMap((direction) =>
    planOf(direction).launches.map(({ leaf }) => leaf),
  );
  const leafOf = (wanted: string | undefined): Leaf | undefined =>
    wanted === undefined ? undefined : leaves.find((leaf) => kernelKeyOf(leaf, launching) === wanted);
  const [own, opposite] = [leafOf(key), leafOf(reverse)];
  const first = own ?? opposite;
  if (!first) throw new FftError('internal-error', 'A kernel of a kept plan has no leaf.');
  return backend.computable(own && opposite ? buildKernel(own, opposite) : buildKernel(first));
}

/** All kernels of the programs, each once, with its keys in the cache. */
function kernelsOfPrograms(programs: readonly DirectionProgram[]) {
  const kernels = new Map<CompiledKernel, { compiled: CompiledKernel; key?: string; reverse?: string }>();
  for (const { steps, outline, kernels: apart, running } of programs) {
    steps.forEach(({ kernel: compiled, reverse }, n) => {
      const { key } = outline.steps[n]!;
      kernels.set(compiled, { ...(kernels.get(compiled) ?? { compiled }), [reverse ? 'reverse' : 'key']: key });
    });
    // A pipelined kernel, which runs all steps as one, is kept as well.
    if (running.length < apart.length) kernels.set(running[0]!, { compiled: running[0]!, key: outline.pipelined! });
  }
  return [...kernels.values()];
}

function firstBytes(array: RealArray, length: number): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, length * array.BYTES_PER_ELEMENT);
}

/** A table with the kept contents, so that no roots are computed. */
function tableOf({ name, key, length, type }: WrittenTable, contents: Uint8Array): Table {
  if (contents.length !== length * bytesOfArray(type)) throw new RangeError('a table has another length');
  const values = () => [
    { start: 0, values: arrayOver(type, contents.buffer as ArrayBuffer, contents.byteOffset, length) },
  ];
  return { space: 'table', name, key, length, type, runs: () => [], values };
}
