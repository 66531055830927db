/** Names of the profiles in index.ts, listed here so that they can be known without loading the profiles. */
export const profileNames = Object.freeze([
  'h200',
  'h100',
  'a100',
  'rtx4090',
  'mi250x',
  'mi300x',
  'arc-a770',
  'arc',
  'm2',
  'webgpu-default',
  'swiftshader',
  'wasm-cpu',
] as const);

export type ProfileName = (typeof profileNames)[number];
