/** Answers that a planner asks for again and again while it weighs one plan against another, kept for each profile. */
import type { DeviceProfile } from './profile.ts';

/** So many are kept; then it begins anew. (A long axis with many divisors asks for some hundred of each kind.) */
const KEPT = 4096;

export class Memo<T> {
  private readonly answers = new WeakMap<DeviceProfile, Map<string, T>>();

  /** @param key says everything that the answer depends on besides the profile. */
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
