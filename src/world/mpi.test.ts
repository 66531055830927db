import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildSimulator } from '../../test/device/simulator.ts';
import { bundleRanks, type LauncherName, mpirun, whyNoLaunchers } from '../../test/support/mpirun.ts';
import { hidden, missing } from '../../test/support/optional.ts';
import { seedFor } from '../../test/support/random.ts';

const without = missing('mpi', whyNoLaunchers());
/** OpenCL on the processor. */
const pocl = !hidden && existsSync('/etc/OpenCL/vendors/pocl.icd');
beforeAll(bundleRanks);
/** All ranks use the same seed. */
const OMNIFFT_SEED = `${seedFor('world/mpi')}`;

describe('ranks of mpirun', () => {
  it.skipIf(without).each<[LauncherName, number]>([
    ['Open MPI', 2],
    ['Open MPI', 3],
    ['Open MPI', 4],
    ['Open MPI', 6],
    ['MPICH', 2],
  ])('of %s, %i of them, transform, move, agree and fail together', async (launcher, ranks) => {
    const { code, lines, errors, seconds } = await mpirun(launcher, ranks, 'everything', { OMNIFFT_SEED });
    console.info(`${launcher} with ${ranks} ranks: ${seconds.toFixed(1)} s`);
    expect(lines.filter((line) => !/^random data|^done/.test(line))).toEqual([]);
    expect(
      lines.filter((line) => line.startsWith(`done ${launcher}`)),
      errors,
    ).toHaveLength(ranks);
    expect(code, errors).toBe(0);
  });

  it.skipIf(without).each<[string, LauncherName, string]>([
    ['ends early, with exit code 0,', 'Open MPI', 'ends early'],
    ['ends early, with exit code 0,', 'MPICH', 'ends early'],
    ['throws', 'Open MPI', 'throws'],
    ['is killed', 'Open MPI', 'is killed'],
    ['is killed', 'MPICH', 'is killed'],
  ])('of which one %s all end, with an exit code that is not 0: %s', async (_, launcher, scene) => {
    const { code, lines, seconds } = await mpirun(launcher, 2, scene, { OMNIFFT_SEED });
    expect(code).not.toBe(0);
    expect(lines.some((line) => line.startsWith('done'))).toBe(false);
    expect(seconds).toBeLessThan(20);
  });

  it.skipIf(without)('of another launcher than the library are refused', async () => {
    const { code, lines } = await mpirun('MPICH', 2, 'everything', {
      OMNIFFT_SEED,
      OMNIFFT_TEST_MPI: 'libmpi.so.40',
    });
    expect(lines.filter((line) => line === 'refused: launcher-mismatch')).toHaveLength(2);
    expect(code).toBe(3);
  });

  it.skipIf(without || !pocl)('with a device whose memory they do not see exchange through the host', async () => {
    const { code, lines, errors } = await mpirun('Open MPI', 2, 'staged', { OMNIFFT_SEED });
    expect(lines.filter((line) => !/^random data|^done/.test(line))).toEqual([]);
    expect(code, errors).toBe(0);
  });

  it.skipIf(without)(
    'with GPUs that the library says it reaches send from device memory what nobody has to pack',
    async ({ skip }) => {
      const simulator = await buildSimulator();
      if (!simulator) return skip();
      const driver = simulator.library.names[0]!;
      const folder = dirname(driver);
      try {
        for (const name of ['libcuda.so.1', 'libnvrtc.so.13']) symlinkSync(driver, join(folder, name));
        // Open MPI, except that it reports support for memory of CUDA devices.
        const [source, library] = [join(folder, 'answer.c'), join(folder, 'libmpi-answer.so')];
        writeFileSync(source, 'int MPIX_Query_cuda_support(void) { return 1; }\n');
        const options = ['-shared', '-fPIC', '-o', library, source, '-Wl,--no-as-needed', '-l:libmpi.so.40'];
        expect(spawnSync('cc', options, { encoding: 'utf8' }).stderr).toBe('');
        const { code, lines, errors } = await mpirun('Open MPI', 2, 'on devices', {
          ...{ OMNIFFT_SEED, OMNIFFT_TEST_MPI: library, OMNIFFT_SIMULATOR_FOLDER: folder, LD_LIBRARY_PATH: folder },
        });
        expect(lines.filter((line) => !/^random data|^done/.test(line))).toEqual([]);
        expect(code, errors).toBe(0);
      } finally {
        simulator.remove();
      }
    },
  );
});
