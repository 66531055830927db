/** The number of threads in a group, and the number of groups that should run side by side. */
import { largestPrimeFactor } from '../../numeric/primes.ts';
import { wordsPerReal } from '../device/capacity.ts';
import type { Target } from '../device/target.ts';
import type { LeafNode, RealParts } from '../tree/node.ts';
import { steppedRadices } from './radix.ts';

/** The properties of a launch that its number of threads depends on. */
interface LaunchTraits {
  readonly convolved?: LeafNode['convolved'] | undefined;
  readonly real?: Pick<RealParts, 'by'>;
  /** The launch is one of several uploads of an axis. */
  readonly split?: boolean;
}

/**
 * The best number of threads for a group, which is a number of butterflies. Passes of different radices have different numbers of
 * butterflies: the best count leaves the fewest threads idle over all passes, and gives no thread more values than its registers hold.
 */
function bestThreads(
  points: number,
  passes: readonly number[],
  { real, convolved }: LaunchTraits,
  target: Target,
  clustered: boolean,
): number {
  const { lockstep, lockstepBytes, maxThreads, registers } = target;
  // Data exchanged in quarters is computed two butterflies at a time.
  const butterfliesAtOnce = target.parts / 2;
  const { occupancy, cluster } = target.calibration;
  const stepped = steppedRadices(passes, target);
  const radices = stepped.map((radix) => butterfliesAtOnce * radix);
  const all = butterfliesOfPasses(points, stepped, real?.by === 'symmetric' && !convolved);
  const items = all.map((butterflies) => butterflies / butterfliesAtOnce);
  const plain = Math.min(...items);
  if (lockstep === 'vector') return Math.ceil(plain);
  const warp = lockstepBytes / 4;
  const words = wordsPerReal(target.precision);
  const values = registers / (2 * words);
  const halfOfRegisters = values / 2;
  const { sharedBytes } = target.capacity;
  const fitsTwice = 2 * points * sharedBytes <= (target.residentBytes ?? target.sharedBytes);
  let best = Math.ceil(plain);
  let least = Number.POSITIVE_INFINITY;
  const mostPoints = Math.max(values, ...radices);
  const counts = [...new Set(items)];
  for (let share = 1; share <= 8; share++) {
    for (const count of counts) {
      const threads = Math.ceil(count / share);
      if (threads > maxThreads || (threads < 2 * warp && threads < plain)) continue;
      const pointsOfThread = items.reduce((most, n, p) => Math.max(most, Math.ceil(n / threads) * radices[p]!), 0);
      if (pointsOfThread > mostPoints) continue;
      const wholeWarps = Math.ceil(threads / warp) * warp;
      if (clustered && pointsOfThread * 2 * words > cluster.registers) continue;
      if (clustered && Math.max(...items) > cluster.butterflies * threads) continue;
      // A group with more than half of the threads excludes a second group, though shared memory has room for it.
      const exclusion =
        fitsTwice && threads > maxThreads / 2 && pointsOfThread <= halfOfRegisters ? occupancy.soleGroup : 1;
      const burden = !clustered && pointsOfThread > occupancy.heavyThreads.above ? occupancy.heavyThreads.times : 1;
      const idle = burden * exclusion * items.reduce((sum, n) => sum + (Math.ceil(n / threads) * wholeWarps) / n, 0);
      if (idle < least - 1e-9 || (idle < least + 1e-9 && threads > best !== clustered)) {
        best = threads;
        least = idle;
      }
    }
  }
  return best;
}

/** The number of butterflies in each pass. @param symmetric passes over reals compute bins up to N/2 only: kernels/passes/symmetric-passes.ts */
function butterfliesOfPasses(points: number, radices: readonly number[], symmetric: boolean): number[] {
  let stride = 1;
  return radices.map((radix) => {
    const each = symmetric ? Math.ceil(stride / 2) : stride;
    const butterflies = (points / (radix * stride)) * each;
    stride *= radix;
    return butterflies;
  });
}

/** The most butterflies of a thread when fewer threads are wanted: it keeps them all in registers. */
const MOST_BUTTERFLIES = 4;

/**
 * The number of threads in a group: one for each butterfly, or as few as the user asked for.
 * @param points in a block
 * @param clustered the block belongs to a cluster
 */
