/**
 * Which radices, in which order: a shortest path over the divisors of the length.
 *
 * The cost of a pass is counted in additions per point: its arithmetic, one trip through shared memory, what spills
 * when the butterfly outgrows the registers, and the lanes that idle or scatter when the stride does not suit them.
 */
import { primeFactors } from '../numeric/primes.ts';
import type { DeviceProfile } from './profile.ts';

/** Radices that passes may use: all composites up to 16 of the primes up to 13. */
export const RADICES = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] as const;

/** Additions plus multiplications of the derived butterflies (checked against kernels/butterfly.ts in a test). */
export const BUTTERFLY_OPERATIONS: Readonly<Record<number, number>> = {
  1: 0,
  2: 4,
  3: 16,
  4: 16,
  5: 44,
  6: 44,
  7: 96,
  8: 56,
  9: 120,
  10: 108,
  11: 240,
  12: 112,
  13: 276,
  14: 220,
  15: 212,
  16: 168,
};

/** Registers that a butterfly needs beside its values. */
const WORKING_REGISTERS = 4;
/** Additions that one value too many costs over a butterfly. */
const SPILL = 24;
/** Additions that storing one real lane by lane costs. */
const SCATTER = 2;

export interface RadixQuestion {
  readonly length: number;
  readonly lanesAlong: 'axis' | 'batch';
  readonly lanes: number;
}

/** The cheapest radix sequence, first pass first. Length 1 is one pass that only copies. */
export function chooseRadices({ length, lanesAlong, lanes }: RadixQuestion, profile: DeviceProfile): number[] {
  if (length === 1) return [1];
  const best = new Map<number, { cost: number; radices: number[] }>();
  const from = (stride: number): { cost: number; radices: number[] } => {
    if (stride === length) return { cost: 0, radices: [] };
    const known = best.get(stride);
    if (known) return known;
    let result = { cost: Number.POSITIVE_INFINITY, radices: [] as number[] };
    for (const radix of RADICES) {
      if ((length / stride) % radix !== 0) continue;
      const rest = from(stride * radix);
      const cost = passCost(radix, stride, length, lanesAlong === 'axis' ? lanes : 1, profile) + rest.cost;
      if (cost < result.cost) result = { cost, radices: [radix, ...rest.radices] };
    }
    best.set(stride, result);
    return result;
  };
  const { radices } = from(1);
  if (radices.length === 0) throw new RangeError(`no radices for ${length} = ${primeFactors(length).join(' · ')}`);
  return radices;
}

/** Additions per point of one pass. */
export function passCost(radix: number, stride: number, length: number, lanes: number, profile: DeviceProfile): number {
  const twiddles = stride === 1 ? 0 : 6 * (radix - 1);
  const spilled = Math.max(0, 2 * radix + WORKING_REGISTERS - profile.registers);
  const arithmetic = (BUTTERFLY_OPERATIONS[radix]! + twiddles + SPILL * spilled) / radix;
  // Lanes take neighbouring butterflies: of the same stride block, or, in the first pass, of neighbouring blocks.
  const items = stride === 1 ? length / radix : stride;
  const used = items < lanes ? 1 : items / Math.ceil(items / lanes);
  const idle = lanes / used;
  const scattered = stride === 1 && lanes > 1 ? (SCATTER * 2 * (radix % lanes)) / radix : 0;
  const unaligned = stride % lanes === 0 || stride === 1 ? 0 : 1;
  return (arithmetic + profile.passCost) * idle + scattered + unaligned;
}
