/** Plans as data, by which code without omnifft launches their kernels. */
import type { Argument, ProgramStep, RealArray } from '../../devices/device.ts';
import type {
  ArrayName,
  DirectionData,
  RootRunData,
  SideData,
  StepData,
  TableData,
  TransformData,
} from '../../emit/host/data.ts';
import type { Kernel, Table } from '../../ir/index.ts';
import type { RootRun } from '../../numeric/nearest-roots.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError, type Problem } from '../../problem/index.ts';
import { type SideFacts, sideFacts } from '../arguments/arguments.ts';
import type { DirectionProgram } from '../programs/program.ts';
import { fillTable } from '../programs/tables.ts';
import { compileOptions } from '../programs/tuning.ts';

/** A plan of a profiled device, with its programs. */
export interface PlannedTransform {
  readonly problem: Problem;
  readonly directionPrograms: readonly DirectionProgram[];
}

const ARRAYS: Readonly<Record<string, ArrayName>> = {
  f16: 'Uint16Array',
  f32: 'Float32Array',
  f64: 'Float64Array',
  u32: 'Uint32Array',
};

/** The kernels of a file, each once, by short names. */
export class KernelNames {
  readonly named = new Map<string, Kernel>();
  private readonly known = new Map<Kernel, string>();

  nameOf(kernel: Kernel): string {
    let name = this.known.get(kernel);
    if (name === undefined) {
      name = `k${this.known.size}`;
      this.known.set(kernel, name);
      this.named.set(name, kernel);
    }
    return name;
  }
}

/** @throws FftError `unsupported-feature` for convolutions and for callbacks that read operands */
export function transformData(
  { problem, directionPrograms }: PlannedTransform,
  profile: DeviceProfile,
  kernels: KernelNames,
): Omit<TransformData, 'shared'> {
  if (problem.convolution) throw notBuilt('A convolution takes kernels that are prepared where it runs');
  if (compileOptions(problem)) throw notBuilt('Knobs of launches (groups, streams, computed roots) are for plans');
  const [input, output] = [sideFacts(problem, 'input', profile), sideFacts(problem, 'output', profile)];
  const tables = new TableList();
  const directions = directionPrograms.map((program) => [
    program.plan.direction,
    directionData(program, kernels, tables),
  ]);
  const inPlace = problem.placement === 'in-place';
  const length = Math.max(input.length, output.length);
  return {
    array: ARRAYS[input.type]!,
    input: sideData(input, inPlace ? length : input.length),
    ...(inPlace ? {} : { output: sideData(output, output.length) }),
    temp: Math.max(...directionPrograms.map(({ tempBytes }) => tempBytes)),
    tables: tables.data,
    ...Object.fromEntries(directions),
  };
}

function sideData({ layout, runs }: SideFacts, length: number): SideData {
  return { length, ...(layout === 'planar' ? { planar: true } : {}), ...(runs ? { gaps: true } : {}) };
}

function directionData({ outline, plan, steps }: DirectionProgram, kernels: KernelNames, tables: TableList) {
  if (outline.operands.length > 0) throw notBuilt('A callback that reads operands is given them where it runs');
  const { chunks } = outline;
  const isInverse = plan.direction === 'inverse';
  return {
    chunks,
    steps: steps.map((step) => stepData(step, { chunks, placeOf }, kernels, tables)),
  } satisfies DirectionData;

  function placeOf(slot: number): readonly [number, number] {
    return [placeOfSlot(slot, isInverse), 0];
  }
}

/** What a launch needs to be written into a module: how many chunks its groups have, and where the program's memory is in the module. */
interface StepPlaces {
  readonly chunks: number;
  /** The module's slot for one of the program, and its first byte there. */
  readonly placeOf: (slot: number) => readonly [slot: number, byteOffset: number];
}

export function stepData(
  { kernel: compiled, reverse = false, arguments: all }: ProgramStep,
  { chunks, placeOf }: StepPlaces,
  kernels: KernelNames,
  tables: TableList,
): StepData {
  // A profiled device does not compile, so its kernels still have their expressions.
  const kernel = compiled.kernel as Kernel;
  return {
    kernel: kernels.nameOf(kernel),
    groups: kernel.group.count / chunks,
    ...(kernel.reverse ? { reverse: reverse ? 1 : 0 } : {}),
    arrays: all.filter(isSlot).map(({ slot, byteOffset }) => {
      const [place, from] = placeOf(slot);
      return [place, from + byteOffset] as const;
    }),
    tables: kernel.tables.map((table) => tables.numberOf(table)),
  };
}

