/**
 * Presets whose kernels the package brings along. `npm run build` makes them and puts a list of modules, each loaded by itself, in the place of this
 * one (scripts/built-presets.mjs). The sources have none: they plan all features where they run.
 */

import type { FeaturePreset } from './feature-presets.ts';
import type { BuiltFeatures, FrontEndData } from './feature-runtime.ts';

export interface BuiltPreset {
  /** The front end's data, JSON, and the code behind it, deflated and in base64. WebAssembly begins with a zero, which JSON never contains. */
  readonly packed: string;
  /** Makes a function of samples. */
  readonly make: (data: FrontEndData, code: WebAssembly.Module) => (x: Float32Array) => BuiltFeatures;
}

export const builtPresets: { readonly [preset in FeaturePreset]?: () => Promise<BuiltPreset> } = {};
