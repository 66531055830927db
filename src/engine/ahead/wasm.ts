/**
 * Plans as an ES module: kernels as WebAssembly, the order of the launches, and functions that compute the tables. The module contains
 * no planner and no emitter.
 */
import type { SideData, TransformData } from '../../emit/host/data.ts';
import { emitWasmModule } from '../../emit/wasm/lower.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { type Pipeline, pipelineData } from './pipeline.ts';
import { PIPELINE_RUNTIME, RUNTIME } from './runtime.ts';
import {
  KernelNames,
  type PlannedTransform,
  requireFreeNames,
  textOfBytes,
  transformData,
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

/** What a module exports beside transforms: a function made of a pipeline. */
export interface ModulePart {
  readonly pipeline: Pipeline;
  /** Functions that become part of the module; the last one makes the export. They refer to one another, and to the functions of pipelines. */
  readonly runtime: readonly { readonly name: string }[];
  /** JSON that the maker is given beside the pipeline's data. */
  readonly data: object;
  /** Arguments of the maker after the data and the function that compiles, as text. */
  readonly tools: string;
  /** The type of the export. */
  readonly type: string;
}

/** The memory that kernels import. It may have any size, because making a transform grows it. */
const MEMORY = { initial: 0, shared: false } as const;

/**
 * @param transforms the plans, by the names that the module exports
 * @param parts what it exports beside them, by name
 * @throws FftError `unsupported-feature` for convolutions and for callbacks that read operands, `invalid-argument` for names that are taken
 */
export function buildWasm(
  transforms: ReadonlyMap<string, PlannedTransform>,
  { profile, relaxed, separate, typed = false }: WasmBuildOptions,
  parts: ReadonlyMap<string, ModulePart> = new Map(),
): WasmBuild {
  const runtime = runtimeOf(transforms.size > 0, [...parts.values()]);
  requireFreeNames([...transforms.keys(), ...parts.keys()], [...runtime.map(({ name }) => name), 'compiled', 'module']);
  const kernels = new KernelNames();
  const made = new Map([...transforms].map(([name, transform]) => [name, transformData(transform, profile, kernels)]));
  const others = [...parts].map(([name, part]) => ({ name, part, data: pipelineData(part.pipeline, kernels) }));
  const plain = emitWasmModule(kernels.named, MEMORY);
  const code = {
    plain: plain.bytes,
    ...(relaxed ? { relaxed: emitWasmModule(kernels.named, MEMORY, { relaxedSimd: true }).bytes } : {}),
  };
  const shared = plain.sharedBytes;
  const make = RUNTIME.at(-1)!.name;
  const exported = [
    ...[...made].map(([name, own]): Export => {
      const data: TransformData = { ...own, shared };
      return { name, type: wasmTransformType(data), value: `${make}(${JSON.stringify(data)}, compiled)` };
    }),
    ...others.map(({ name, part, data }): Export => {
      const text = JSON.stringify({ ...part.data, pipeline: { ...data, shared } });
      return { name, type: part.type, value: `${part.runtime.at(-1)!.name}(${text}, compiled, ${part.tools})` };
    }),
  ];
  return {
    script: wasmScript(exported, runtime, separate ? undefined : code, typed),
    types: wasmDeclarations(exported),
    code,
  };
}

/** An export of a module: its type, and the expression that makes it. */
interface Export {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

/** A part apart from its functions, which several parts may have in common. */
export interface PartData {
  /** An ES module that exports `make`, a function of the data and the compiled code. */
  readonly runtime: string;
  /** JSON. */
  readonly data: string;
  readonly code: Uint8Array;
}

/** @throws FftError `unsupported-feature` as `buildWasm` */
export function partData(part: ModulePart): PartData {
  const kernels = new KernelNames();
  const pipeline = pipelineData(part.pipeline, kernels);
  const { bytes, sharedBytes } = emitWasmModule(kernels.named, MEMORY);
  const functions = runtimeOf(false, [part]);
  const make = `export const make = (data, code) => ${part.runtime.at(-1)!.name}(data, () => code, ${part.tools});`;
  return {
    runtime: [...functions.map(String), make].join('\n'),
    data: JSON.stringify({ ...part.data, pipeline: { ...pipeline, shared: sharedBytes } }),
    code: bytes,
  };
}

/** The functions of a module, each once. */
function runtimeOf(hasTransforms: boolean, parts: readonly ModulePart[]): { readonly name: string }[] {
  const own = hasTransforms ? RUNTIME : [];
  return [...new Set([...own, ...parts.flatMap(({ runtime }) => [...PIPELINE_RUNTIME, ...runtime])])];
}

const HEADING = '// Fourier transforms as WebAssembly, built by omnifft.\n';

function wasmScript(
  exported: readonly Export[],
  runtime: readonly object[],
  code: WasmBuild['code'] | undefined,
  typed: boolean,
): string {
  const lines = exported.map(
    ({ name, type, value }) => `export const ${name}${typed ? `: ${type}` : ''} = /* @__PURE__ */ ${value};`,
  );
  const heading = typed ? [UNCHECKED, HEADING, DECLARATIONS] : [HEADING];
  return [...heading, ...runtime.map(String), compiledText(code), ...lines, ''].join('\n');
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

function wasmDeclarations(exported: readonly Export[]): string {
  const declared = exported.map(({ name, type }) => `export declare const ${name}: ${type};\n`);
  return [HEADING, DECLARATIONS, ...declared].join('\n');
}

/** The type of the function that makes transforms of one kind. */
function wasmTransformType(own: TransformData): string {
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
