/** Halves as IEEE 754-2008 has them, by arithmetic on the definition: what conversions on devices are held against. */

/** The number that 16 bits are. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}

/** The bits of the half nearest to a number, of two the even one. */
export function toHalf(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  // The distance between halves of this size.
  const exponent = Math.max(-14, size === 0 ? -14 : Math.floor(Math.log2(size)));
  const step = 2 ** (exponent - 10);
  const down = Math.floor(size / step);
  const rest = size / step - down;
  const units = rest > 0.5 || (rest === 0.5 && down % 2 === 1) ? down + 1 : down;
  // A carry out of the fraction counts the exponent up, as it should.
  return sign | (exponent === -14 ? units : units + ((exponent + 14) << 10));
}
