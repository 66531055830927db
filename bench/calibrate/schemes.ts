/** How good the choice between Rader's and Bluestein's algorithms is: the plan by price against every scheme that may be asked for. */
import type { Device, Plan } from '../../src/engine/index.ts';
import { isPrime } from '../../src/numeric/primes.ts';
import { LARGEST_LISTED_PRIME } from '../../src/plan/group/butterflies.ts';
import type { ProblemInput, Tuning } from '../../src/problem/index.ts';
import type { Random } from '../../test/support/random.ts';
import { lengthUpTo } from './choices.ts';

const LARGE = LARGEST_LISTED_PRIME + 1;
const ALL = [LARGE, Number.MAX_SAFE_INTEGER] as const;
const NONE = [2, LARGEST_LISTED_PRIME] as const;

const SCHEMES: Readonly<Record<string, Tuning>> = {
  multiplied: { rader: { multiply: ALL } },
  convolved: { rader: { convolve: ALL } },
  bluestein: { rader: { multiply: NONE, convolve: NONE } },
};

export interface SchemeChoice {
  readonly length: number;
  readonly precision: string;
  /** What the plan by price takes over what the fastest scheme takes. */
  readonly ratio: number;
  /** That one, and all that were timed: microseconds. */
  readonly fastest: string;
  readonly times: Readonly<Record<string, number>>;
}

const primeUpTo = (most: number): number => {
  let candidate = Math.max(LARGE, Math.floor(most));
  while (!isPrime(candidate)) candidate++;
  return candidate;
};

/** A length with a large prime, short ones as likely as long ones: a prime, one times small ones, a product of two. */
export function randomLength(most: number, random: Random): number {
  const prime = (limit: number) => primeUpTo(LARGE * (limit / LARGE) ** random.unit());
  for (;;) {
    const first = prime(most);
    const rest = Math.max(2, most / first);
    const length = first * random.pick([() => 1, () => lengthUpTo(rest, random), () => prime(Math.max(LARGE, rest))])();
    if (length <= most) return length;
  }
}

const ROUNDS = 9;
/** Milliseconds of a turn, roughly, and transforms at most. */
const TURN = 2;
const MOST_REPEATS = 2000;

interface Subject {
  readonly name: string;
  readonly plan: Plan;
  least: number;
}

/** The plan by price first. One of the others may be the same, and is timed again: what differs then is the machine. */
async function subjectsOf(problem: ProblemInput, device: Device): Promise<Subject[]> {
  const subjects: Subject[] = [];
  for (const [name, tuning] of [['by price', {}], ...Object.entries(SCHEMES)] as const) {
    subjects.push({ name, plan: await device.plan({ ...problem, tuning }), least: Number.POSITIVE_INFINITY });
  }
  return subjects;
}

/** Times all schemes in turns, each by its fastest one. */
export async function schemeChoiceFor(length: number, precision: 'single' | 'double', device: Device) {
  const subjects = await subjectsOf({ size: [length], precision, directions: 'forward' }, device);
  const first = subjects[0]!;
  const repeats = Math.min(MOST_REPEATS, Math.ceil(TURN / (await first.plan.measure('forward', { repeats: 3 }))));
  for (let round = 0; round < ROUNDS; round++) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      subject.least = Math.min(subject.least, await subject.plan.measure('forward', { repeats }));
    }
  }
  for (const { plan } of subjects) plan.destroy();
  const fastest = subjects.reduce((best, other) => (other.least < best.least ? other : best));
  const times = Object.fromEntries(subjects.map(({ name, least }) => [name, Math.round(1e6 * least) / 1000]));
  return { length, precision, ratio: first.least / fastest.least, fastest: fastest.name, times } satisfies SchemeChoice;
}
