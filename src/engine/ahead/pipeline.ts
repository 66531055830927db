/** Launches of plans and programs one after another over common memory, as data of a built module. */
import type { ProgramStep } from '../../devices/device.ts';
import type { StepData, TableData } from '../../emit/host/data.ts';
import { operandName } from '../../plan/launch/leaf-sides.ts';
import type { DirectionProgram } from '../programs/program.ts';
import { type KernelNames, notBuilt, stepData, TableList } from './transform-data.ts';

/** A place in the memory of a pipeline: the number of a buffer, and the first byte in it. */
export type PipelinePlace = readonly [buffer: number, byteOffset: number];

/** Launches, and the place of each slot that they refer to. */
export interface PipelineLaunches {
  readonly steps: readonly ProgramStep[];
  readonly placeOf: (slot: number) => PipelinePlace;
}

export interface Pipeline {
  /** The bytes of each buffer. */
  readonly buffers: readonly number[];
  readonly launches: readonly PipelineLaunches[];
}

/** A pipeline as plain data. */
export interface PipelineData {
  readonly buffers: readonly number[];
  /** Bytes of a group's shared memory. */
  readonly shared: number;
  readonly tables: readonly TableData[];
  /** Launches; a slot is the number of a buffer. */
  readonly steps: readonly StepData[];
}

/** @throws FftError `unsupported-feature` for what a module cannot launch */
export function pipelineData({ buffers, launches }: Pipeline, kernels: KernelNames): Omit<PipelineData, 'shared'> {
  const tables = new TableList();
  const steps = launches.flatMap(({ steps, placeOf }) =>
    steps.map((step) => stepData(step, { chunks: 1, placeOf }, kernels, tables)),
  );
  return { buffers, tables: tables.data, steps };
}

/** The places of a forward plan's memory in a pipeline. */
export interface PlanPlaces {
  readonly input: PipelinePlace;
  readonly output: PipelinePlace;
  /** The number of the buffer for its intermediate results. */
  readonly temp: number;
  /** The arrays of its callbacks, by name. */
  readonly arrays: ReadonlyMap<string, PipelinePlace>;
}

/** The launches of a forward plan. @throws FftError `unsupported-feature` for plans in chunks */
export function launchesOfPlan({ steps, outline }: DirectionProgram, places: PlanPlaces): PipelineLaunches {
  if (outline.chunks !== 1) throw notBuilt('A pipeline whose transforms run in chunks is planned where it runs');
  const arrays = new Map([...places.arrays].map(([name, place]) => [operandName(name), place]));
  const operands = outline.operands.map((name) => arrays.get(name)!);
  // The slots of programs: the arrays that are read (0, 1) and written (2, 3), work, temp, and operands.
  const placeOf = (slot: number): PipelinePlace => {
    if (slot > 5) return operands[slot - 6]!;
    return slot > 3 ? [places.temp, 0] : slot > 1 ? places.output : places.input;
  };
  return { steps, placeOf };
}
