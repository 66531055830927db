/**
 * Types of a problem's arrays, derived from the type of the problem. They do not exist at run time: a new transform is a row of `Elements`, a
 * new kind of storage a row of `StorageArrays`.
 */

import type { AnyCallback, CallbackComplex, NumberKind } from './callbacks.ts';
import type { Direction, Directions } from './directions.ts';
import type {
  ComplexLayout,
  Convolution,
  Placement,
  Precision,
  Problem,
  ProblemInput,
  ReleasedTransform,
  Side,
  Storage,
} from './problem.ts';

/**
 * A new array with memory of its own. (Since TypeScript 5.7 this is `Float32Array<ArrayBuffer>`, which declarations for
 * older versions cannot write.)
 */
export type NewFloat32Array = ReturnType<Float32ArrayConstructor['of']>;
export type NewFloat64Array = ReturnType<Float64ArrayConstructor['of']>;
export type NewUint16Array = ReturnType<Uint16ArrayConstructor['of']>;
export type NewUint8Array = ReturnType<Uint8ArrayConstructor['of']>;

/** The array types of each storage: `taken` are accepted, `made` are created. */
interface StorageArrays {
  /** Half-precision numbers as their IEEE 754 bits. */
  half: { taken: Uint16Array; made: NewUint16Array };
  single: { taken: Float32Array; made: NewFloat32Array };
  double: { taken: Float64Array; made: NewFloat64Array };
  /** Two doubles per number, hi and lo. */
  'double-double': { taken: Float64Array; made: NewFloat64Array };
}

/** Any array that a plan may take. */
export type HostArray = StorageArrays[keyof StorageArrays]['taken'];

interface RealSides {
  input: 'real';
  output: 'real';
}

/** The kind of elements on each side of a transform. */
interface SideElements {
  c2c: { input: 'complex'; output: 'complex' };
  r2c: { input: 'real'; output: 'complex' };
  dct1: RealSides;
  dct2: RealSides;
  dct3: RealSides;
  dct4: RealSides;
  dst1: RealSides;
  dst2: RealSides;
  dst3: RealSides;
  dst4: RealSides;
  dht: RealSides;
}

/** Real and imaginary parts in separate arrays. */
export interface PlanarData<T = HostArray> {
  readonly re: T;
  readonly im: T;
}

/** The types from which array types are derived: fields of a problem, or a descriptor. */
export type ProblemLike = Partial<ProblemInput> | string;

interface Letters {
  precision: { s: 'single'; d: 'double' };
  transform: { c: 'c2c'; r: 'r2c' };
  directions: { f: 'forward'; b: 'inverse' };
  placement: { i: 'in-place'; o: 'out-of-place' };
}

interface Described<P, T, D, A> {
  readonly precision: P;
  readonly transform: T;
  readonly directions: D;
  readonly placement: A;
}

/** The facts in the four letters of a descriptor; all possible ones where its text is not known. */
type DescribedProblem<S extends string> =
  Lowercase<S> extends `${infer P extends keyof Letters['precision']}${infer T extends
    keyof Letters['transform']}${infer D extends keyof Letters['directions']}${infer A extends
    keyof Letters['placement']}${string}`
    ? Described<Letters['precision'][P], Letters['transform'][T], Letters['directions'][D], Letters['placement'][A]>
    : Described<Precision, ReleasedTransform, Direction, Placement>;

/** The type of a problem's field, or of the field's default where the problem lacks the field or may lack it. */
type Field<P, K extends PropertyKey, Default> = K extends keyof P
  ? Exclude<P[K], undefined> | (undefined extends P[K] ? Default : never)
  : Default;

/** The transform of the first axis. (In a list, only the first axis can be r2c.) */
type FirstOf<T> = T extends readonly [infer First, ...unknown[]] ? First : T extends readonly (infer Any)[] ? Any : T;

type LayoutOf<L, S extends Side> = L extends ComplexLayout ? L : Field<L, S, 'interleaved'>;

/** The facts about a problem's normal form, as far as types know them, that its arrays depend on. */
export interface Facts<
  P = Precision,
  Stored = Storage,
  Edge = Stored,
  T = ReleasedTransform,
  Input = ComplexLayout,
  Output = ComplexLayout,
  A = Placement,
  D = Directions,
  C = Leaving<NumberKind, NumberKind>,
  V = Convolution | null,
> {
  readonly precision: P;
  readonly storage: Stored;
  readonly edgeStorage: Edge;
  readonly transform: readonly T[];
  readonly layout: { readonly input: Input; readonly output: Output };
  readonly placement: A;
  readonly directions: D;
  readonly callbacks: C;
  readonly convolution: V;
}

/** The type of callbacks that leave numbers of these kinds on both sides. */
type Leaving<Input extends NumberKind, Output extends NumberKind> =
  | {
      readonly forward: { readonly store: CallbackStore<Output> };
      readonly inverse: { readonly store: CallbackStore<Input> };
    }
  | ('complex' extends Input ? ('complex' extends Output ? null : never) : never);

/** The type of the built store callback that leaves numbers of a kind; no callback leaves them unchanged. */
type CallbackStore<K extends NumberKind> = K extends 'real'
  ? { readonly gives: 'real' }
  : { readonly gives: 'complex' } | null;

/** The type of an optional field; undefined if the object lacks it. */
type At<T, K extends PropertyKey> = T extends object ? (K extends keyof T ? T[K] : undefined) : undefined;

