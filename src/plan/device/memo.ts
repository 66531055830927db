/** A memory of answers that the planner needs again and again while it compares plans. It is kept for each profile. */
import type { DeviceProfile } from './profile.ts';

/** The most answers that are kept; beyond that, the memory is emptied. (A long axis with many divisors has some hundred answers of each kind.) */
const KEPT = 4096;

export class Memo<T> {
  private readonly answers = new WeakMap<DeviceProfile, Map<string, T>>();

  /** @param key everything that the answer depends on besides the profile */
  of(profile: DeviceProfile, key: string, find: () => T): T {
    let known = this.answers.get(profile);
    if (!known) this.answers.set(profile, (known = new Map()));
    if (known.has(key)) return known.get(key) as T;
    const answer = find();
    if (known.size >= KEPT) known.clear();
    known.set(key, answer);
    return answer;
  }
}
