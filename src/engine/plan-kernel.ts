import type { PlanTask } from '../plan/planner.ts';

/** A kernel as `plan.kernels` shows it. */
export interface PlanKernel {
  readonly direction: PlanTask;
  /** The name of its function, such as `stockham1024`. */
  readonly name: string;
  /** The purpose of the launch, for people: `axis 0`, `axis 0, upload 1 of 2` … */
  readonly title: string;
  /** `wasm`, `wgsl`, `cuda`, `hip`, `opencl`, `spirv` or `msl`. */
  readonly language: string;
  /** Its text, or the bytes of a WebAssembly module. */
  readonly source: string | Uint8Array;
}