type SlotArgument = Extract<Argument, { readonly slot: number }>;

function isSlot(argument: Argument): argument is SlotArgument {
  return 'slot' in argument;
}

/**
 * The slot of a built module for a slot of a program. A program has slots for the arrays that it reads (0, 1) and writes (2, 3) and for
 * temp memory (5). A built module has the input's arrays (0, 1), the output's (2, 3) and temp memory (4); its inverse reads the output.
 */
function placeOfSlot(slot: number, isInverse: boolean): number {
  if (slot > 3) return 4;
  return isInverse ? (slot + 2) % 4 : slot;
}

/** The tables of a transform, each once. */
export class TableList {
  readonly data: TableData[] = [];
  private readonly known = new Map<string, number>();

  numberOf(table: Table): number {
    const { key, type, pairs = false } = table;
    const name = `${type} ${pairs} ${key}`;
    let number = this.known.get(name);
    if (number === undefined) {
      number = this.data.push(tableData(table)) - 1;
      this.known.set(name, number);
    }
    return number;
  }
}

/** The data of a table. Roots are computed when a transform is made; the contents of other tables are part of the data. */
function tableData(table: Table): TableData {
  const { type, length } = table;
  const array = ARRAYS[type]!;
  const values = table.pairs ? undefined : (table.values?.() ?? []);
  const runs = table.runs().map(runData);
  if (values?.length === 0) return { array, length, runs };
  // Values that come first are text without the roots behind them.
  const ends = values?.map(({ start, values: own }) => (typeof own === 'function' ? length : start + own.length));
  const end = Math.max(...(ends ?? [length]));
  const numbers = new { Float32Array, Float64Array, Uint16Array, Uint32Array }[array](length);
  fillTable(numbers as RealArray, table);
  const bytes = textOfBytes(new Uint8Array(numbers.subarray(0, end).slice().buffer));
  return { array, length, bytes, ...(end < length && runs.length > 0 ? { runs } : {}) };
}

function runData({ p, step, q, count, re, im, stride, block, skip }: RootRun): RootRunData {
  return [p, step, q, count, re, im, stride, block, skip];
}

/** Characters that need no escape in a script: the printable ASCII characters, space included, except ", < and the backslash. */
const DIGITS = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n)).filter(
  (digit) => !'"<\\'.includes(digit),
);
/** The number of byte values that are written as one digit; others take two digits. */
const SINGLES = 90;
/** The number that is added to each byte, so that the most frequent bytes of WebAssembly with vectors have one digit. */
const SHIFT = 47;

/**
 * Bytes as text. Equal sequences of bytes have equal texts wherever they begin, so the text compresses better than base64: to nearly the size
 * of the compressed bytes.
 */
export function textOfBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    const value = (byte + SHIFT) % 256;
    const page = Math.floor(value / SINGLES);
    return (page > 0 ? DIGITS[SINGLES + page - 1]! : '') + DIGITS[value % SINGLES]!;
  }).join('');
}

export function notBuilt(why: string): FftError {
  return new FftError('unsupported-feature', `${why}; plan it with omnifft itself.`);
}

/** Words that cannot be names of variables in an ES module. */
const WORDS = new Set(
  (
    'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in ' +
    'instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield ' +
    'arguments eval'
  ).split(' '),
);

/**
 * Checks the names of a module's transforms.
 * @param own the names of the module's own functions and variables
 * @throws FftError `invalid-argument` for a transform whose name would change the module's meaning or make it invalid
 */
export function requireFreeNames(names: Iterable<string>, own: readonly string[]): void {
  for (const name of names) {
    if (!own.includes(name) && !WORDS.has(name) && !(name in globalThis)) continue;
    const message = `A transform cannot be called ${name}, which means something else in a module: give it another name, as in other=1024.`;
    throw new FftError('invalid-argument', message, { path: 'problems' });
  }
}

/** The first line of a TypeScript file whose functions are JavaScript text. Only its exports have types. */
export const UNCHECKED = '// @ts-nocheck';
