/** Plans as the data that code without omnifft launches them by. */
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
import { factsOf, type SideFacts } from '../arguments/arguments.ts';
import type { DirectionProgram } from '../programs/program.ts';
import { fillTable } from '../programs/tables.ts';
import { compileOptions } from '../programs/tuning.ts';

/** A plan of a profile, with what it runs. */
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
export function dataOf(
  { problem, directionPrograms }: PlannedTransform,
  profile: DeviceProfile,
  kernels: KernelNames,
): Omit<TransformData, 'shared'> {
  if (problem.convolution) throw notBuilt('A convolution takes kernels that are prepared where it runs');
  if (compileOptions(problem)) throw notBuilt('Knobs of launches (groups, streams, computed roots) are for plans');
  const [input, output] = [factsOf(problem, 'input', profile), factsOf(problem, 'output', profile)];
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
    steps: steps.map((step) => stepData(step, chunks, isInverse, kernels, tables)),
  } satisfies DirectionData;
}

function stepData(
  { kernel: compiled, reverse = false, arguments: all }: ProgramStep,
  chunks: number,
  isInverse: boolean,
  kernels: KernelNames,
  tables: TableList,
): StepData {
  // A profile's kernels are whole: nothing has compiled them away.
  const kernel = compiled.kernel as Kernel;
  return {
    kernel: kernels.nameOf(kernel),
    groups: kernel.group.count / chunks,
    ...(kernel.reverse ? { reverse: reverse ? 1 : 0 } : {}),
    arrays: all.filter(isSlot).map(({ slot, byteOffset }) => [placeOfSlot(slot, isInverse), byteOffset] as const),
    tables: kernel.tables.map((table) => tables.numberOf(table)),
  };
}

type SlotArgument = Extract<Argument, { readonly slot: number }>;

function isSlot(argument: Argument): argument is SlotArgument {
  return 'slot' in argument;
}

/**
 * Programs number what they read (0, 1), what they write (2, 3) and the temp memory (5); a built module numbers its input, its
 * output, and 4. The inverse reads the output.
 */
function placeOfSlot(slot: number, isInverse: boolean): number {
  if (slot > 3) return 4;
  return isInverse ? (slot + 2) % 4 : slot;
}

/** The tables of a transform, each once. */
class TableList {
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

/** Roots alone are computed when a transform is made; other tables come along, whole. */
function tableData(table: Table): TableData {
  const { type, length } = table;
  const array = ARRAYS[type]!;
  const hasValues = (table.values?.() ?? []).length > 0;
  if (!hasValues && !table.pairs) return { array, length, runs: table.runs().map(runData) };
  const numbers = new { Float32Array, Float64Array, Uint16Array, Uint32Array }[array](length);
  fillTable(numbers as RealArray, table);
  return { array, length, bytes: textOfBytes(new Uint8Array(numbers.buffer)) };
}

function runData({ p, step, q, count, re, im, stride, block, skip }: RootRun): RootRunData {
  return [p, step, q, count, re, im, stride, block, skip];
}

/** ASCII that stands in a script as it is: all that can be seen but ", < and the backslash, and the space. */
const DIGITS = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n)).filter(
  (digit) => !'"<\\'.includes(digit),
);
/** The byte values that are written as one digit; others take two digits. */
const SINGLES = 90;
/** Added to each byte, so that the most frequent bytes of WebAssembly with vectors have one digit. */
const SHIFT = 47;

/**
 * Bytes as text. Where the same bytes come again so does the text, wherever they begin, which compresses better than base64 does: to nearly as
 * little as the bytes themselves.
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

/** Words that no variable of an ES module is called. */
const WORDS = new Set(
  (
    'await break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in ' +
    'instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield ' +
    'arguments eval'
  ).split(' '),
);

/**
 * @param own names that the module has for its own functions and variables
 * @throws FftError `invalid-argument` for a transform whose name would make the module another one, or none
 */
export function requireFreeNames(names: Iterable<string>, own: readonly string[]): void {
  for (const name of names) {
    if (!own.includes(name) && !WORDS.has(name) && !(name in globalThis)) continue;
    const message = `A transform cannot be called ${name}, which means something else in a module: give it another name, as in other=1024.`;
    throw new FftError('invalid-argument', message, { path: 'problems' });
  }
}

/** The first line of a file of TypeScript whose functions are text of JavaScript: what it exports has types. */
export const UNCHECKED = '// @ts-nocheck';
