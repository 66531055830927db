/** All presets as data, for the build of the package (scripts/built-presets.mjs), the only one who imports this. */
import { type PartData, partData } from '../../engine/ahead/wasm.ts';
import { type Device, openProfile } from '../../engine/index.ts';
import { logMelModule } from './feature-module.ts';
import { type FeaturePreset, presetNames } from './feature-presets.ts';

/** @throws Error where the functions of presets differ, which the modules of all presets have in common */
export async function presetData(): Promise<readonly (PartData & { readonly preset: FeaturePreset })[]> {
  const device = (await openProfile('wasm-cpu')) as unknown as Device;
  const parts: (PartData & { readonly preset: FeaturePreset })[] = [];
  for (const preset of presetNames) parts.push({ preset, ...partData(await logMelModule(preset, device)) });
  if (new Set(parts.map(({ runtime }) => runtime)).size === 1) return parts;
  throw new Error('The modules of presets have to consist of the same functions.');
}
