/** What passes of each radix cost on a device, and what a trip to memory costs beside them. */
import type { Backend } from '../../src/devices/device.ts';
import { Device } from '../../src/engine/device.ts';
import type { DeviceProfile } from '../../src/plan/device/profile.ts';
import { RADICES } from '../../src/plan/group/butterflies.ts';

/** The length of the transforms that are timed is the power of a radix that is nearest to this. */
const LENGTH = 1500;
/** Neighbouring columns, so that lanes and threads always have neighbours to take. */
const COLUMNS = 64;
/** Points in all, where threads are to be kept busy; a vector's stay near. */
const POINTS = 2 ** 23;
/** Points of the memory that is copied for a trip: more than caches hold. */
const FAR = 2 ** 23;
const ROUNDS = 7;
const REPEATS = 5;

export interface Fit {
  /** Per point, in passes of radix 4. */
  readonly radixCosts: Record<number, number>;
  readonly trip: { readonly passes: number };
}

/** Passes of a radix that make up a length near `LENGTH`. */
function passesOf(radix: number): number {
  return Math.max(1, Math.round(Math.log(LENGTH) / Math.log(radix)));
}

/** The device, with a planner that takes this radix wherever it can. */
function preferring(radix: number, backend: Backend): Device {
  const radixCosts = Object.fromEntries(RADICES.map((other) => [other, other === radix ? 0.01 : 1000]));
  const profile: DeviceProfile = { ...backend.profile, radixCosts };
  return new Device(Object.create(backend, { profile: { value: profile } }) as Backend);
}

/** Milliseconds per point: the least of several rounds, all subjects in turns. */
async function timesOf(subjects: readonly { readonly points: number; time(): Promise<number> }[]): Promise<number[]> {
  const least = subjects.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [n, { points, time }] of subjects.entries()) least[n] = Math.min(least[n]!, (await time()) / points);
  }
  return least;
}

/** @returns undefined where the device hides passes of radix 4 behind memory. */
export async function fitPasses(backend: Backend, precision: 'single' | 'double'): Promise<Fit | undefined> {
  const subjectOf = async (device: Device, size: number[], leftBatches: number, omit = false) => {
    const one = leftBatches * size.reduce((a, b) => a * b, 1);
    const batches = backend.profile.lockstep === 'vector' ? 1 : Math.max(1, Math.floor(POINTS / one));
    const problem = {
      size,
      leftBatches,
      batches,
      precision,
      directions: 'forward',
      omit: size.map(() => omit),
    } as const;
    const plan = await device.plan(problem);
    return {
      points: one * batches,
      time: () => plan.measure('forward', { repeats: REPEATS }),
      radices: plan.toJSON().directions[0]!.launches.flatMap(({ radices }) => radices.flat()),
      plan,
    };
  };
  const plain = new Device(Object.create(backend) as Backend);
  // Nothing is transformed: what is left is memory, near and far.
  const near = await subjectOf(plain, [LENGTH], COLUMNS, true);
  const far = await subjectOf(plain, [FAR / COLUMNS], COLUMNS, true);
  const passes: Awaited<ReturnType<typeof subjectOf>>[] = [];
  for (const radix of RADICES)
    passes.push(await subjectOf(preferring(radix, backend), [radix ** passesOf(radix)], COLUMNS));
  const [copy, trip, ...times] = await timesOf([near, far, ...passes]);
  for (const { plan } of [near, far, ...passes]) plan.destroy();
  const costs = new Map<number, number>();
  RADICES.forEach((radix, n) => {
    const { radices } = passes[n]!;
    // A length that takes other radices says nothing about these, nor do passes that hide behind memory.
    const hidden = times[n]! <= copy!;
    if (!hidden && radices.every((own) => own === radix)) costs.set(radix, (times[n]! - copy!) / radices.length);
  });
  const unit = costs.get(4);
  if (unit === undefined) return undefined;
  const rounded = (cost: number) => Math.round((100 * cost) / unit) / 100;
  return {
    radixCosts: Object.fromEntries([...costs].map(([radix, cost]) => [radix, rounded(cost)])),
    trip: { passes: rounded(trip!) },
  };
}
