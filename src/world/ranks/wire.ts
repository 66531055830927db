/** Half precision on the wire: numbers stored as singles or doubles are sent as halves. */
import type { HostArray } from '../../problem/index.ts';

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** The bits of the nearest half, ties to even. */
function halfOf(value: number): number {
  single[0] = value;
  const word = bits[0]!;
  const sign = (word >>> 16) & 0x8000;
  const size = word & 0x7fffffff;
  if (size >= 0x7f800000) return sign | (size > 0x7f800000 ? 0x7e00 : 0x7c00);
  // Numbers from 65520 on round to infinity.
  if (size >= 0x477ff000) return sign | 0x7c00;
  if (size >= 0x38800000) return sign | ((size - 0x38000000 + 0xfff + ((size >>> 13) & 1)) >>> 13);
  // Subnormal halves are multiples of 2^-24.
  const scaled = Math.abs(single[0]) * 2 ** 24;
  const down = Math.floor(scaled);
  const rest = scaled - down;
  return sign | (down + Number(rest > 0.5 || (rest === 0.5 && down % 2 === 1)));
}

/** A table of all halves as singles, indexed by the bits of the half. */
let values: Float32Array | undefined;

function allHalves(): Float32Array {
  return (values ??= Float32Array.from({ length: 65536 }, (_, half) => {
    const [exponent, fraction] = [(half >>> 10) & 31, half & 1023];
    const sign = half & 0x8000 ? -1 : 1;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  }));
}

export function writeHalves(from: HostArray, into: Uint16Array, start: number, end: number): void {
  for (let n = start; n < end; n++) into[n] = halfOf(from[n]!);
}

export function readHalves(from: Uint16Array, into: HostArray, start: number, end: number): void {
  const known = allHalves();
  for (let n = start; n < end; n++) into[n] = known[from[n]!]!;
}
