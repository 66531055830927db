/** Peer: FFTW 3, native, where its run-time libraries and a C compiler are installed. See fftw.c for what is timed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NativePeer } from './native.ts';

/** The running peer, or the reason why there is none. @param quad in quadruple precision, which is a library of its own */
export async function openFftw(quad = false): Promise<NativePeer | string> {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-bench-'));
  const program = join(folder, 'fftw-peer');
  const source = fileURLToPath(new URL('fftw.c', import.meta.url));
  const built = spawnSync('gcc', ['-O2', '-o', program, source, '-ldl'], { encoding: 'utf8' });
  if (built.status !== 0) {
    rmSync(folder, { recursive: true });
    return built.error ? 'no gcc' : `gcc: ${built.stderr.trim().split('\n')[0]}`;
  }
  const peer = new NativePeer(quad ? 'FFTW quad' : 'FFTW', program, quad ? ['quad'] : []);
  try {
    await (await peer.prepare({ size: [64], precision: quad ? 'double-double' : 'single' })).close();
    return peer;
  } catch (error) {
    return (error as Error).message;
  } finally {
    // The program is running by now; its file is no longer needed.
    rmSync(folder, { recursive: true });
  }
}
