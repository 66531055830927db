/** Features by kernels that were compiled when the package was built, so that a page which takes a preset loads neither planner nor compilers. */
import { type BuiltPreset, builtPresets } from './built-presets.ts';
import { type FeaturePreset, type FeatureSpec, presetOf } from './feature-presets.ts';
import type { BuiltFeatures } from './feature-runtime.ts';

type FrontEnd = (x: Float32Array) => BuiltFeatures;

/** Front ends that calls have loaded, with their memory. */
const loaded = new Map<FeaturePreset, Promise<FrontEnd | undefined>>();

/**
 * The features of a signal in single precision.
 * @returns undefined where the spec is no preset, no kernels are there for it, or the engine refuses them: the planner then says why
 * @throws an error (as a rejection) of the engine where the preset's module cannot be loaded
 */
export async function builtFeatures(x: Float32Array, spec: FeatureSpec): Promise<BuiltFeatures | undefined> {
  const preset = presetOf(spec);
  const load = preset && builtPresets[preset];
  if (!load) return undefined;
  let frontEnd = loaded.get(preset);
  if (!frontEnd) {
    frontEnd = load().then(builtFrontEnd);
    loaded.set(preset, frontEnd);
    // The next call asks for the module again.
    frontEnd.catch(() => loaded.delete(preset));
  }
  return (await frontEnd)?.(x);
}

async function builtFrontEnd({ packed, make }: BuiltPreset): Promise<FrontEnd | undefined> {
  try {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const unpacked = new Uint8Array(await new Response(stream).arrayBuffer());
    const code = unpacked.indexOf(0);
    // Main threads of some browsers compile no more than 4 KiB at once without waiting.
    const module = await WebAssembly.compile(unpacked.subarray(code));
    return make(JSON.parse(new TextDecoder().decode(unpacked.subarray(0, code))), module);
  } catch {
    return undefined;
  }
}
