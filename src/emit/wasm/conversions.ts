/**
 * Conversions between lanes and memory of narrower types than the kernel's. Halves are converted by integer operations, with infinities and
 * subnormals as in IEEE 754, and rounded to nearest even (after F. Giesen, "half to float done quickly", 2012).
 */
import type { ElementType, StorageType } from '../../ir/index.ts';
import type { FunctionAssembler } from './encoder.ts';

/** Bits of a single: its sign, infinity, 2^16, 2^-14, the exponent of a half's infinity without its bias. */
const SIGN = 0x8000_0000 | 0;
const INFINITY = 0x7f80_0000;
const TOO_LARGE = (127 + 16) << 23;
const SMALLEST_NORMAL = (127 - 14) << 23;
const UNBIASED_INFINITY = 31 << 23;
/** The bits of 0.5, a single whose last place is 2⁻²⁴, as that of subnormal halves. */
const HALF = 126 << 23;

/** Converts a vector on the stack from raw lanes, each with the bits of memory in its low end, to numbers of the kernel. */
export function widen(asm: FunctionAssembler, from: StorageType, to: ElementType): void {
  if (from === 'f16') emitHalvesToSingles(asm);
  if (from !== to && to === 'f64') asm.op('f64x2.promote_low_f32x4');
}

/** The inverse of `widen`. Singles and halves from a kernel in doubles end up in the lower lanes. */
export function narrow(asm: FunctionAssembler, from: ElementType, to: StorageType): void {
  if (from === 'f64' && to === 'f16') roundToOdd(asm);
  if (from === 'f64' && to !== 'f64') asm.op('f32x4.demote_f64x2_zero');
  if (to === 'f16') emitSinglesToHalves(asm);
}

/** Doubles whose bits are masks: the bits of a double below a single's last place, and the bit of that last place. */
const BELOW_SINGLE = (2 ** 29 - 1) * Number.MIN_VALUE;
const LAST_OF_SINGLE = 2 ** 29 * Number.MIN_VALUE;

/**
 * Rounds doubles to odd at the precision of singles: bits are cut off, and the last place becomes odd if any of them was set. Rounding the
 * result again is then as good as rounding once (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
 */
function roundToOdd(asm: FunctionAssembler): void {
  const double = asm.local('v128');
  asm.tee(double);
  asm.vector('f64', BELOW_SINGLE);
  asm.op('v128.and');
  asm.vector('f64', BELOW_SINGLE);
  asm.op('i32x4.add');
  asm.vector('f64', LAST_OF_SINGLE);
  asm.op('v128.and');
  asm.get(double);
  asm.vector('f64', BELOW_SINGLE);
  asm.op('v128.andnot');
  asm.op('v128.or');
}

/** The number of a lane in a raw vector of 16-, 32- or 64-bit lanes, for lane `lane` of the kernel's numbers. */
export function rawLane(type: StorageType, lane: number): number {
  return type === 'f16' ? 2 * lane : lane;
}

function emitHalvesToSingles(asm: FunctionAssembler): void {
  const half = asm.local('v128');
  const magnitude = asm.local('v128');
  asm.tee(half);
  asm.integers(0x7fff);
  asm.op('v128.and');
  asm.i32(13);
  asm.op('i32x4.shl');
  asm.tee(magnitude);
  // The bias of a single's exponent differs: a product with a power of two corrects it, and also normalises subnormals.
  asm.vector('f32', 2 ** 112);
  asm.op('f32x4.mul');
  asm.get(magnitude);
  asm.integers(UNBIASED_INFINITY);
  asm.op('i32x4.ge_s');
  asm.integers(INFINITY);
  asm.op('v128.and');
  asm.op('v128.or');
  asm.get(half);
  asm.integers(0x8000);
  asm.op('v128.and');
  asm.i32(16);
  asm.op('i32x4.shl');
  asm.op('v128.or');
}

function emitSinglesToHalves(asm: FunctionAssembler): void {
  const single = asm.local('v128');
  const magnitude = asm.local('v128');
  const normal = asm.local('v128');
  asm.tee(single);
  asm.integers(SIGN);
  asm.op('v128.andnot');
  asm.set(magnitude);
  // Rounding: adds just less than half of the last place, and one unit more if the last place is odd.
  asm.get(magnitude);
  asm.integers(((15 - 127) << 23) + 0xfff);
  asm.op('i32x4.add');
  asm.get(magnitude);
  asm.i32(13);
  asm.op('i32x4.shr_u');
  asm.integers(1);
  asm.op('v128.and');
  asm.op('i32x4.add');
  asm.i32(13);
  asm.op('i32x4.shr_u');
  asm.set(normal);
  // Subnormals: the sum with 0.5 rounds at the last place of subnormal halves.
  asm.get(magnitude);
  asm.integers(HALF);
  asm.op('f32x4.add');
  asm.integers(HALF);
  asm.op('i32x4.sub');
  asm.get(normal);
  asm.integers(SMALLEST_NORMAL);
  asm.get(magnitude);
  asm.op('i32x4.gt_s');
  asm.op('v128.bitselect');
  asm.set(normal);
  // Numbers that are too large become infinity; NaNs stay NaNs.
  asm.get(magnitude);
  asm.integers(INFINITY);
  asm.op('i32x4.gt_s');
  asm.integers(0x200);
  asm.op('v128.and');
  asm.integers(0x7c00);
  asm.op('v128.or');
  asm.get(normal);
  asm.get(magnitude);
  asm.integers(TOO_LARGE);
  asm.op('i32x4.ge_s');
  asm.op('v128.bitselect');
  asm.get(single);
  asm.i32(16);
  asm.op('i32x4.shr_u');
  asm.integers(0x8000);
  asm.op('v128.and');
  asm.op('v128.or');
}
