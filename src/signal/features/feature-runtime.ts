/**
 * The function of modules that compute features ahead of time. Its source text becomes part of the module, so that it refers to nothing but its
 * arguments. Comments stand outside the function, so that pages do not load them.
 */
import type { PipelineData } from '../../engine/ahead/pipeline.ts';
import type { BuiltPipeline } from '../../engine/ahead/runtime.ts';
import type * as frames from './feature-frames.ts';
import type * as levels from './feature-levels.ts';
import type { FeatureSpec } from './feature-presets.ts';

/** The numbers of a pipeline's buffers: samples, levels, the window, and what pre-emphasis and means take. */
export const BUFFERS = { samples: 0, levels: 1, window: 2, before: 3, means: 4, temp: 5 } as const;

/** Features as data. */
export interface FrontEndData {
  readonly spec: FeatureSpec;
  /** Number of frames in a block. */
  readonly frames: number;
  /** Bytes of constant buffers as text, by their numbers. */
  readonly constants: readonly (readonly [buffer: number, bytes: string])[];
  readonly pipeline: PipelineData;
}

/** Functions that a front end calls, by their names here. */
export interface FrontEndTools
  extends Pick<typeof frames, 'fillFrom' | 'fillMeans' | 'framesOf' | 'leastLength' | 'paddingOf'>,
    Pick<typeof levels, 'finish'> {
  readonly decoded: (text: string) => Uint8Array;
  readonly pipelineIn: (data: PipelineData, module: WebAssembly.Module) => BuiltPipeline;
}

/** Features of a signal, row-major. */
export interface BuiltFeatures {
  readonly data: Float32Array;
  readonly shape: readonly [number, number];
}

/**
 * Makes the function that a built module exports. It computes features in the same steps as `featuresOf` (frames, transforms, bands, levels).
 * The last block runs only the groups that hold its frames. Where a signal is padded with zeros to a length of the spec, all silent frames have
 * the levels of the first silent frame, which is the last that is computed: `heard` counts the frames up to it. Frames of the mirrored tail are silent,
 * too, unless the signal reaches into it.
 * @param compiled gives the kernels of the file, if the caller gives no module
 */
export function frontEndOf(data: FrontEndData, compiled: () => WebAssembly.Module, tools: FrontEndTools) {
  let pipeline: BuiltPipeline | undefined;
  const { spec, frames: size } = data;
  return (x: Float32Array, options: { readonly module?: WebAssembly.Module } = {}): BuiltFeatures => {
    const length = spec.samples ?? x.length;
    const least = tools.leastLength(spec);
    if (!(x instanceof Float32Array && x.length > 0 && length >= least)) {
      throw new RangeError(`The samples must be a Float32Array of ${spec.samples === null ? least : 1} or more.`);
    }
    if (!pipeline) {
      pipeline = tools.pipelineIn(data.pipeline, options.module ?? compiled());
      for (const [buffer, text] of data.constants) {
        const view = pipeline.view(buffer);
        new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(tools.decoded(text));
      }
    }
    const { nFft, nMels, hopLength, removeDcOffset, rows, maxFrames } = spec;
    const padding = tools.paddingOf(spec);
    const samples = { data: x.subarray(0, length), base: 0, length };
    const count = Math.min(tools.framesOf(spec, length), maxFrames ?? Number.POSITIVE_INFINITY);
    const all = maxFrames ?? count;
    const values = new Float32Array(nMels * all);
    const isMirrored = x.length + padding + 2 > length;
    const heard = isMirrored ? count : Math.min(count, Math.ceil((x.length + padding + 1) / hopLength) + 1);
    for (let done = 0; done < heard; done += size) {
      const some = Math.min(size, heard - done);
      const target = pipeline.view(0).subarray(0, 1 + (some - 1) * hopLength + nFft);
      tools.fillFrom(target, samples, done * hopLength - padding - 1, spec);
      if (removeDcOffset) tools.fillMeans(pipeline.view(4).subarray(0, some), target.subarray(1), spec);
      pipeline.run(some / size);
      const block = pipeline.view(1);
      for (let mel = 0; mel < nMels; mel++) {
        const row = block.subarray(mel * size, mel * size + some);
        if (rows === 'mels') values.set(row, mel * all + done);
        else for (let t = 0; t < some; t++) values[(done + t) * nMels + mel] = row[t]!;
      }
    }
    if (heard < count)
      for (let mel = 0; mel < nMels; mel++)
        values.fill(values[mel * all + heard - 1]!, mel * all + heard, (mel + 1) * all);
    tools.finish(values, spec);
    return { data: values, shape: rows === 'mels' ? [nMels, all] : [all, nMels] };
  };
}
