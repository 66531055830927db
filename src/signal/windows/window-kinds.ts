/** The window functions, with their parameters. */
import * as shapes from './window-shapes.ts';

/** Parameters of windows, by the windows' names. */
export interface WindowParameters {
  kaiser: {
    /** Shape parameter, from 0 (rectangular) on: 5 is like hamming, 6 like hann, 8.6 like blackman. */
    readonly beta: number;
  };
  tukey: {
    /** Tapered share of the window: 0 is rectangular, 1 is hann. Default 0.5. */
    readonly alpha?: number | undefined;
  };
  gaussian: {
    /** Standard deviation, in samples. */
    readonly std: number;
  };
  generalGaussian: {
    /** Exponent: 1 is gaussian, 0.5 is exponential. */
    readonly p: number;
    /** Standard deviation, in samples; the half-power point is at (2 ln 2)^(1/(2p))·sig. */
    readonly sig: number;
  };
  generalCosine: {
    /** Coefficients a₀, a₁, a₂ … of a₀ − a₁ cos φ + a₂ cos 2φ − … */
    readonly a: readonly number[];
  };
  generalHamming: {
    /** Coefficient a₀: 0.5 is hann, 0.54 is hamming. */
    readonly alpha: number;
  };
  exponential: {
    /** Decay constant, in samples; default 1. */
    readonly tau?: number | undefined;
    /** Index at which the window is 1; default the middle. Only for the periodic form, as in SciPy. */
    readonly center?: number | undefined;
  };
  chebwin: {
    /** Attenuation of the side lobes below the main lobe, in decibels: up to 1000; under 45 the window hardly tapers. */
    readonly at: number;
  };
}

/** Windows without parameters in SciPy, and the former name of one of them here. */
type PlainName =
  | 'rectangular'
  | 'boxcar'
  | 'hann'
  | 'hamming'
  | 'blackman'
  | 'blackmanharris'
  | 'nuttall'
  | 'flattop'
  | 'triang'
  | 'bartlett'
  | 'cosine'
  | 'parzen'
  | 'bohman'
  | 'barthann';

export type WindowName = PlainName | keyof WindowParameters;

/** The parameters of a window; none for a window without parameters. */
export type ParametersOf<Name extends WindowName> = Name extends keyof WindowParameters
  ? WindowParameters[Name]
  : Readonly<Record<never, never>>;

/** The parameters of a window, each with its allowed values and an example. */
export interface WindowKind<P = never> {
  readonly parameters: { readonly [Name in keyof P]-?: WindowParameter };
  readonly shape: (parameters: P) => (m: number) => shapes.Shape;
}

export interface WindowParameter {
  /** The end of a sentence that describes the allowed values. */
  readonly accepts: string;
  readonly test: (value: unknown) => boolean;
  /** Whether the parameter may be left out. */
  readonly optional?: boolean;
}

const isRealNumber = (value: unknown): value is number => Number.isFinite(value);
const parameterThat = (accepts: string, test: (value: number) => boolean): WindowParameter => ({
  accepts,
  test: (value) => isRealNumber(value) && test(value),
});

const real = parameterThat('a finite number', () => true);
const positive = parameterThat('a positive number', (value) => value > 0);
/** The largest beta: Bessel's function overflows beyond it. */
const beta = parameterThat('a number from −700 to 700', (value) => Math.abs(value) <= 700);
const decibels = parameterThat('a positive number up to 1000', (value) => value > 0 && value <= 1000);
const coefficients: WindowParameter = {
  accepts: 'a list of finite numbers',
  test: (value) => Array.isArray(value) && value.length > 0 && value.every(isRealNumber),
};
const optionalParameter = (parameter: WindowParameter): WindowParameter => ({ ...parameter, optional: true });

const plain = (shape: (m: number) => shapes.Shape): WindowKind<Readonly<Record<never, never>>> => ({
  parameters: {},
  shape: () => shape,
});
const cosineSumOf = (...a: readonly number[]) => plain(shapes.cosineSum(a));

export const windowKinds: { readonly [Name in WindowName]: WindowKind<ParametersOf<Name>> } = {
  rectangular: cosineSumOf(1),
  hann: cosineSumOf(0.5, 0.5),
  hamming: cosineSumOf(0.54, 0.46),
  blackman: cosineSumOf(0.42, 0.5, 0.08),
  boxcar: cosineSumOf(1),
  blackmanharris: cosineSumOf(0.35875, 0.48829, 0.14128, 0.01168),
  nuttall: cosineSumOf(0.3635819, 0.4891775, 0.1365995, 0.0106411),
  flattop: cosineSumOf(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
  triang: plain(shapes.triang),
  bartlett: plain(shapes.bartlett),
  cosine: plain(shapes.cosine),
  parzen: plain(shapes.parzen),
  bohman: plain(shapes.bohman),
  barthann: plain(shapes.barthann),
  kaiser: { parameters: { beta }, shape: ({ beta }) => shapes.kaiser(beta) },
  tukey: { parameters: { alpha: optionalParameter(real) }, shape: ({ alpha = 0.5 }) => shapes.tukey(alpha) },
  gaussian: { parameters: { std: positive }, shape: ({ std }) => shapes.generalGaussian(1, std) },
  generalGaussian: {
    parameters: { p: positive, sig: positive },
    shape: ({ p, sig }) => shapes.generalGaussian(p, sig),
  },
  generalCosine: { parameters: { a: coefficients }, shape: ({ a }) => shapes.cosineSum(a) },
  generalHamming: { parameters: { alpha: real }, shape: ({ alpha }) => shapes.cosineSum([alpha, 1 - alpha]) },
  exponential: {
    parameters: { tau: optionalParameter(positive), center: optionalParameter(real) },
    shape: ({ tau = 1, center }) => shapes.exponential(tau, center),
  },
  chebwin: { parameters: { at: decibels }, shape: ({ at }) => shapes.chebwin(at) },
};

/** All window functions, by the names that `windowFunction` takes. */
export const windowNames = Object.freeze(Object.keys(windowKinds)) as readonly WindowName[];

/** Windows that need no parameter. */
export const plainWindowNames = windowNames.filter((name) =>
  Object.values<WindowParameter>(windowKinds[name].parameters).every((parameter) => parameter.optional),
);
