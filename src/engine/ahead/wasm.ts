/**
 * Plans as an ES module: kernels as WebAssembly, the order of the launches, and functions that compute the tables. The module contains
 * no planner and no emitter.
 */
import type { SideData, TransformData } from '../../emit/host/data.ts';
import { emitWasmModule } from '../../emit/wasm/lower.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { RUNTIME } from './runtime.ts';
import {
  dataOf,
  KernelNames,
  type PlannedTransform,
  requireFreeNames,
  textOfBytes,
  UNCHECKED,
} from './transform-data.ts';

export interface WasmBuildOptions {
  /** The profile that the plans were made for. */
  readonly profile: DeviceProfile;
  /** Whether to add kernels with multiply-adds, which engines with relaxed SIMD take instead. */
  readonly relaxed: boolean;
  /** Whether to leave the code out of the script: the caller then passes a compiled module to each transform. */
  readonly separate: boolean;
  /** Whether to write TypeScript, which contains the declarations. */
  readonly typed?: boolean;
}

export interface WasmBuild {
  /** The ES module. */
  readonly script: string;
  /** Its declarations. */
  readonly types: string;
  /** Its kernels; `relaxed` where they were asked for. */
  readonly code: { readonly plain: Uint8Array; readonly relaxed?: Uint8Array };
}

/** The memory that kernels import. It may have any size, because making a transform grows it. */
const MEMORY = { initial: 0, shared: false } as const;

/**
 * @param transforms the plans, by the names that the module exports
 * @throws FftError `unsupported-feature` for convolutions and for callbacks that read operands, `invalid-argument` for names that are taken
 */
export function buildWasm(
  transforms: ReadonlyMap<string, PlannedTransform>,
  { profile, relaxed, separate, typed = false }: WasmBuildOptions,
): WasmBuild {
  requireFreeNames(transforms.keys(), [...RUNTIME.map(({ name }) => name), 'compiled', 'module']);
  const kernels = new KernelNames();
  const made = new Map([...transforms].map(([name, transform]) => [name, dataOf(transform, profile, kernels)]));
  const plain = emitWasmModule(kernels.named, MEMORY);
  const code = {
    plain: plain.bytes,
    ...(relaxed ? { relaxed: emitWasmModule(kernels.named, MEMORY, { relaxedSimd: true }).bytes } : {}),
  };
  const data = new Map([...made].map(([name, own]) => [name, { ...own, shared: plain.sharedBytes }]));
  const script = scriptOf(data, separate ? undefined : code, typed);
  return { script, types: typesOf(data), code };
}

const HEADING = '// Fourier transforms as WebAssembly, built by omnifft.\n';

function scriptOf(
  data: ReadonlyMap<string, TransformData>,
  code: WasmBuild['code'] | undefined,
  typed: boolean,
): string {
  const make = RUNTIME.at(-1)!.name;
  const exported = [...data].map(
    ([name, own]) =>
      `export const ${name}${typed ? `: ${typeOf(own)}` : ''} = /* @__PURE__ */ ${make}(${JSON.stringify(own)}, compiled);`,
  );
  const heading = typed ? [UNCHECKED, HEADING, DECLARATIONS] : [HEADING];
  return [...heading, ...RUNTIME.map(String), compiledText(code), ...exported, ''].join('\n');
}

/** The function that compiles the kernels of a file, once. */
function compiledText(code: WasmBuild['code'] | undefined): string {
  if (!code) {
    return "function compiled() {\n  throw new TypeError('This file has no code: give { module }, a compiled WebAssembly.Module.');\n}";
  }
  const { plain, relaxed } = code;
  const texts = [...(relaxed ? [relaxed] : []), plain].map((bytes) => JSON.stringify(textOfBytes(bytes)));
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
  const declared = [...data].map(([name, own]) => `export declare const ${name}: ${typeOf(own)};\n`);
  return [HEADING, DECLARATIONS, ...declared].join('\n');
}

/** The type of the function that makes transforms of one kind. */
function typeOf(own: TransformData): string {
  const [input, output] = [sideType(own, own.input), sideType(own, own.output ?? own.input)];
  const call = (reads: string, writes: string) => `(from?: ${reads}, to?: ${writes}): ${writes};`;
  const lines = [
    `  readonly memory: WebAssembly.Memory;`,
    `  /** What the forward transform reads and the inverse writes. */\n  readonly input: ${input};`,
    `  /** What the forward transform writes and the inverse reads. */\n  readonly output: ${output};`,
    ...(own.forward ? [`  forward${call(input, output)}`] : []),
    ...(own.inverse ? [`  inverse${call(output, input)}`] : []),
  ];
  return `{ (options?: TransformOptions): {\n${lines.join('\n')}\n}; readonly byteLength: number }`;
}

function sideType({ array }: TransformData, { planar }: SideData): string {
  return planar ? `{ readonly re: ${array}; readonly im: ${array} }` : array;
}
