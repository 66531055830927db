/** What the calls of a plan take and return, as types that follow from the type of its problem. */
import type { ForeignMemory } from '../devices/device.ts';
import type {
  Direction,
  Facts,
  FactsOf,
  NewData,
  PlannedDirection,
  PlannedProblem,
  ProblemLike,
  ReadSide,
  SideData,
  SpectrumData,
  WrittenSide,
} from '../problem/index.ts';
import type { ComplexData, Data } from './arguments/arguments.ts';
import type { DeviceMemory } from './arguments/memory.ts';

/** What a direction takes and returns; nothing at all where a plan is not made for it. */
interface CallTypes {
  readonly reads: ComplexData;
  readonly writes: ComplexData;
  /** New arrays, which out of place it returns where it was given nothing to write to. */
  readonly makes: ComplexData;
}

/** All that a plan can be. */
export interface PlanTypes {
  readonly problem: PlannedProblem;
  readonly directions: Direction;
  readonly forward: CallTypes;
  readonly inverse: CallTypes;
  /** What `convolve` takes and returns, and `prepareKernel` takes; nothing where the plan has no convolution. */
  readonly convolve: CallTypes & {
    readonly kernels: ComplexData;
    /** Kernels that `convolve` takes. */
    readonly spectra: Data;
  };
  /** What else than directions can be enqueued. */
  readonly tasks: 'convolve';
  /** `unknown` where a call may return what it has read, being in place, else `never`: `Input & this` is what it returns. */
  readonly returned: unknown;
}

type AnyDeviceMemory = DeviceMemory | ForeignMemory;

type CallOf<F extends Facts, D extends Direction> =
  D extends PlannedDirection<F>
    ? {
        readonly reads: SideData<F, ReadSide<D>, AnyDeviceMemory>;
        readonly writes: SideData<F, WrittenSide<D>, AnyDeviceMemory>;
        readonly makes: 'out-of-place' extends F['placement'] ? NewData<F, WrittenSide<D>> : never;
      }
    : { readonly reads: never; readonly writes: never; readonly makes: never };

/** The side that has what the result of a convolution has: reals are convolved to reals. */
type ResultSide<F extends Facts> = [F['convolution']] extends [{ readonly channels: object }]
  ? 'output'
  : ResultSideOf<F>;

type ResultSideOf<F extends Facts> = F['transform'][number] extends 'c2c'
  ? 'output'
  : 'r2c' extends F['transform'][number]
    ? 'c2c' extends F['transform'][number]
      ? 'input' | 'output'
      : 'input'
    : 'output';

type ConvolveOf<F extends Facts> = [F['convolution']] extends [null]
  ? {
      readonly reads: never;
      readonly writes: never;
      readonly makes: never;
      readonly kernels: never;
      readonly spectra: never;
    }
  : {
      readonly reads: SideData<F, 'input', AnyDeviceMemory>;
      readonly writes: SideData<F, ResultSide<F>, AnyDeviceMemory>;
      readonly makes: 'out-of-place' extends F['placement'] ? NewData<F, ResultSide<F>> : never;
      readonly kernels: SideData<F, 'input', AnyDeviceMemory>;
      readonly spectra: SpectraOf<F>;
    };

/** Prepared kernels; or spectra of the user's, interleaved complex numbers. */
type SpectraOf<F extends Facts> = 'user' extends NonNullable<F['convolution']>['kernelSpectrum']
  ? SpectrumData<F, AnyDeviceMemory>
  : DeviceMemory;

type PlanTypesOf<F> = F extends Facts
  ? {
      readonly problem: PlannedProblem<F>;
      readonly directions: PlannedDirection<F>;
      readonly forward: CallOf<F, 'forward'>;
      readonly inverse: CallOf<F, 'inverse'>;
      readonly convolve: ConvolveOf<F>;
      readonly tasks: [F['convolution']] extends [null] ? never : 'convolve';
      readonly returned: 'in-place' extends F['placement'] ? unknown : never;
    }
  : never;

/** What a plan for a problem, or descriptor, of the type `P` is. */
export type PlanTypesFor<P extends ProblemLike> = Extract<PlanTypesOf<FactsOf<P>>, PlanTypes>;
