/** Adjoints that are several problems, run one after another. */
import type { PlannedProblem } from '../arrays.ts';
import type { Storage } from '../problem.ts';

/** The data that a step reads or writes: data of the call, or memory between two steps. */
export type StepPlace = 'input' | 'output' | 'factor' | { readonly between: number };

/** One of the problems that make up an adjoint. */
export interface AdjointStep {
  readonly problem: PlannedProblem;
  readonly task: 'forward' | 'convolve';
  readonly reads: StepPlace;
  readonly writes: StepPlace;
  /** The kernel of a step that convolves. */
  readonly kernel?: StepPlace;
}

export interface AdjointSteps {
  readonly steps: readonly AdjointStep[];
  /** The memories between steps, with their numbers of elements; their storage, where it is not that of the problem's sides. */
  readonly between: readonly { readonly elements: number; readonly complex: boolean; readonly storage?: Storage }[];
}
