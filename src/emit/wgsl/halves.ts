/**
 * Half-precision numbers in WGSL, two in a 32-bit word. They are converted by integer operations, because WGSL's own conversions may lose
 * infinities and subnormals (WGSL §15.7.2).
 */
import { type Conversion, conversionName } from '../spmd/lowering/memory.ts';
import type { ArrayElement, ValueType } from '../spmd/tree/tree.ts';

/** A half that shares its word with another one, which another thread may write. */
export function isLoneHalf(type: ArrayElement['type'] | ValueType): boolean {
  return typeof type === 'object' && type.type === 'f16' && !type.pair;
}

/** @param written whether the kernel writes to the array anywhere: then its words are atomic */
export function readHalf(array: string, at: string, written: boolean): string {
  const word = `${array}[(${at}) >> 1u]`;
  return `((${written ? `atomicLoad(&${word})` : word} >> (((${at}) & 1u) << 4u)) & 0xffffu)`;
}

/** The statements that write one half by two atomic steps, which leave the other half of the word unchanged. */
export function writeHalf(array: string, at: string, value: string): string {
  const [word, shift] = [`&${array}[(${at}) >> 1u]`, `(((${at}) & 1u) << 4u)`];
  return `atomicAnd(${word}, 0xffff0000u >> ${shift}); atomicOr(${word}, ${value} << ${shift});`;
}

/** Reads memory that holds several types: a half in its word, or a whole word that is a single or a pair of halves. */
export function readMixed({ type, written = false }: ArrayElement, array: string, at: string): string {
  if (isLoneHalf(type)) return readHalf(array, at, written);
  const word = written ? `atomicLoad(&${array}[${at}])` : `${array}[${at}]`;
  return isSingleElement(type) ? `bitcast<f32>(${word})` : word;
}

/** Writes memory that holds several types. All its words are atomic, because some of them may hold lone halves. */
export function writeMixed({ type }: ArrayElement, array: string, at: string, value: string): string {
  if (isLoneHalf(type)) return writeHalf(array, at, value);
  return `atomicStore(&${array}[${at}], ${isSingleElement(type) ? `bitcast<u32>(${value})` : value});`;
}

function isSingleElement(type: ArrayElement['type']): boolean {
  return typeof type === 'object' && type.type === 'f32';
}

/** Half → single. Subnormals are integers times 2⁻²⁴, which singles represent exactly. */
const FROM_HALF = `fn float_of_half(bits: u32) -> f32 {
  let size = bits & 0x7fffu;
  let small = bitcast<u32>(f32(size) * 5.9604644775390625e-8f);
  let normal = (size << 13u) + select(0x38000000u, 0x70000000u, size >= 0x7c00u);
  return bitcast<f32>(((bits & 0x8000u) << 16u) | select(normal, small, size < 0x400u));
}`;

/** Single → half, rounded to nearest even according to the bits that are shifted out. Numbers that are too large become infinity. */
const TO_HALF = `fn half_of_float(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  let size = bits & 0x7fffffffu;
  let lost = select(13u, min(126u - min(size >> 23u, 126u), 25u), size < 0x38800000u);
  let whole = select(size - 0x38000000u, (size & 0x7fffffu) | 0x800000u, size < 0x38800000u);
  let near = (whole + (1u << (lost - 1u)) - 1u + ((whole >> lost) & 1u)) >> lost;
  let finite = select(near, 0x7c00u, size >= 0x477ff000u);
  return ((bits >> 16u) & 0x8000u) | select(finite, 0x7e00u, size > 0x7f800000u);
}`;

const PAIRS = {
  float2_of_half2: `fn float2_of_half2(word: u32) -> vec2<f32> {
  return vec2<f32>(float_of_half(word & 0xffffu), float_of_half(word >> 16u));
}`,
  half2_of_float2: `fn half2_of_float2(value: vec2<f32>) -> u32 {
  return half_of_float(value.x) | (half_of_float(value.y) << 16u);
}`,
};

/** The functions that a kernel converts with. */
export function halfWgslFunctions(conversions: readonly Conversion[]): string[] {
  const singles = new Set(conversions.map(({ from }) => (from.type === 'f16' ? FROM_HALF : TO_HALF)));
  const names = conversions.filter(({ from }) => from.pair).map(({ from, to }) => conversionName(from, to));
  return [...singles, ...names.map((name) => PAIRS[name as keyof typeof PAIRS])];
}
