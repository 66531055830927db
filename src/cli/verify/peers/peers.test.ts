/** The libraries that errors are compared with: their number formats, and that they compute the same transforms. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomFor } from '../../../../test/support/random.ts';
import { type Device, openDevice } from '../../../index.ts';
import { exact } from '../../../numeric/exact.ts';
import { type TransformKind, transformKinds } from '../../../problem/problem.ts';
import { measureErrors } from '../errors.ts';
import { extended, quad } from './formats.ts';
import { openPeers, type Peers } from './index.ts';

const random = randomFor('cli/verify/peers');

describe.each([
  ['quad', quad, 113],
  ['long double', extended, 64],
] as const)('numbers in %s', (_, format, digits) => {
  it('are what is nearest, and read as they were written', () => {
    const memory = new ArrayBuffer(16 * 50);
    const values = Array.from({ length: 49 }, () => {
      const value = exact(2 * random.unit() - 1).fixed + exact((2 * random.unit() - 1) * 2 ** -54).fixed;
      return value >> BigInt(random.integer(0, 60));
    });
    const rounded = [...values, 0n].map((value) => format.round(value));
    format.write(memory, [...values, 0n]);
    expect(format.read(memory, 50)).toEqual(rounded);
    for (const [n, value] of values.entries()) {
      const size = (one: bigint) => (one < 0n ? -one : one);
      expect(size(rounded[n]! - value) << BigInt(digits)).toBeLessThanOrEqual(size(value));
    }
    // One is a power of two that half a unit below it is rounded up to.
    const one = exact(1).fixed;
    expect(format.round(one - 1n)).toBe(one);
  });
});

it('binary128 has its sign, exponent and digits where IEEE says', () => {
  const memory = new ArrayBuffer(32);
  quad.write(memory, [exact(1).fixed, exact(-1.5).fixed]);
  expect([...new BigUint64Array(memory)]).toEqual([0n, 0x3fff000000000000n, 0n, 0xbfff800000000000n]);
});

describe('libraries that are here', () => {
  let device: Device;
  let peers: Peers;
  beforeAll(async () => {
    device = await openDevice('cpu', { threads: 1 });
    peers = await openPeers(device, ['single', 'double', 'double-double']);
  });
  afterAll(() => {
    peers.close();
    device.close();
  });

  it('are told of, or missing with a reason', () => {
    const found = [...new Set([...peers.single, ...peers.double, ...peers.wide].map(({ name }) => name))];
    const names = ['FFTW', 'FFTW long double', 'FFTW quad', 'SciPy', 'cuFFT'];
    for (const name of names) {
      const is = found.includes(name) || peers.missing.some((text) => text.startsWith(`without ${name.split(' ')[0]}`));
      expect(is, name).toBe(true);
    }
    expect(peers.missing).toContainEqual(expect.stringMatching(/without cuFFT and rocFFT: .*cpu/));
    if (spawnSync('python3', ['-c', 'import scipy.fft']).status === 0) expect(found).toContain('SciPy');
  });

  it.each(transformKinds)('compute %s as we do', async (transform) => {
    const sizes = [[random.integer(2, 20)], Array.from({ length: random.integer(2, 3) }, () => random.integer(2, 6))];
    for (const size of sizes) await agrees(transform, size, random.integer(1, 3));
  });

  async function agrees(transform: TransformKind, size: readonly number[], batches: number): Promise<void> {
    for (const precision of ['single', 'double', 'double-double'] as const) {
      for (const { peers: beside, bound } of await measureErrors(
        device,
        device,
        { transform, size, batches, precision },
        1,
        peers,
      )) {
        for (const { name, maximum } of beside) {
          // `long double` has 64 digits, double-doubles 104.
          const allowed = name === 'FFTW long double' ? bound * 2 ** 41 : 2 * bound;
          expect(maximum, `${name}, ${batches} of ${size.join('x')} points, ${precision}`).toBeLessThanOrEqual(allowed);
        }
      }
    }
  }
});
