/** Options of nonuniform transforms, read and checked. */
import { readOptions } from '../engine/arguments/options.ts';
import type { Device } from '../engine/index.ts';
import type { NonuniformProblem, TransformType } from '../engine/nonuniform/problem.ts';
import { checkDevice, type DeviceChoice } from '../numpy/calls/choice.ts';
import { FftError, show } from '../problem/errors.ts';
import { check, checkInteger, checkWord } from '../signal/arguments/check.ts';
import type { FloatPrecision } from '../signal/arguments/floats.ts';

/** Options of all nonuniform transforms. */
export interface NufftOptions extends DeviceChoice {
  /** Sign of the exponent, as in FINUFFT: negative for −1, anything else for +1. Default: 1 for types 1 and 3, −1 for type 2. */
  readonly isign?: number | undefined;
  /** Tolerance: the approximate relative error wanted of the result. Default 1e-6. */
  readonly eps?: number | undefined;
  /** Order of modes along each axis: 0 (default) from −⌊N/2⌋ to ⌈N/2⌉ − 1; 1 the order of FFTs, from 0 to ⌈N/2⌉ − 1 and then the negative modes. */
  readonly modeOrd?: 0 | 1 | undefined;
  /** Upsampling factor, the ratio of fine grid points to modes: 2 (default), or 1.25 for shorter transforms and wider kernels. */
  readonly upsampfac?: 2 | 1.25 | undefined;
}

/** Options of `plan`. */
export interface NufftPlanOptions<P extends FloatPrecision = FloatPrecision> extends NufftOptions {
  /** Number of transforms at the same points, one after another in memory. Default 1. */
  readonly nTrans?: number | undefined;
  /** Precision of the arithmetic and of the arrays. Default `single`. */
  readonly precision?: P | undefined;
}

const COMMON = ['isign', 'eps', 'modeOrd', 'upsampfac', 'device'];

/** The least tolerances: below them rounding errors dominate, or the kernel would be wider than `WIDEST`. */
const LEAST = { 2: { single: 1e-7, double: 1e-14 }, 1.25: { single: 1e-7, double: 1e-9 } } as const;

export interface CheckedPlan {
  readonly problem: NonuniformProblem;
  readonly device: Device | undefined;
}

/** The problem of a plan, from its arguments. @throws FftError `unknown-field`, `invalid-argument`, `invalid-size` */
export function checkPlan(type: TransformType, nModes: unknown, options: NufftPlanOptions): CheckedPlan {
  const own = readOptions(options, { works: [...COMMON, 'nTrans', 'precision'] }, 'plan');
  checkWord('type', type, [1, 2, 3] as const);
  const precision = checkWord('precision', own.precision ?? 'single', ['single', 'double'] as const);
  const upsampling = checkWord('upsampfac', own.upsampfac ?? 2, [2, 1.25] as const);
  const tolerance = own.eps ?? 1e-6;
  const least = LEAST[upsampling][precision];
  const hint =
    tolerance > 0 && tolerance < least
      ? precision === 'single'
        ? " Rounding errors of single precision are larger; take precision 'double'."
        : upsampling === 2
          ? ' Rounding errors of double precision are larger.'
          : ' Take upsampfac 2 for less.'
      : '';
  check('eps', tolerance, tolerance >= least && tolerance < 1, `a number from ${least} to less than 1`, hint);
  const isign = own.isign ?? (type === 2 ? -1 : 1);
  check('isign', isign, Number.isFinite(isign), 'a number: its sign is that of the exponent');
  const modes = type === 3 ? [] : checkModes(nModes);
  return {
    problem: {
      type,
      dimensions: type === 3 ? checkDimensions(nModes) : modes.length,
      modes,
      sign: isign < 0 ? -1 : 1,
      transforms: checkInteger('nTrans', own.nTrans ?? 1, 1),
      tolerance,
      upsampling,
      precision,
      order: checkWord('modeOrd', own.modeOrd ?? 0, [0, 1] as const) === 0 ? 'centred' : 'transform',
    },
    device: checkDevice(own.device),
  };
}

/** Options of the simple calls; their precision follows from the arrays. @throws FftError `unknown-field` */
export function simpleOptions(options: NufftOptions, name: string): NufftOptions {
  return readOptions(options, { works: COMMON }, name);
}

function checkModes(given: unknown): number[] {
  const list = typeof given === 'number' ? [given] : given;
  const isList = Array.isArray(list) && list.length >= 1 && list.length <= 3;
  const modes: number[] = isList ? [...list] : [];
  if (isList && modes.every((count) => Number.isSafeInteger(count) && count >= 1)) return modes;
  const message = `nModes is ${show(given)}; it takes one to three positive integers, the modes along x, y and z.`;
  throw new FftError('invalid-size', message, { path: 'nModes' });
}

function checkDimensions(given: unknown): number {
  if (given === 1 || given === 2 || given === 3) return given;
  const message = `nModes is ${show(given)}; for type 3 it takes the number of dimensions, 1, 2 or 3.`;
  throw new FftError('invalid-size', message, { path: 'nModes' });
}
