/** Devices whose results arrive when a test says so. */
import { openCpuBackend } from '../../src/devices/cpu/index.ts';
import type { Backend } from '../../src/devices/device.ts';
import { create as createOpenClBackend } from '../../src/devices/opencl/index.ts';
import type { FftError } from '../../src/problem/index.ts';
import type { Simulator } from '../device/simulator.ts';
import { noOpenCl } from './opencl.ts';

/** Everything that can happen without an arrival has happened. */
export async function quiescence(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The CPU, but like a device whose memory the host cannot see. */
export function openUnseen(): Backend {
  const backend = openCpuBackend({ threads: 1 });
  const { allocate, upload, download, finishSync } = backend;
  // Longer than any view, which the device then makes for each copy, without asking the buffer.
  backend.allocate = (bytes) =>
    Object.defineProperty(allocate.call(backend, bytes + 8), 'view', { value: undefined }) as ReturnType<
      typeof allocate
    >;
  const now = (copy: typeof upload) => (place: Parameters<typeof upload>[0], host: Parameters<typeof upload>[1]) => {
    finishSync!.call(backend);
    void copy.call(backend, place, host);
  };
  return Object.assign(backend, { uploadSync: now(upload), downloadSync: now(download) });
}

/** What comes from a device is held back, copy by copy, until it is let go. */
export class Gate {
  /** Copies that are held, in the order in which they were submitted. */
  readonly held: ((failure?: FftError) => void)[] = [];
  holding = true;

  constructor(backend: Backend) {
    const download = backend.download.bind(backend);
    backend.download = (source, into, move) => {
      const arrival = download(source, into, move);
      if (!this.holding) return arrival;
      const leave = new Promise<void>((resolve, reject) => {
        this.held.push((failure) => (failure ? reject(failure) : resolve()));
      });
      return Promise.all([arrival, leave]).then(() => undefined);
    };
  }

  /** Lets one go, the oldest if not told which, and waits for what comes of it. */
  async release(place = 0, failure?: FftError): Promise<void> {
    const [copy] = this.held.splice(place, 1);
    if (!copy) throw new Error(`no copy ${place} is held`);
    copy(failure);
    await quiescence();
  }

  /** The newest first, whatever comes of it. */
  async releaseAll(calls: Promise<unknown>): Promise<void> {
    let over = false;
    const end = () => {
      over = true;
    };
    calls.then(end, end);
    while (!over) {
      await quiescence();
      if (this.held.length > 0) await this.release(this.held.length - 1);
    }
    await calls;
  }
}

/** Devices on which calls on host arrays overlap: their names, and how to open those that are here. */
export function overlappingDevices(
  simulator: Simulator | undefined,
): readonly (readonly [name: string, open: () => Backend | Promise<Backend>])[] {
  return [
    ['memory that is not seen', openUnseen] as const,
    ...(simulator ? [['a simulated GPU', () => simulator.open()] as const] : []),
    ...(noOpenCl === undefined ? [['OpenCL', () => createOpenClBackend({})] as const] : []),
  ];
}
