/** The types of a plan's calls, arguments and results, as they follow from the type of its problem. */
import type { ForeignMemory } from '../../devices/device.ts';
import type { PlanTask } from '../../plan/planner.ts';
import type {
  Direction,
  Facts,
  FactsOf,
  NewData,
  PlannedDirection,
  PlannedProblem,
  ProblemLike,
  ReadSide,
  Side,
  SideData,
  SpectrumData,
  WrittenSide,
} from '../../problem/index.ts';
import type { ComplexData } from '../arguments/arguments.ts';
import type { DeviceMemory } from '../arguments/memory.ts';
import type { AdjointRequest } from './adjoint-programs.ts';

/** The types that a call reads, writes and makes; `never` if the plan does not have the call. */
interface CallTypes {
  readonly reads: ComplexData;
  readonly writes: ComplexData;
  /** The new arrays that an out-of-place call returns when it is given no output. */
  readonly makes: ComplexData;
}

/** The widest type parameter of `Plan`: a plan of any problem. */
export interface PlanTypes {
  readonly problem: PlannedProblem;
  readonly directions: Direction;
  readonly forward: CallTypes;
  readonly inverse: CallTypes;
  /** The types of `convolve` and `prepareKernel`; `never` if the plan has no convolution. */
  readonly convolve: CallTypes & {
    readonly kernels: ComplexData;
    /** Prepared kernels or spectra, as `convolve` takes them. */
    readonly spectra: ComplexData;
  };
  /** Calls besides the directions that can be enqueued. */
  readonly tasks: 'convolve';
  /** `unknown` if calls are in place and return their input, else `never`: `Input & returned` is the type of the result. */
  readonly returned: unknown;
  /** The types of `forward` of each call's adjoint. */
  readonly adjoints: {
    readonly forward: CallTypes;
    readonly inverse: CallTypes;
    readonly signal: CallTypes;
    readonly kernel: CallTypes;
  };
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

/** The side with the element type of a convolution's result: the convolution of reals is real. */
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

/** Prepared kernels; or the user's own spectra, as interleaved complex numbers. */
type SpectraOf<F extends Facts> = 'user' extends NonNullable<F['convolution']>['kernelSpectrum']
  ? SpectrumData<F, AnyDeviceMemory>
  : DeviceMemory;

interface NoCall {
  readonly reads: never;
  readonly writes: never;
  readonly makes: never;
}

/**
 * The types of a call's adjoint, which reads what the call writes; `never` if the plan has no such call. The type is conditional so that the
 * compiler compares plans by the types of their adjoints' arguments, and not by their problems.
 */
type AdjointOf<F extends Facts, Planned, Reads extends Side, Writes extends Side, Placement> = Planned extends true
  ? {
      readonly reads: SideData<F, Reads, AnyDeviceMemory>;
      readonly writes: SideData<F, Writes, AnyDeviceMemory>;
      readonly makes: 'out-of-place' extends Placement ? NewData<F, Writes> : never;
    }
  : NoCall;

type Convolves<F extends Facts> = [F['convolution']] extends [null] ? false : true;

type Plans<F extends Facts, D extends Direction> = D extends PlannedDirection<F> ? true : false;

type PlanTypesOf<F> = F extends Facts
  ? {
      readonly problem: PlannedProblem<F>;
      readonly directions: PlannedDirection<F>;
      readonly forward: CallOf<F, 'forward'>;
      readonly inverse: CallOf<F, 'inverse'>;
      readonly convolve: ConvolveOf<F>;
      readonly tasks: [F['convolution']] extends [null] ? never : 'convolve';
      readonly returned: 'in-place' extends F['placement'] ? unknown : never;
      readonly adjoints: {
        readonly forward: AdjointOf<F, Plans<F, 'forward'>, 'output', 'input', F['placement']>;
        readonly inverse: AdjointOf<F, Plans<F, 'inverse'>, 'input', 'output', F['placement']>;
        readonly signal: AdjointOf<F, Convolves<F>, ResultSide<F>, 'input', F['placement']>;
        // The result has the shape of a kernel, so it is out of place even if the convolution is in place.
        readonly kernel: AdjointOf<F, Convolves<F>, ResultSide<F>, 'input', 'out-of-place'>;
      };
    }
  : never;

interface NoConvolution extends NoCall {
  readonly kernels: never;
  readonly spectra: never;
}

/** The adjoint of a direction. @param Own the types of the direction itself, which the adjoint of the adjoint has again. */
export type DirectionAdjoint<Call extends CallTypes, Own extends CallTypes, Returned> = {
  readonly problem: PlannedProblem;
  readonly directions: 'forward';
  readonly forward: Call;
  readonly inverse: NoCall;
  readonly convolve: NoConvolution;
  readonly tasks: never;
  readonly returned: Returned;
  readonly adjoints: {
    readonly forward: Own;
    readonly inverse: NoCall;
    readonly signal: NoCall;
    readonly kernel: NoCall;
  };
};

/** The adjoint of a convolution. @param Factor the type that its `convolve` takes in the place of a kernel. */
export type ConvolutionAdjoint<
  Call extends CallTypes,
  Kernels extends ComplexData,
  Factor extends ComplexData,
  Returned,
> = {
  readonly problem: PlannedProblem;
  readonly directions: 'forward';
  readonly forward: Call;
  readonly inverse: NoCall;
  readonly convolve: Call & { readonly kernels: Kernels; readonly spectra: Factor };
  readonly tasks: 'convolve';
  readonly returned: Returned;
  readonly adjoints: {
    readonly forward: NoCall;
    readonly inverse: NoCall;
    readonly signal: NoCall;
    readonly kernel: NoCall;
  };
};

/** The type parameter of a plan for a problem, or descriptor, of the type `P`. */
export type PlanTypesFor<P extends ProblemLike> = Extract<PlanTypesOf<FactsOf<P>>, PlanTypes>;

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

export interface PlanOptions {
  /**
   * The result of `plan.serialize()` for the same problem and device. Planning is skipped, and with binaries compiling too. Binaries run
   * unchecked: load them only from sources that you would take a program from.
   */
  readonly from?: string | Uint8Array;
}

/** The arguments of `plan`, read and validated. */
export interface PlanRequest {
  readonly problem: PlannedProblem;
  readonly from: string | Uint8Array | undefined;
  /** The text under which its plan is kept for other processes; undefined if it is not kept. */
  readonly keptBy: string | undefined;
  /** Present if the plan is the adjoint of another one. */
  readonly adjoint?: AdjointRequest;
}

/** Whether the request loads a plan that was saved with its code. */
export function isBinary({ from }: PlanRequest): boolean {
  return typeof from === 'object';
}
