/** The vendor's library of a CUDA or HIP device, cuFFT or rocFFT, on that device's memory, as `plan.measure` runs it. */
import { type Device, FftError, type Plan, type ProblemInput } from '../../../index.ts';
import { type Peer, realsOnSide, type Task } from './peer.ts';

const LIBRARIES = { cuda: { peer: 'cufft', name: 'cuFFT' }, hip: { peer: 'rocfft', name: 'rocFFT' } } as const;

/** Opens the library. @throws FftError (as a rejection) `device-unavailable` if the device is of another kind or the library is not installed */
export async function openVendorPeer(device: Device): Promise<Peer> {
  if (device.kind !== 'cuda' && device.kind !== 'hip')
    throw new FftError('device-unavailable', `it runs on cuda or hip, not on ${device.kind}`);
  const { peer, name } = LIBRARIES[device.kind];
  const plan = await device.plan({ size: [2], directions: 'forward' });
  try {
    await plan.measure('forward', { repeats: 1, peer });
  } finally {
    plan.destroy();
  }
  return { name, has: supports, run: (task, input) => runPeer(device, peer, task, input), close() {} };
}

/** Whether a task can be timed: the library's transform to reals overwrites its input, and timing repeats it. */
function supports({ transform, direction, precision, batches, size }: Task): boolean {
  return (
    batches === 1 &&
    size.length <= 3 &&
    (precision === 'single' || precision === 'double') &&
    (transform === 'c2c' || (transform === 'r2c' && direction === 'forward'))
  );
}

async function runPeer(
  device: Device,
  peer: 'cufft' | 'rocfft',
  task: Task,
  input: ArrayLike<number>,
): Promise<ArrayLike<number>> {
  const { transform, size, precision, direction } = task;
  const make = precision === 'single' ? Float32Array : Float64Array;
  const problem = { size, transform, precision, directions: direction } as ProblemInput;
  const plan: Plan = await device.plan(problem);
  // An odd number of reals is padded by one.
  const room = (side: 'read' | 'written') => 2 * Math.ceil(realsOnSide(task, side) / 2);
  const memory = (['read', 'written'] as const).map((side) => device.alloc(room(side) * make.BYTES_PER_ELEMENT));
  const [from, to] = memory as [(typeof memory)[0], (typeof memory)[0]];
  try {
    const padded = new make(room('read'));
    padded.set(input);
    await movedByCopy(device, precision, padded, from);
    await plan.measure(direction, { input: from, output: to, repeats: 1, peer });
    const result = new make(room('written'));
    await movedByCopy(device, precision, to, result);
    return result.subarray(0, realsOnSide(task, 'written'));
  } finally {
    for (const part of memory) part.free();
    plan.destroy();
  }
}

/** Copies into or out of device memory by a plan that transforms no axis. */
async function movedByCopy(device: Device, precision: Task['precision'], from: object, to: object): Promise<void> {
  const [host] = [from, to].filter(ArrayBuffer.isView) as unknown as [Float32Array | Float64Array];
  const problem = { size: [host.length / 2], omit: [true], precision, directions: 'forward' } as ProblemInput;
  const copy: Plan = await device.plan(problem);
  try {
    await (copy.forward as (from: object, to: object) => Promise<unknown>).call(copy, from, to);
  } finally {
    copy.destroy();
  }
}
