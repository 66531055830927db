import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleRanks, type LauncherName, mpirun, whyNoLaunchers } from '../../test/support/mpirun.ts';
import { hidden, missing } from '../../test/support/optional.ts';
import { seedFor } from '../../test/support/random.ts';

const without = missing('mpi', whyNoLaunchers());
/** OpenCL on the processor. */
const pocl = !hidden && existsSync('/etc/OpenCL/vendors/pocl.icd');
beforeAll(bundleRanks);
/** All ranks take the same numbers. */
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
});
