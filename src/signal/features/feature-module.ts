/** Features as a part of modules that are built ahead of time (`omnifft build log-mel:whisper`): kernels, tables and the steps around them. */
import { launchesOfPlan, type PipelinePlace } from '../../engine/ahead/pipeline.ts';
import { PIPELINE_RUNTIME } from '../../engine/ahead/runtime.ts';
import { type PlannedTransform, textOfBytes } from '../../engine/ahead/transform-data.ts';
import type { ModulePart } from '../../engine/ahead/wasm.ts';
import type { Device } from '../../engine/index.ts';
import { levelPlan, samplesOfFrames, windowArrays } from './feature-engine.ts';
import * as frames from './feature-frames.ts';
import * as levels from './feature-levels.ts';
import { featureSpec } from './feature-options.ts';
import type { FeaturePreset, FeatureSpec } from './feature-presets.ts';
import { BUFFERS, frontEndOf } from './feature-runtime.ts';
import { blockFrames } from './features.ts';

const FRAMES = [
  frames.frameLength,
  frames.paddingOf,
  frames.framesOf,
  frames.leastLength,
  frames.beyond,
  frames.fillFrom,
  frames.fillMeans,
] as const;
/** Frames in a group, one for each lane of a vector: a short signal runs as few groups as it needs, larger groups are no faster, and have more code. */
const FRAMES_OF_GROUPS = 4;
const LEVELS = [levels.isRelative, levels.largest, levels.finish] as const;
const TYPE =
  '(samples: Float32Array, options?: { readonly module?: WebAssembly.Module }) => { readonly data: Float32Array; readonly shape: readonly [number, number] }';

/**
 * `logMel` of a preset in single precision, without planner and compiler.
 * @param device of `openProfile('wasm-cpu')`
 * @throws FftError (as a rejection) `invalid-argument` for an unknown preset, and the errors of planning
 */
export async function logMelModule(preset: string, device: Device): Promise<ModulePart> {
  const spec = featureSpec({ preset: preset as FeaturePreset });
  const size =
    spec.samples === null ? blockFrames(Number.POSITIVE_INFINITY, 'cpu') : frames.framesOf(spec, spec.samples);
  const request = { spec, frames: size, precision: 'single', isWhole: false } as const;
  const plan = await levelPlan(device, request, { groupedBatch: FRAMES_OF_GROUPS });
  const reach = 1 + samplesOfFrames(spec, size);
  const arrays = windowArrays(spec, (values) => Float32Array.from(values));
  const [forward] = (plan as unknown as PlannedTransform).directionPrograms;
  const lengths = [reach, spec.nMels * size, spec.nFft, arrays.before ? spec.nFft : 0, size];
  const buffers = [...lengths.map((length) => 4 * length), forward!.tempBytes];
  const places = new Map<string, PipelinePlace>([
    ...(['window', 'before', 'means'] as const).map((name) => [name, [BUFFERS[name], 0]] as const),
    ['samples', [BUFFERS.samples, 0]],
  ]);
  // A frame is read from the second sample on: the first one is the one before it.
  const launches = [
    launchesOfPlan(forward!, {
      input: [BUFFERS.samples, 4],
      output: [BUFFERS.levels, 0],
      temp: BUFFERS.temp,
      arrays: places,
    }),
  ];
  const constants = Object.entries(arrays).map(([name, values]) => {
    const { buffer, byteOffset, byteLength } = values;
    return [BUFFERS[name as 'window'], textOfBytes(new Uint8Array(buffer, byteOffset, byteLength))] as const;
  });
  return {
    pipeline: { buffers, launches },
    runtime: [...FRAMES, ...LEVELS, frontEndOf],
    data: { spec: plainSpec(spec), frames: size, constants },
    tools: toolsText(),
    type: TYPE,
  };
}

/** The spec without what is in the window's array. */
function plainSpec({ window: _, ...spec }: FeatureSpec): object {
  return spec;
}

/** The functions that the front end calls, by their names here and in the module. */
function toolsText(): string {
  const decoded = PIPELINE_RUNTIME.find(({ name }) => name.startsWith('decoded'))!;
  const { fillFrom, fillMeans, framesOf, leastLength, paddingOf } = frames;
  const { finish } = levels;
  const tools = { fillFrom, fillMeans, framesOf, leastLength, paddingOf, finish, decoded };
  const all = { ...tools, pipelineIn: PIPELINE_RUNTIME.at(-1)! };
  return `{ ${Object.entries(all)
    .map(([name, tool]) => `${name}: ${tool.name}`)
    .join(', ')} }`;
}
