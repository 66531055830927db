/** Names of the profiles in index.ts, known without loading what they stand for. */
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
