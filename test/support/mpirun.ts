/** Programs that `mpirun` starts: bundled once, so that ranks start quickly. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { hidden } from './optional.ts';

const root = join(import.meta.dirname, '../..');
const program = join(root, 'node_modules/.cache/omnifft-world/ranks.mjs');

export const launchers = { 'Open MPI': '/usr/bin/mpirun.openmpi', MPICH: '/usr/bin/mpirun.mpich' } as const;
export type LauncherName = keyof typeof launchers;

/** Why ranks cannot be started; undefined where both launchers are there. */
export function whyNoLaunchers(): string | undefined {
  if (hidden) return 'it is hidden';
  const absent = Object.entries(launchers).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
  return absent.length > 0 ? `there is no mpirun of ${absent.join(' and ')}` : undefined;
}

/** Bundles what ranks run. */
export async function bundleRanks(): Promise<void> {
  await build({
    ...{ entryPoints: [join(root, 'test/support/world-ranks.ts')], outfile: program },
    ...{ bundle: true, format: 'esm', platform: 'node', target: 'node20', external: ['koffi', 'webgpu'] },
    logLevel: 'error',
  });
}

export interface Ended {
  readonly code: number | null;
  /** Lines that the ranks have printed. */
  readonly lines: readonly string[];
  /** What came on standard error: of the ranks, and of drivers and launchers, which have more to say. */
  readonly errors: string;
  readonly seconds: number;
}

/** @param environment more variables of the environment. */
export function mpirun(
  launcher: LauncherName,
  ranks: number,
  scene: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const openMpi = ['--oversubscribe', '--mca', 'btl_vader_single_copy_mechanism', 'none'];
  const args = [...(launcher === 'Open MPI' ? openMpi : []), '-np', `${ranks}`, process.execPath, program, scene];
  const env = {
    ...{ ...process.env, NODE_OPTIONS: '' },
    ...{ OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', OMNIFFT_CACHE: 'off', ...environment },
  };
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(launchers[launcher], args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [text, errors] = ['', ''];
    child.stdout.on('data', (data) => (text += data));
    child.stderr.on('data', (data) => (errors += data));
    child.on('error', reject);
    child.on('close', (code) => {
      const seconds = (performance.now() - start) / 1e3;
      resolve({ code, lines: text.split('\n').filter(Boolean), errors, seconds });
    });
  });
}
