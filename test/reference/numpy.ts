/**
 * What the functions of `numpy.fft`, and the Hermitian ones of `scipy.fft`, give, one axis after the other as its manual explains them, in double-double; and which
 * calls fail.
 */
import { referenceTransform } from './transform.ts';

/** Complex numbers hi + lo in C order; of reals the imaginary parts are zero. */
export interface ModelArray {
  readonly hi: Float64Array;
  readonly lo: Float64Array;
  readonly shape: readonly number[];
  readonly complex: boolean;
}

export interface ModelOptions {
  readonly n?: number | null | undefined;
  readonly axis?: number | null | undefined;
  readonly s?: readonly number[] | null | undefined;
  readonly axes?: readonly number[] | null | undefined;
  readonly norm?: string | null | undefined;
}

export type LineName = 'fft' | 'ifft' | 'rfft' | 'irfft' | 'hfft' | 'ihfft';
export type TensorName = `${'' | 'i'}${'' | 'r' | 'h'}fft${2 | 'n'}`;

const lineNames: readonly string[] = ['fft', 'ifft', 'rfft', 'irfft', 'hfft', 'ihfft'] satisfies LineName[];

/** @throws RangeError where NumPy, or for what it does not have SciPy, raises an exception */
export function numpyModel(name: LineName | TensorName, x: ModelArray, options: ModelOptions = {}): ModelArray {
  const { axis = -1, n, norm } = options;
  if (lineNames.includes(name)) return line(name as LineName, x, n ?? undefined, axis, norm ?? 'backward');
  return tensor(name as TensorName, x, options);
}

function tensor(name: TensorName, x: ModelArray, { s, axes: given, norm }: ModelOptions): ModelArray {
  const usual = name.endsWith('2') ? [-2, -1] : null;
  const axes = (given === undefined ? usual : given) ?? lastAxes(s?.length ?? x.shape.length);
  const shape = axes.map((axis) => x.shape[axisOf(axis, x)]!);
  // Along the last axis there are reals on one side, whichever the function.
  const half = name.includes('r') ? 'r' : name.includes('h') ? 'h' : '';
  const toReals = /^(ir|h)/.test(name);
  if (half && axes.length === 0) throw new RangeError('no axis');
  const distinct = new Set(axes.map((axis) => axisOf(axis, x)));
  if (half === 'h' && distinct.size < axes.length) throw new RangeError('an axis twice');
  if (s && s.length !== axes.length) throw new RangeError('s and axes differ in length');
  const lengths = shape.map((length, k) => {
    if (!s) return toReals && k === axes.length - 1 ? 2 * (length - 1) : length;
    return s[k] === -1 ? length : s[k]!;
  });
  const inverse = name.startsWith('i') ? 'i' : '';
  const last = axes.length - 1;
  const order = axes.map((_, k) => k);
  if (!toReals) order.reverse();
  return order.reduce((array, k) => {
    const kind = `${inverse}${k === last ? half : ''}fft` as const;
    return line(kind, array, lengths[k], axes[k]!, norm ?? 'backward');
  }, x);
}

function lastAxes(count: number): number[] {
  return Array.from({ length: count }, (_, k) => k - count);
}

function axisOf(axis: number | null, { shape }: ModelArray): number {
  const counted = axis !== null && axis < 0 ? axis + shape.length : axis;
  if (counted === null || !(counted in shape)) throw new RangeError(`no axis ${axis}`);
  return counted;
}

function line(name: LineName, x: ModelArray, n: number | undefined, given: number | null, norm: string): ModelArray {
  const axis = axisOf(given, x);
  const there = x.shape[axis]!;
  const bins = Math.floor((n ?? there) / 2) + 1;
  switch (name) {
    case 'fft':
    case 'ifft':
      return scaled(x, axis, n ?? there, norm, name === 'ifft');
    case 'rfft': {
      if (x.complex) throw new RangeError('complex numbers for reals');
      return cut(scaled(x, axis, n ?? there, norm, false), axis, bins);
    }
    case 'irfft': {
      const length = n ?? 2 * (there - 1);
      if (!Number.isInteger(length) || length < 1) throw new RangeError('no points');
      return realPart(scaled(mirrored(x, axis, length), axis, length, norm, true));
    }
    case 'hfft':
      return line('irfft', conjugated(x), n, given, opposite(norm));
    case 'ihfft':
      return conjugated(line('rfft', x, n, given, opposite(norm)));
  }
}

function opposite(norm: string): string {
  return norm === 'backward' ? 'forward' : norm === 'forward' ? 'backward' : norm;
}

/** Cropped or filled to `n`, transformed and divided. */
function scaled(x: ModelArray, axis: number, n: number, norm: string, inverse: boolean): ModelArray {
  if (!Number.isInteger(n) || n < 1) throw new RangeError(`${n} points`);
  if (!['backward', 'ortho', 'forward'].includes(norm)) throw new RangeError(`norm ${norm}`);
  const { hi, lo, shape } = cut(x, axis, n);
  const divided = norm === 'ortho' ? Math.sqrt(n) : (norm === 'forward') !== inverse ? n : 1;
  if (hi.length === 0) return { hi, lo, shape, complex: true };
  const problem = {
    size: shape.toReversed(),
    omit: shape.map((_, other) => other !== axis).reverse(),
    direction: inverse ? 'inverse' : 'forward',
  } as const;
  const result = referenceTransform(problem, hi, lo);
  return {
    hi: result.hi.map((value) => value / divided),
    lo: result.lo.map((value) => value / divided),
    shape,
    complex: true,
  };
}

/** Elements of an axis from elsewhere on it: zero where there is nothing, the conjugate where that is asked for. */
function gathered(
  x: ModelArray,
  axis: number,
  length: number,
  from: (k: number) => { readonly at: number; readonly imaginary: number },
): ModelArray {
  const there = x.shape[axis]!;
  const inner = x.shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const outer = x.shape.slice(0, axis).reduce((a, b) => a * b, 1);
  const shape = x.shape.with(axis, length);
  const [hi, lo] = [x.hi, x.lo].map((words) => {
    const result = new Float64Array(2 * outer * length * inner);
    for (let row = 0; row < outer; row++) {
      for (let k = 0; k < length; k++) {
        const { at, imaginary } = from(k);
        if (at >= there) continue;
        for (let i = 0; i < inner; i++) {
          const read = 2 * ((row * there + at) * inner + i);
          const write = 2 * ((row * length + k) * inner + i);
          result[write] = words[read]!;
          result[write + 1] = imaginary * words[read + 1]!;
        }
      }
    }
    return result;
  });
  return { hi: hi!, lo: lo!, shape, complex: x.complex };
}

function cut(x: ModelArray, axis: number, length: number): ModelArray {
  return gathered(x, axis, length, (k) => ({ at: k, imaginary: 1 }));
}

/** The whole spectrum of `n` reals from its first half; what is its own conjugate is real. */
function mirrored(x: ModelArray, axis: number, n: number): ModelArray {
  return gathered(x, axis, n, (k) => {
    if (k === 0 || 2 * k === n) return { at: k, imaginary: 0 };
    return 2 * k < n ? { at: k, imaginary: 1 } : { at: n - k, imaginary: -1 };
  });
}

function realPart(x: ModelArray): ModelArray {
  return { ...gathered(x, x.shape.length - 1, x.shape.at(-1)!, (at) => ({ at, imaginary: 0 })), complex: false };
}

function conjugated(x: ModelArray): ModelArray {
  return gathered(x, x.shape.length - 1, x.shape.at(-1)!, (at) => ({ at, imaginary: -1 }));
}
