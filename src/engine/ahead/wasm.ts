/**
 * Plans as an ES module: their kernels as WebAssembly, the order of the launches, and what computes the tables. No planner
 * and no emitter is in it.
 */
import type { Argument, ProgramStep, RealArray } from '../../devices/device.ts';
import { emitWasmModule } from '../../emit/wasm/lower.ts';
import type { Kernel, Table } from '../../ir/index.ts';
import type { RootRun } from '../../numeric/nearest-roots.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError, type Problem } from '../../problem/index.ts';
import { factsOf, type SideFacts } from '../arguments/arguments.ts';
import type { DirectionProgram } from '../programs/program.ts';
import { fillTable } from '../programs/tables.ts';
import {
  type ArrayName,
  type DirectionData,
  type RootRunData,
  RUNTIME,
  type SideData,
  type StepData,
  type TableData,
  type TransformData,
} from './runtime.ts';

/** A plan for vectors, with what it runs. */
export interface PlannedTransform {
  readonly problem: Problem;
  readonly directionPrograms: readonly DirectionProgram[];
}

export interface WasmBuildOptions {
  /** What the plans were made for. */
  readonly profile: DeviceProfile;
  /** Adds the kernels with multiply-adds, which engines with relaxed SIMD take instead. */
  readonly relaxed: boolean;
  /** Leaves the code out of the script: whoever makes a transform gives it a compiled module. */
  readonly separate: boolean;
}

export interface WasmBuild {
  /** The ES module. */
  readonly script: string;
  /** Its declarations. */
  readonly types: string;
  /** Its kernels; `relaxed` where they were asked for. */
  readonly code: { readonly plain: Uint8Array; readonly relaxed?: Uint8Array };
}

const ARRAYS: Readonly<Record<string, ArrayName>> = {
  f16: 'Uint16Array',
  f32: 'Float32Array',
  f64: 'Float64Array',
  u32: 'Uint32Array',
};

/** Memory of any size will do: the maker of a transform grows it. */
const MEMORY = { initial: 0, shared: false } as const;

/**
 * @param transforms by the names that the module exports
 * @throws FftError `unsupported-feature` for convolutions and for callbacks that read operands
 */
export function buildWasm(
  transforms: ReadonlyMap<string, PlannedTransform>,
  { profile, relaxed, separate }: WasmBuildOptions,
): WasmBuild {
  const kernels = new KernelNames();
  const made = new Map([...transforms].map(([name, transform]) => [name, dataOf(transform, profile, kernels)]));
  const plain = emitWasmModule(kernels.named, MEMORY);
  const code = {
    plain: plain.bytes,
    ...(relaxed ? { relaxed: emitWasmModule(kernels.named, MEMORY, { relaxedSimd: true }).bytes } : {}),
  };
  const data = new Map([...made].map(([name, own]) => [name, { ...own, shared: plain.sharedBytes }]));
  return { script: scriptOf(data, separate ? undefined : code), types: typesOf(data), code };
}

/** The kernels of a file, each once, by short names. */
class KernelNames {
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

function dataOf(
  { problem, directionPrograms }: PlannedTransform,
  profile: DeviceProfile,
  kernels: KernelNames,
): Omit<TransformData, 'shared'> {
  if (problem.convolution) throw notBuilt('A convolution takes kernels that are prepared where it runs');
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
  return { array, length, bytes: base64(new Uint8Array(numbers.buffer)) };
}

function runData({ p, step, q, count, re, im, stride, block, skip }: RootRun): RootRunData {
  return [p, step, q, count, re, im, stride, block, skip];
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function notBuilt(why: string): FftError {
  return new FftError('unsupported-feature', `${why}; plan it with omnifft itself.`);
}

const HEADING = '// Fourier transforms as WebAssembly, built by omnifft.\n';

function scriptOf(data: ReadonlyMap<string, TransformData>, code: WasmBuild['code'] | undefined): string {
  const make = RUNTIME.at(-1)!.name;
  const exported = [...data].map(
    ([name, own]) => `export const ${name} = /* @__PURE__ */ ${make}(${JSON.stringify(own)}, compiled);`,
  );
  return [HEADING, ...RUNTIME.map(String), compiledText(code), ...exported, ''].join('\n');
}

/** The function that compiles the kernels of a file, once. */
function compiledText(code: WasmBuild['code'] | undefined): string {
  if (!code) {
    return "function compiled() {\n  throw new TypeError('This file has no code: give { module }, a compiled WebAssembly.Module.');\n}";
  }
  const { plain, relaxed } = code;
  const texts = [...(relaxed ? [relaxed] : []), plain].map((bytes) => JSON.stringify(base64(bytes)));
  const chosen = relaxed
    ? `[${texts.join(', ')}].map(decoded).find((bytes) => WebAssembly.validate(bytes))`
    : `decoded(${texts[0]})`;
  return `let module;\nfunction compiled() {\n  module ??= new WebAssembly.Module(${chosen});\n  return module;\n}`;
}

const DECLARATIONS = `/** How a transform is made. */
export interface TransformOptions {
  /** The caller's memory, which grows to what the transform needs. Default: memory of its own. */
  readonly memory?: WebAssembly.Memory;
  /** Where the transform begins in it: a multiple of 64. It takes \`byteLength\` bytes. Default: 0. */
  readonly byteOffset?: number;
  /** The kernels, compiled: where a page may not compile code from bytes. */
  readonly module?: WebAssembly.Module;
}
`;

function typesOf(data: ReadonlyMap<string, TransformData>): string {
  const side = ({ array }: TransformData, { planar }: SideData) =>
    planar ? `{ readonly re: ${array}; readonly im: ${array} }` : array;
  const declared = [...data].map(([name, own]) => {
    const [input, output] = [side(own, own.input), side(own, own.output ?? own.input)];
    const call = (reads: string, writes: string) => `(from?: ${reads}, to?: ${writes}): ${writes};`;
    const lines = [
      `  readonly memory: WebAssembly.Memory;`,
      `  /** What the forward transform reads and the inverse writes. */\n  readonly input: ${input};`,
      `  /** What the forward transform writes and the inverse reads. */\n  readonly output: ${output};`,
      ...(own.forward ? [`  forward${call(input, output)}`] : []),
      ...(own.inverse ? [`  inverse${call(output, input)}`] : []),
    ];
    const type = `{\n${lines.join('\n')}\n}`;
    return `export declare const ${name}: { (options?: TransformOptions): ${type}; readonly byteLength: number };\n`;
  });
  return [HEADING, DECLARATIONS, ...declared].join('\n');
}
