/**
 * Bad input at every door: whatever is given ends in a result or an `FftError`, soon, in few words, and writes nothing that
 * is not the call's to write. CI takes a sample; OMNIFFT_EXHAUSTIVE=1 takes 10^5.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FftError } from '../../src/index.ts';
import { changedOutside, snapshot } from '../support/poison.ts';
import { randomFor } from '../support/random.ts';
import { type Attempt, Scene } from './entries.ts';

const CALLS = process.env.OMNIFFT_EXHAUSTIVE === '1' ? 100_000 : 1500;
/** Of processor time, which other work on the machine does not count for. */
const MOST_SECONDS = 1;
const MOST_CHARACTERS = 2000;

const random = randomFor('adversary');

async function errorOf({ run }: Attempt): Promise<{ readonly thrown: unknown } | undefined> {
  try {
    await run();
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}

/** What is thrown may be anything, a revoked proxy too. */
function isFftError(thrown: unknown): thrown is FftError {
  try {
    return thrown instanceof FftError;
  } catch {
    return false;
  }
}

function told(thrown: unknown): string {
  try {
    return (thrown as Error).stack?.slice(0, 1000) ?? typeof thrown;
  } catch {
    return 'what cannot be read';
  }
}

/** What is wrong with how a call ended. */
function faultsOf(end: { readonly thrown: unknown } | undefined, seconds: number): string[] {
  const faults = seconds > MOST_SECONDS ? [`took ${seconds.toFixed(2)} s`] : [];
  if (end === undefined) return faults;
  const { thrown } = end;
  if (!isFftError(thrown)) return [...faults, `threw ${told(thrown)}`];
  if (thrown.code === 'internal-error') faults.push(`internal-error: ${thrown.message}`);
  const long = [thrown.message, ...thrown.problems.map(({ message }) => message)].find(
    (message) => message.length >= MOST_CHARACTERS,
  );
  if (long !== undefined) faults.push(`message of ${long.length} characters: ${long.slice(0, 100)}`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  if (/[\x00-\x09\x0b-\x1f\x7f-\x9f]/.test(thrown.message)) faults.push('a message with control characters');
  return faults;
}

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open(random);
});
afterAll(() => scene.close());

it(`ends in a result or an FftError (${CALLS} calls)`, async () => {
  const bystander = snapshot(scene.bystander);
  const found: string[] = [];
  for (let call = 0; call < CALLS && found.length < 10; call++) {
    const attempt = scene.next();
    const outputs = (attempt.outputs ?? []).filter((array) => array.byteLength > 0);
    const before = outputs.map(snapshot);
    const start = process.cpuUsage();
    const end = await errorOf(attempt);
    const { user, system } = process.cpuUsage(start);
    const faults = faultsOf(end, (user + system) / 1e6);
    if (end && outputs.some((array, n) => changedOutside(array, before[n]!).length > 0)) faults.push('wrote');
    if (changedOutside(scene.bystander, bystander).length > 0) faults.push('wrote to memory of somebody else');
    found.push(...faults.map((fault) => `call ${call}, ${attempt.name}: ${fault}`));
  }
  expect(found).toEqual([]);
});