export function threadsFor(
  points: number,
  radices: readonly number[],
  placed: LaunchTraits,
  target: Target,
  clustered = false,
): number {
  const { maxThreads, tuning = {} } = target;
  if (maxThreads === 1) return 1;
  const { split } = placed;
  const butterflies = bestThreads(points, radices, placed, target, clustered);
  const most = Math.min(maxThreads, butterflies);
  const aim = Math.min(most, tuning.threads ?? (clustered ? most : threadsOfLargePrimes(most, radices, target)));
  const wished = tuning.halfThreads && split ? Math.ceil(aim / 2) : aim;
  return Math.max(wished, Math.ceil(most / MOST_BUTTERFLIES));
}

/** Radices with a prime factor beyond this one have butterflies that leave few registers, in double precision, for groups beside theirs. */
const LARGEST_LEAN_PRIME = 13;

/**
 * Butterflies of larger primes hold some 120 registers in double precision, so that a multiprocessor has room for about 512 threads. Four groups
 * of 128 threads, or two of 256, take turns in waiting for memory and at barriers; larger groups leave a part of that room empty, or stand alone.
 */
function threadsOfLargePrimes(butterflies: number, radices: readonly number[], target: Target): number {
  const hasLargePrime = steppedRadices(radices, target).some((radix) => largestPrimeFactor(radix) > LARGEST_LEAN_PRIME);
  if (!target.registerFile || wordsPerReal(target.precision) !== 2 || !hasLargePrime) return butterflies;
  const threads = butterflies > 3 * 128 ? 256 : 128;
  return Math.min(butterflies, threads);
}

/**
 * The number of groups that can run side by side on a multiprocessor if the compiler is limited to the registers that they need. One more
 * group gains; one too many spills, which costs more than that.
 * @returns 0 if the choice is better left to the compiler
 */
export function residentGroups(
  points: number,
  passes: readonly number[],
  threads: number,
  target: Target,
  clustered = false,
): number {
  const radices = steppedRadices(passes, target);
  const { cluster, registerFile, residentBytes = target.sharedBytes } = target;
  const { residency, registers } = target.calibration;
  if (!registerFile) return 0;
  const bytes = points * target.capacity.sharedBytes;
  const byMemory = residentBytes / bytes;
  const groups = (spare = 0) =>
    Math.floor(Math.min(byMemory, residentByRegisters(points, radices, threads, target, 0, spare)));
  if (clustered) return Math.min(groups(), residency[bytes < cluster!.sharedBytes ? 'smallCluster' : 'cluster']);
  if (byMemory < residency.free) return Math.min(groups(), residency.block);
  // If several butterflies together hold more values than the largest one, compilers choose better how many to compute at once.
  const held = Math.max(...radices.map((radix) => radix * Math.ceil(points / radix / threads)));
  if (held > residency.held * Math.max(...radices)) return 0;
  // Compilers without a limit use so few registers that loads wait for one another.
  const several = groups(registers.spare);
  return several > residency.block && several * bytes >= residency.passBytes * radices.length ? several : 0;
}

/**
 * The number of groups that the register file has room for, counting points, the twiddles and addresses of each butterfly, and a constant.
 * @param odd registers for intermediate values of each butterfly with prime factors over 3
 * @param spare registers that let a compiler keep many loads in flight; 0: the minimum
 */
export function residentByRegisters(
  points: number,
  passes: readonly number[],
  threads: number,
  target: Target,
  odd: number,
  spare = 0,
): number {
  const radices = steppedRadices(passes, target);
  const { registerFile = Number.POSITIVE_INFINITY, lockstepBytes } = target;
  const { always, butterfly } = target.calibration.registers;
  // A pass from shared memory to shared memory reads all its points before it writes; other passes compute one butterfly at a time.
  const between = radices.slice(1, -1);
  const butterflies = between.map((radix) => Math.ceil(points / radix / threads));
  const held = Math.max(...radices, ...between.map((radix, n) => radix * butterflies[n]!));
  const most = Math.max(1, ...butterflies);
  const extra = between.some((radix) => largestPrimeFactor(radix) > 3) ? odd * most : 0;
  const reals = 2 * held + always + butterfly * most;
  const own = reals * wordsPerReal(target.precision) + extra;
  const each = own + spare;
  const warp = lockstepBytes / 4;
  return registerFile / (Math.ceil(threads / warp) * warp * each);
}
