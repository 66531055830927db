/** cuFFT, and rocFFT through hipFFT's names, on the simulated GPU: a library with the same functions records its calls. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildSimulator, type Simulator } from '../../../test/device/simulator.ts';
import { codeOf } from '../../../test/support/device-kernels.ts';
import { DeviceMemory } from '../../engine/arguments/memory.ts';
import { Device } from '../../engine/device.ts';
import { hip } from '../hip/index.ts';
import { loadKoffi } from '../native/library.ts';
import { openVendorFft } from './vendor-fft.ts';

const SOURCE = `
#include <string.h>
static long notes[16];
void take_notes(long *out) { memcpy(out, notes, sizeof notes); memset(notes, 0, sizeof notes); }
int cufftGetVersion(int *version) { *version = 12000; return 0; }
int cufftPlanMany(int *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
                  int odist, int type, int batch) {
  if (batch == 13) return 2;
  *plan = 7;
  notes[0] = rank;
  for (int d = 0; d < rank; d++) notes[1 + d] = n[d];
  notes[4] = istride; notes[5] = idist; notes[6] = ostride; notes[7] = odist;
  notes[8] = type; notes[9] = batch;
  return inembed || onembed ? 4 : 0;
}
int cufftSetStream(int plan, void *stream) { return plan == 7 && stream ? 0 : 1; }
static int run(int plan, void *in, void *out, int sign) {
  notes[10]++; notes[11] = sign; notes[12] = (long)in; notes[13] = (long)out;
  return plan == 7 ? 0 : 1;
}
int cufftExecC2C(int plan, void *in, void *out, int sign) { return run(plan, in, out, sign); }
int cufftExecZ2Z(int plan, void *in, void *out, int sign) { return run(plan, in, out, sign); }
int cufftDestroy(int plan) { notes[14]++; return plan == 7 ? 0 : 1; }
`;

const simulator = process.platform === 'linux' ? await buildSimulator() : undefined;
const toolkit = mkdtempSync(join(tmpdir(), 'omnifft-cufft-'));
afterAll(() => {
  simulator?.remove();
  vi.unstubAllEnvs();
  rmSync(toolkit, { recursive: true, force: true });
});

describe.runIf(simulator)('cuFFT as a peer', () => {
  const sim = simulator as Simulator;
  let device: Device;
  let takeNotes: (out: BigInt64Array) => void;

  beforeAll(async () => {
    mkdirSync(join(toolkit, 'lib'));
    writeFileSync(join(toolkit, 'cufft.c'), SOURCE);
    const library = join(toolkit, 'lib', 'libcufft.so.12');
    const built = spawnSync('cc', ['-shared', '-fPIC', '-o', library, join(toolkit, 'cufft.c')], { encoding: 'utf8' });
    expect(built.stderr).toBe('');
    vi.stubEnv('CUDA_PATH', toolkit);
    takeNotes = (await loadKoffi()).load(library).func('take_notes', 'void', ['void *']);
  });
  beforeEach(async () => {
    device = new Device(await sim.open());
  });
  afterEach(() => {
    device.close();
    const { bytes, events, faults } = sim.counts();
    expect({ bytes, events, faults }).toEqual({ bytes: 0, events: 0, faults: 0 });
  });
  const notes = () => {
    const out = new BigInt64Array(16);
    takeNotes(out);
    return Array.from(out, Number);
  };

  it.each([
    ['forward', 'single', 0x29, -1],
    ['inverse', 'double', 0x69, 1],
  ] as const)('is asked for the same problem on the same memory (%s, %s)', async (direction, precision, type, sign) => {
    const plan = await device.plan({ size: [4, 8, 16], batches: 3, precision, directions: direction });
    const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
    const address = (memory: typeof input) =>
      Number((DeviceMemory.bufferOf(memory) as unknown as { readonly handle: bigint }).handle);
    expect(await plan.measure(direction, { input, output, repeats: 3, peer: 'cufft' })).toBeCloseTo(0.5);
    expect(notes().slice(0, 15)).toEqual([
      ...[3, 16, 8, 4, 1, 512, 1, 512, type, 3],
      // One run to warm up.
      ...[4, sign, address(input), address(output), 1],
    ]);
  });

  it('is refused problems that it does not share, and says what it refuses itself', async () => {
    const refused = [
      { size: [8], layout: 'planar' },
      { size: [8], leftBatches: 2 },
      { size: [8, 8], omit: [true, false] },
      { size: [2, 2, 2, 2] },
      { size: [8], offsets: { input: 1 } },
      { size: [8], batches: 2, strides: { input: [1, 1, 8, 9] } },
    ] as const;
    for (const problem of refused) {
      const plan = await device.plan({ ...problem, directions: 'forward' });
      expect(await codeOf(() => plan.measure('forward', { peer: 'cufft' }))).toBe('unsupported-feature');
    }
    const plan = await device.plan({ size: [8], batches: 13, directions: 'forward' });
    expect(await codeOf(() => plan.measure('forward', { peer: 'cufft' }))).toBe('out-of-memory');
    const other = { peer: 'mkl' } as object;
    expect(await codeOf(() => plan.measure('forward', other))).toBe('unsupported-feature');
    const same = device.alloc(plan.input.bytes);
    const apart = { input: same, output: same, peer: 'cufft' } as const;
    expect(await codeOf(() => plan.measure('forward', apart))).toBe('aliased-buffers');
    expect(notes()[10]).toBe(0);
  });

  it('takes streams of callers only, not encoders or queues', async () => {
    const plan = await device.plan({ size: [8], directions: 'forward' });
    const [input, output] = [device.alloc(64), device.alloc(64)];
    for (const name of ['encoder', 'queue']) {
      expect(await codeOf(() => plan.enqueue('forward', { input, output, [name]: 1n }))).toBe('unsupported-feature');
    }
    expect(await codeOf(() => plan.enqueue('forward', { input, output, stream: 'x' }))).toBe('invalid-encoder');
  });
});

describe.runIf(simulator)('rocFFT as a peer', () => {
  it('is asked by the same functions, whose plans are pointers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'omnifft-rocfft-'));
    try {
      // Plans of hipFFT are addresses, which do not fit an int.
      const source = SOURCE.replaceAll('cufft', 'hipfft')
        .replace('int hipfftPlanMany(int *plan', 'int hipfftPlanMany(void **plan')
        .replace('*plan = 7;', '*plan = PLAN;')
        .replaceAll('(int plan', '(void *plan')
        .replaceAll('plan == 7', 'plan == PLAN');
      writeFileSync(join(folder, 'hipfft.c'), `#define PLAN ((void *)0x123456789abL)\n${source}`);
      const library = join(folder, 'libhipfft.so.0');
      const built = spawnSync('cc', ['-shared', '-fPIC', '-o', library, join(folder, 'hipfft.c')], {
        encoding: 'utf8',
      });
      expect(built.stderr).toBe('');
      const request = { names: [library], what: 'rocFFT', install: 'Install it.' };
      const rocfft = await openVendorFft({ ...hip.driver.fft, library: () => request });
      const problem = { size: [4, 8], precision: 'double', batches: 3, direction: 'inverse', real: false } as const;
      const plan = rocfft.plan(problem, 5n);
      plan.run(1n, 2n);
      plan.close();
      const out = new BigInt64Array(16);
      (await loadKoffi()).load(library).func('take_notes', 'void', ['void *'])(out);
      expect(Array.from(out, Number).slice(0, 15)).toEqual([2, 8, 4, 0, 1, 32, 1, 32, 0x69, 3, 1, 1, 1, 2, 1]);
      expect(() => rocfft.plan({ ...problem, batches: 13 }, 5n)).toThrow(
        /rocFFT refused: hipfftPlanMany ended with status 2/,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
