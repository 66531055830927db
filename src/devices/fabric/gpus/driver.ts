/** The driver of a world of GPUs, beyond the calls for a single device: copies between devices, and windows of addresses. */
import { FftError } from '../../../problem/errors.ts';
import type { DriverApi } from '../../cuda/api.ts';
import { type GpuKind, openDriver } from '../../cuda/open.ts';
import { functionsOf, type NativeFunction, openLibrary } from '../../native/library.ts';

const P = 'void *';
const S = 'size_t';
const FUNCTIONS = {
  DeviceCanAccessPeer: [P, 'int', 'int'],
  CtxEnablePeerAccess: [P, 'uint'],
  MemcpyPeerAsync: [P, P, P, P, S, P],
  Memcpy2DAsync: [P, P],
  MemsetD2D8Async: [P, S, 'uint8_t', S, S, P],
} as const satisfies Record<string, readonly string[]>;
const WINDOW_FUNCTIONS = {
  MemGetAllocationGranularity: [P, P, 'int'],
  MemAddressReserve: [P, S, S, P, 'uint64_t'],
  MemAddressFree: [P, S],
  MemCreate: [P, S, P, 'uint64_t'],
  MemMap: [P, S, S, P, 'uint64_t'],
  MemSetAccess: [P, S, P, S],
  MemUnmap: [P, S],
  MemRelease: [P],
} as const satisfies Record<string, readonly string[]>;

/** Functions whose names differ: CUDA has newer versions of some, HIP has names of its own. */
const OTHER_NAMES = {
  cuda: { Memcpy2DAsync: 'cuMemcpy2DAsync_v2', MemsetD2D8Async: 'cuMemsetD2D8Async' },
  hip: {
    ...{ Memcpy2DAsync: 'hipMemcpyParam2DAsync', MemsetD2D8Async: 'hipMemset2DAsync' },
  },
} as const;

const ALREADY_ENABLED = 704;
const NON_BLOCKING = 1;

type Name = keyof typeof FUNCTIONS | keyof typeof WINDOW_FUNCTIONS;

/** A GPU of the world. */
export interface Gpu {
  /** The GPU's number in the driver. */
  readonly ordinal: number;
  readonly context: bigint;
  /** The stream of the GPU's passes. */
  readonly stream: bigint;
  /** The stream of the messages that the GPU sends, beside its passes. */
  readonly sending: bigint;
}

export class GpuDriver {
  readonly api: DriverApi;
  private readonly raw: Readonly<Record<Name, NativeFunction | undefined>>;
  private readonly out = new BigUint64Array(1);

  constructor(api: DriverApi, raw: GpuDriver['raw']) {
    this.api = api;
    this.raw = raw;
  }

  /** @throws FftError as `DriverApi.call` */
  call(name: Name, ...values: unknown[]): void {
    const status = this.raw[name]!(...values) as number;
    if (status !== 0) throw this.api.failure(name as never, status);
  }

  handle(name: Name, ...values: unknown[]): bigint {
    this.out[0] = 0n;
    this.call(name, this.out, ...values);
    return this.out[0]!;
  }

  get hasWindows(): boolean {
    return Object.keys(WINDOW_FUNCTIONS).every((name) => this.raw[name as Name] !== undefined);
  }

  /** Whether each GPU reaches the memory of all others. */
  allReach(gpus: readonly Pick<Gpu, 'ordinal'>[]): boolean {
    return gpus.every((one) =>
      gpus.every((other) => {
        if (one === other) return true;
        const able = new Int32Array(1);
        this.call('DeviceCanAccessPeer', able, one.ordinal, other.ordinal);
        return able[0] !== 0;
      }),
    );
  }

  /** Lets copies go straight from one GPU's memory into another's; otherwise they pass through the host. */
  reachAll(gpus: readonly Gpu[]): void {
    for (const gpu of gpus) {
      this.enter(gpu);
      for (const { context } of gpus) {
        if (context === gpu.context) continue;
        const status = this.raw.CtxEnablePeerAccess!(context, 0) as number;
        if (status !== 0 && status !== ALREADY_ENABLED) throw this.api.failure('CtxEnablePeerAccess' as never, status);
      }
    }
  }

  /** Appends a copy to the stream in which a GPU sends. */
  copyBetween(from: Gpu, source: bigint, to: Gpu, target: bigint, bytes: number): void {
    const end = (gpu: Gpu) => (this.api.variant.kind === 'hip' ? gpu.ordinal : gpu.context);
    this.call('MemcpyPeerAsync', target, end(to), source, end(from), bytes, from.sending);
  }

  enter({ context }: Gpu): void {
    this.api.call('CtxSetCurrent', context);
  }
}

/** @throws FftError `world-unavailable` */
export async function openGpuDriver(kind: GpuKind): Promise<GpuDriver> {
  try {
    const api = await openDriver(kind);
    const library = await openLibrary(kind.driverLibrary);
    const { prefix, kind: vendor } = kind.driver;
    const others: Partial<Record<Name, string>> = OTHER_NAMES[vendor];
    const nameOf = (name: Name) => others[name] ?? `${prefix}${name}`;
    // HIP tells devices apart by their numbers where CUDA takes contexts.
    const end = vendor === 'hip' ? 'int' : P;
    const functions = { ...FUNCTIONS, MemcpyPeerAsync: [P, end, P, end, S, P] };
    const always = functionsOf<keyof typeof FUNCTIONS>(library, functions, 'int', nameOf);
    const perhaps = Object.entries<readonly string[]>(WINDOW_FUNCTIONS).map(([name, parameters]) => {
      return [name, library.optional(nameOf(name as Name), 'int', parameters)];
    });
    return new GpuDriver(api, { ...always, ...Object.fromEntries(perhaps) });
  } catch (cause) {
    if (!(cause instanceof FftError)) throw cause;
    throw new FftError('world-unavailable', `There is no world of GPUs here: ${cause.message}`, { cause });
  }
}

/** Opens GPUs by their numbers, each with streams of the world's own. @throws FftError `world-unavailable` for a number without a GPU */
export function openGpus(
  { api }: GpuDriver,
  ordinals: readonly number[] | undefined,
): { gpus: Gpu[]; leave: () => void } {
  const count = api.int('DeviceGetCount');
  const wanted = ordinals ?? [...Array(count).keys()];
  const missing = wanted.find((ordinal) => ordinal >= count);
  const { title } = api.variant;
  if (missing !== undefined || wanted.length === 0) {
    const what = missing === undefined ? 'No GPU' : `GPU ${missing}`;
    const numbered = count > 0 ? `, numbered from 0 to ${count - 1}` : '';
    throw new FftError('world-unavailable', `${what} is there: the ${title} driver sees ${count}${numbered}.`);
  }
  const gpus: Gpu[] = [];
  const leave = () => {
    for (const { ordinal, context, stream, sending } of gpus.splice(0)) {
      api.raw.CtxSetCurrent(context);
      for (const one of [stream, sending]) if (one !== 0n) api.raw.StreamDestroy(one);
      api.raw.DevicePrimaryCtxRelease(ordinal);
    }
  };
  try {
    for (const number of wanted) {
      const ordinal = api.int('DeviceGet', number);
      const context = api.handle('DevicePrimaryCtxRetain', ordinal);
      const gpu = { ordinal, context, stream: 0n, sending: 0n };
      gpus.push(gpu);
      api.call('CtxSetCurrent', context);
      gpu.stream = api.handle('StreamCreate', NON_BLOCKING);
      gpu.sending = api.handle('StreamCreate', NON_BLOCKING);
    }
    return { gpus, leave };
  } catch (error) {
    leave();
    throw error;
  }
}
