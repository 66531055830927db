/**
 * `omnifft/sync`: the CPU for callers that cannot wait, such as an AudioWorklet. Nothing here is loaded later and nothing
 * needs a clock or a timer, so it also works where there is no `import()`, no `performance` and no `setTimeout`.
 *
 * `openCpuSync` gives a device, `device.planSync` a plan, `plan.forwardSync` a spectrum.
 * @module omnifft/sync
 */
export type { ComplexData, Data, Device, DeviceMemory, Plan, PlanOptions, PlanSide } from './engine/index.ts';
export { openCpuSync } from './engine/open-sync.ts';
export { FftError, type FftErrorCode, type ProblemInput } from './problem/index.ts';
