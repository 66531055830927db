/**
 * Agreement: before ranks do something together they check that all of them are about to do the same, and that none has failed. Otherwise every rank
 * throws, and no rank waits for another that will not come.
 */
import type { Fabric } from '../../devices/fabric/fabric.ts';
import type { GpuFabric } from '../../devices/fabric/gpus/fabric.ts';
import { reasonOf } from '../../problem/errors.ts';
import { FftError, type FftErrorCode, fftErrorCodes } from '../../problem/index.ts';

/** Words of a record: a hash in two words, and a flag for a rank that has failed. */
const RECORD_WORDS = 3;
/** The most bytes of an error's code and message that are sent. */
const MOST_TEXT = 1024;

/** The contribution of one rank to an agreement. */
export interface Opinion {
  /** The action that the rank is about to take, in words that are the same on all ranks. */
  readonly about: string;
  /** The error that keeps the rank from taking the action. */
  readonly failure?: unknown;
}

/** FNV-1a over UTF-16 words, computed twice from different initial values. */
function hashOf(text: string): [number, number] {
  let [a, b] = [0x811c9dc5, 0x1b873593];
  for (let n = 0; n < text.length; n++) {
    a = Math.imul(a ^ text.charCodeAt(n), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(n), 0x01000193) ^ (a >>> 13);
  }
  return [a >>> 0, b >>> 0];
}

/**
 * Checks that all ranks are about to do the same.
 * @param opinions one for each rank held here
 * @param what the action, for messages: `plan`, `forward` …
 * @throws FftError (as a rejection) the failure of a rank held here; `rank-failed` where another rank has failed, `mismatched-plans`
 */
export async function agree(fabric: Fabric, what: string, opinions: readonly Opinion[]): Promise<void> {
  const records = opinions.map(({ about, failure }) => {
    return new Uint8Array(Uint32Array.of(...hashOf(`${what} ${about}`), Number(failure !== undefined)).buffer);
  });
  const all = (await fabric.gather(records)).map(
    (bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, RECORD_WORDS),
  );
  if (all.some((record) => record[2] !== 0)) await reportFailure(fabric, opinions);
  const keys = all.map(([a, b]) => `${a} ${b}`);
  if (new Set(keys).size === 1) return;
  const usual = mostFrequent(keys);
  const others = keys.flatMap((key, rank) => (key === usual ? [] : [rank]));
  const shown = others.slice(0, 16).join(', ');
  const message = `${what}: ranks ${shown}${others.length > 16 ? ' …' : ''} have called something else, or with other arguments, than the other ranks. Every rank has to make the same calls in the same order.`;
  throw new FftError('mismatched-plans', message);
}

function mostFrequent(keys: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
}

async function reportFailure(fabric: Fabric, opinions: readonly Opinion[]): Promise<never> {
  const texts = opinions.map(({ failure }) => {
    const bytes = new Uint8Array(MOST_TEXT);
    if (failure !== undefined) {
      const code = failure instanceof FftError ? failure.code : 'internal-error';
      bytes.set(new TextEncoder().encode(JSON.stringify([code, reasonOf(failure)])).subarray(0, MOST_TEXT - 1));
    }
    return bytes;
  });
  const all = await fabric.gather(texts);
  const own = opinions.find(({ failure }) => failure !== undefined);
  if (own) throw own.failure;
  const rank = all.findIndex((bytes) => bytes[0] !== 0);
  const [code, message] = parsedOpinion(all[rank]!);
  throw new FftError('rank-failed', `Rank ${rank} failed (${code}): ${message}`, {
    problems: [{ code, message: `Rank ${rank}: ${message}`, path: `rank[${rank}]` }],
  });
}

function parsedOpinion(bytes: Uint8Array): [FftErrorCode, string] {
  const text = new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  try {
    const [code, message] = JSON.parse(text) as [FftErrorCode, string];
    return [fftErrorCodes.includes(code) ? code : 'internal-error', message];
  } catch {
    return ['internal-error', text];
  }
}

export interface WorldHost {
  readonly fabric: Fabric;
  /** The fabric of GPUs, where ranks are GPUs of this process. */
  readonly gpus: GpuFabric | undefined;
  /** The number of ranks on a node. */
  readonly perNode: number;
  /** Runs calls one after another, in the same order on every rank. @throws FftError (as a rejection) `world-broken`, `world-unavailable` */
  inOrder<T>(call: () => Promise<T>): Promise<T>;
  agree(what: string, opinions: readonly Opinion[]): Promise<void>;
}