/** The kind that a callback leaves of a complex number; the value's own kind for a callback that returns its argument. */
type Left<C> = C extends (...args: never[]) => infer R
  ? R extends CallbackComplex
    ? 'complex'
    : 'real'
  : C extends { readonly gives: infer K extends NumberKind }
    ? K
    : 'complex';

/** The kind of numbers that the store callback of a planned direction returns. */
type LeftBy<P, D extends Direction> =
  | (D extends Field<P, 'directions', 'both'> ? Left<At<At<At<P, 'callbacks'>, D>, 'store'>> : never)
  | ('both' extends Field<P, 'directions', 'both'> ? Left<At<At<At<P, 'callbacks'>, D>, 'store'>> : never)
  | (Exclude<Field<P, 'directions', 'both'>, D | 'both'> extends never ? never : 'complex');

type StorageOf<P> = Field<P, 'storage', Field<P, 'precision', 'single'>>;

/** The precision for a word: half precision is short for single arithmetic. */
type ComputedIn<Word> = Word extends 'half' ? 'single' : Word;

/** The facts about a convolution: whether a plan convolves, the spectra that it takes, and whether it has channels. */
type ConvolutionOf<Given> = Given extends null
  ? null
  : Convolution & {
      readonly kernelSpectrum: Field<Given, 'kernelSpectrum', 'prepared'>;
      readonly channels: Field<Given, 'channels', null>;
    };

/** Whether a problem is known to be a spectral layer. */
type IsLayer<F extends Facts> = [F['convolution']] extends [{ readonly channels: object }] ? true : false;

type FactsOfFields<P> = Facts<
  ComputedIn<Field<P, 'precision', 'single'>>,
  StorageOf<P>,
  Field<P, 'edgeStorage', StorageOf<P>>,
  FirstOf<Field<P, 'transform', 'c2c'>>,
  LayoutOf<Field<P, 'layout', 'interleaved'>, 'input'>,
  LayoutOf<Field<P, 'layout', 'interleaved'>, 'output'>,
  Field<P, 'placement', 'out-of-place'>,
  Field<P, 'directions', 'both'>,
  Leaving<LeftBy<P, 'inverse'>, LeftBy<P, 'forward'>>,
  ConvolutionOf<Field<P, 'convolution', null>>
>;

/** The facts about a problem of the type `P`, or about the problem that a descriptor of that type says. */
export type FactsOf<P extends ProblemLike> = Extract<
  P extends string ? FactsOfFields<DescribedProblem<P>> : FactsOfFields<P>,
  Facts
>;

/** The normal form of a problem that this release computes. */
export type PlannedProblem<F extends Facts = Facts> = Problem & F;

/** The directions that a plan has. */
export type PlannedDirection<F extends Facts> = F['directions'] extends infer D
  ? IsLayer<F> extends true
    ? never
    : D extends 'both'
      ? Direction
      : D & Direction
  : never;

/** Which side a direction reads. */
export type ReadSide<D extends Direction> = D extends 'forward' ? 'input' : 'output';
export type WrittenSide<D extends Direction> = D extends 'forward' ? 'output' : 'input';

/** The kind that callbacks leave of complex numbers on a side. */
type Kept<F extends Facts, S extends Side> = NonNullable<
  NonNullable<F['callbacks']>[S extends 'output' ? 'forward' : 'inverse']['store']
>['gives'];

/** The kind of a side's elements; the result of a spectral layer has the kind of its signal. */
type ElementOf<F extends Facts, S extends Side> = SideElements[F['transform'][number]][IsLayer<F> extends true
  ? 'input'
  : S] extends infer E
  ? E extends 'complex'
    ? Kept<F, S>
    : E
  : never;

type Laid<Element, Layout, A> = Element extends 'complex' ? (Layout extends 'planar' ? PlanarData<A> : A) : A;

/** One side of a problem; each array, or plane, may also be of another type: memory of a device. */
export type SideData<F extends Facts, S extends Side, Memory = never> = Laid<
  ElementOf<F, S>,
  F['layout'][S],
  StorageArrays[F['edgeStorage']]['taken'] | Memory
>;

/** Arrays that hold the spectrum of a kernel, or memory of another type. */
export type SpectrumData<F extends Facts, Memory = never> = StorageArrays[F['edgeStorage']]['taken'] | Memory;

/** One side of a problem in new arrays. */
export type NewData<F extends Facts, S extends Side> = Laid<
  ElementOf<F, S>,
  F['layout'][S],
  StorageArrays[F['edgeStorage']]['made']
>;

/** The result of `parseDescriptor`. For text unknown at compile time, all problems of this release are assumed. */
export type ParsedDescriptor<S extends string> = Pick<ProblemInput, 'size' | 'leftBatches' | 'batches' | 'strides'> &
  DescribedProblem<S>;

/** The problem, if this release supports all of its fields; a field that is not supported can have no value. */
export type Checked<P extends ProblemInput | string> = P extends string
  ? ParsedDescriptor<P> extends ProblemInput
    ? P
    : never
  : OnlyKnown<P, ProblemInput>;

type OnlyKnown<P, Fields> = { [K in keyof P]: K extends keyof Fields ? OnlyKnownIn<P[K], Fields[K]> : never };

type OnlyKnownIn<V, Field> = V extends
  | string
  | number
  | boolean
  | undefined
  | null
  | readonly unknown[]
  | ArrayBufferView
  | AnyCallback
  ? V
  : OnlyKnown<V, Extract<Field, object>>;
