/** Peer: SciPy (pocketfft), native, where a Python with SciPy is installed. See scipy_peer.py for what is timed. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NativePeer } from './native.ts';

/** The first `python3` on the path that has SciPy: the first one on the path need not be the one it is installed for. */
export function findPython(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = [process.env.PYTHON, ...folders.map((folder) => join(folder, 'python3'))];
  return candidates.find(
    (python) => python && existsSync(python) && spawnSync(python, ['-c', 'import scipy.fft']).status === 0,
  );
}

/** The running peer, or the reason why there is none. */
export async function openScipy(): Promise<NativePeer | string> {
  const python = findPython();
  if (python === undefined) return 'no python3 on the path has SciPy';
  const peer = new NativePeer('SciPy', python, [fileURLToPath(new URL('scipy_peer.py', import.meta.url))]);
  try {
    await (await peer.prepare({ size: [64], precision: 'single' })).close();
    return peer;
  } catch (error) {
    return (error as Error).message;
  }
}
