/** Transforms by another library (a peer) for the same device, on the same memory, to compare with. */

import type { PeerProgram } from '../../devices/device.ts';
import { type Direction, defaultStrides, FftError, type Problem, tensorShape } from '../../problem/index.ts';
import { checkedParts } from '../arguments/arguments.ts';
import { readData } from '../arguments/read-data.ts';
import type { MemoryOptions } from '../calls/enqueue.ts';

import type { RunnerHost } from '../calls/runner.ts';

/**
 * @param options with input and output, which are checked as for any call.
 * @throws FftError (as a rejection) `unsupported-feature` if there is no such library for the device, or the library does not
 * have such problems; `device-unavailable` if it is not installed
 */
export async function bindPeer(host: RunnerHost, options: MemoryOptions, peer: string): Promise<PeerProgram> {
  const { backend, problem, direction, read, written } = host;
  if (!backend.bindPeer) {
    throw new FftError('unsupported-feature', `No library is known to compare a ${backend.kind} device with.`);
  }
  const task = direction === 'convolve' || direction === 'prepareKernel' ? 'a convolution' : undefined;
  const kind =
    task ?? unusual(problem) ?? (options.offsets || options.work || options.temp ? 'offsets or scratch' : undefined);
  if (kind !== undefined) {
    throw new FftError(
      'unsupported-feature',
      `${peer} is timed for packed, interleaved, complex or r2c problems of up to three axes; this one has ${kind}.`,
    );
  }
  const [from] = checkedParts(readData(options.input, 'input'), read, 'input', backend);
  const [to] = checkedParts(readData(options.output, 'output'), written, 'output', backend);
  if (!from?.device || !to?.device) {
    throw new FftError('foreign-buffer', 'measure takes memory of this device only.');
  }
  const { size, batches, coordinates } = problem;
  const precision = problem.precision === 'single' ? 'single' : 'double';
  const real = problem.transform[0] === 'r2c';
  const requested = {
    size,
    precision,
    direction: direction as Direction,
    batches: batches * coordinates,
    real,
  } as const;
  return backend.bindPeer(peer, requested, from.device, to.device);
}

/** The first feature of a problem that other libraries do not have, or define differently. */
function unusual(problem: Problem): string | undefined {
  const { layout, leftBatches, omit, offsets, size, strides, transform, precision } = problem;
  const packed = (['input', 'output'] as const).every((side) => {
    const usual = defaultStrides(problem, side);
    return tensorShape(problem, side).every((count, d) => count === 1 || strides[side][d] === usual[d]);
  });
  if (transform.some((kind) => kind !== 'c2c' && kind !== 'r2c')) return `the transform ${transform.join(', ')}`;
  if (layout.input !== 'interleaved' || layout.output !== 'interleaved') return 'planes';
  if (problem.callbacks) return 'callbacks';
  if (problem.bands) return 'bands';
  if (leftBatches !== 1) return 'left batches';
  if (omit.some((omitted) => omitted)) return 'omitted axes';
  if (size.length > 3) return `${size.length} axes`;
  if (precision !== 'single' && precision !== 'double') return `the precision ${precision}`;
  return packed && offsets.input === 0 && offsets.output === 0 ? undefined : 'strides or offsets';
}
