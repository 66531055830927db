/** Plans as an ES module for a page's own `GPUDevice`: kernels as WGSL, the order of the launches, and functions that compute the tables. */
import { defaultArrangement } from '../../devices/webgpu/arrangement.ts';
import type { DirectionData, SideData, TransformData } from '../../emit/host/data.ts';
import { emitWgsl } from '../../emit/wgsl/index.ts';
import type { Kernel } from '../../ir/index.ts';
import { isInPairs } from '../../plan/device/capacity.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import type { Direction } from '../../problem/index.ts';
import { GPU_RUNTIME, type GpuKernelData, type GpuTransformData } from './runtime.ts';
import {
  KernelNames,
  notBuilt,
  type PlannedTransform,
  requireFreeNames,
  transformData,
  UNCHECKED,
} from './transform-data.ts';

export interface WgslBuildOptions {
  /** The profile that the plans were made for. */
  readonly profile: DeviceProfile;
  /** Whether to write TypeScript, which contains the declarations. */
  readonly typed?: boolean;
}

/**
 * @param transforms the plans, by the names that the module exports
 * @returns the ES module and its declarations
 * @throws FftError `unsupported-feature` for convolutions, callbacks that read operands, and double precision, `invalid-argument` for names
 * that are taken
 */
export function buildWgsl(
  transforms: ReadonlyMap<string, PlannedTransform>,
  { profile, typed = false }: WgslBuildOptions,
): { readonly script: string; readonly types: string } {
  requireFreeNames(transforms.keys(), [...GPU_RUNTIME.map(({ name }) => name), 'kernels']);
  const kernels = new KernelNames();
  const data = new Map([...transforms].map(([name, transform]) => [name, gpuData(transform, profile, kernels)]));
  const written = Object.fromEntries([...kernels.named].map(([name, kernel]) => [name, kernelData(kernel, profile)]));
  return { script: wgslScript(data, written, typed), types: wgslDeclarations(data) };
}

function gpuData(transform: PlannedTransform, profile: DeviceProfile, kernels: KernelNames): GpuTransformData {
  const { problem, directionPrograms } = transform;
  if (isInPairs(problem.precision, profile)) {
    throw notBuilt('WGSL has no double precision, and pairs of singles have to be tried on the device');
  }
  const data = transformData(transform, profile, kernels);
  const parts = directionPrograms.map(({ plan, tempBytes }) => ({
    direction: plan.direction,
    temps: plan.assignment.temps,
    bytes: plan.assignment.temps === 0 ? 0 : tempBytes / plan.assignment.temps,
  }));
  const directions = parts.map(({ direction, bytes }) => [direction, inParts(data[direction as Direction]!, bytes)]);
  const temp = Math.max(...parts.map(({ bytes }) => bytes));
  return {
    ...data,
    temp,
    temps: Math.max(...parts.map(({ temps }) => temps)),
    shared: 0,
    ...Object.fromEntries(directions),
  };
}

/** The direction with a slot for each part of the memory between launches. */
function inParts({ chunks, steps }: DirectionData, bytes: number): DirectionData {
  const partOf = ([slot, at]: readonly [number, number]) =>
    slot < 4 ? ([slot, at] as const) : ([4 + Math.floor(at / bytes), at % bytes] as const);
  return { chunks, steps: steps.map((step) => ({ ...step, arrays: step.arrays.map(partOf) })) };
}

function kernelData(kernel: Kernel, { maxThreads }: DeviceProfile): GpuKernelData {
  const arrangement = defaultArrangement(kernel);
  const threads = Math.min(kernel.threads, maxThreads);
  const { source: code, entry, groups, bindings, launches } = emitWgsl(kernel, { threads, arrangement });
  if (launches > 1) throw notBuilt('A transform of so many groups takes several launches');
  const shown = arrangement.globals.map(({ pieces }) => pieces[0]!.binding);
  const shows = Array.from({ length: arrangement.bindings }, (_, binding) => shown.indexOf(binding));
  return { code, entry, groups, written: bindings.map(({ written }) => written), shows };
}

const HEADING = '// Fourier transforms for WebGPU, built by omnifft.\n';

function wgslScript(
  data: ReadonlyMap<string, TransformData>,
  kernels: Readonly<Record<string, GpuKernelData>>,
  typed: boolean,
): string {
  const make = GPU_RUNTIME.at(-1)!.name;
  const exported = [...data].map(
    ([name, own]) =>
      `export const ${name}${typed ? `: ${wgslTransformType(own)}` : ''} = /* @__PURE__ */ ${make}(${JSON.stringify(own)}, kernels);`,
  );
  const heading = typed ? [UNCHECKED, HEADING, DECLARATIONS] : [HEADING];
  const texts = Object.entries(kernels).map(([name, { code, ...rest }]) => {
    const facts = JSON.stringify(rest).slice(1);
    return `  ${name}: { code: \`\n${code.replace(/[`\\$]/g, '\\$&')}\`, ${facts}`;
  });
  return [...heading, ...GPU_RUNTIME.map(String), `const kernels = {\n${texts.join(',\n')},\n};`, ...exported, ''].join(
    '\n',
  );
}

const DECLARATIONS = `/** Memory on the device: a buffer with the usage STORAGE, or a part of one that begins at a multiple of 256 bytes. */
export type Memory = GPUBuffer | { readonly buffer: GPUBuffer; readonly offset?: number };
`;

function wgslDeclarations(data: ReadonlyMap<string, TransformData>): string {
  const declared = [...data].map(([name, own]) => `export declare const ${name}: ${wgslTransformType(own)};\n`);
  return [HEADING, DECLARATIONS, ...declared].join('\n');
}

/** The type of the function that makes transforms of one kind. */
function wgslTransformType({ input, output, forward, inverse }: TransformData): string {
  const side = ({ planar }: SideData) => (planar ? '{ readonly re: Memory; readonly im: Memory }' : 'Memory');
  const call = (name: string, reads: SideData, writes: SideData | undefined) => {
    const memories = writes ? `from: ${side(reads)}, to: ${side(writes)}` : `data: ${side(reads)}`;
    return `  /** Appends the transform to the encoder. */\n  ${name}(encoder: GPUCommandEncoder, ${memories}): void;`;
  };
  const lines = [
    ...(forward ? [call('forward', input, output)] : []),
    ...(inverse ? [call('inverse', output ?? input, output && input)] : []),
    '  /** Frees its tables and its memory between launches. */\n  destroy(): void;',
  ];
  return `{\n(device: GPUDevice): Promise<{\n${lines.join('\n')}\n}>;\nreadonly inputBytes: number;\nreadonly outputBytes: number;\n}`;
}
