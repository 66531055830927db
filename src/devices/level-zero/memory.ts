/** Device memory by addresses, allocated here or adopted from the caller. */
import { FftError } from '../../problem/errors.ts';
import type { InFlight } from '../common/memory.ts';
import { NativeAllocator, NativeBuffer } from '../native/memory.ts';
import { TYPE } from './api.ts';
import type { ZeDriver } from './driver.ts';

class ZeBuffer extends NativeBuffer {
  override readonly mapped: Uint8Array | undefined;

  constructor(memory: ZeAllocator, address: bigint, bytes: number, mapped?: Uint8Array) {
    super(memory, address, bytes, { of: memory, start: Number(address) });
    this.mapped = mapped;
  }
}

const UNKNOWN = 0;

export class ZeAllocator extends NativeAllocator<NativeBuffer> {
  private readonly driver: ZeDriver;

  constructor(driver: ZeDriver, inFlight: InFlight) {
    super(inFlight);
    this.driver = driver;
  }

  /**
   * The caller's `{ devicePointer, bytes }` as a buffer; undefined for anything else.
   * @throws FftError `invalid-argument`, `foreign-buffer`, `buffer-too-small`
   */
  override adopt(memory: unknown, what: string): NativeBuffer | undefined {
    const { api, context } = this.driver;
    return this.adoptedPointer(
      memory,
      what,
      (pointer) => {
        const facts = api.empty(TYPE.allocation, 40);
        api.call('zeMemGetAllocProperties', undefined, context, pointer, facts, null);
        if (facts.number(16) === UNKNOWN) return undefined;
        const [start, bytes] = [new BigUint64Array(new ArrayBuffer(8)), new BigUint64Array(new ArrayBuffer(8))];
        api.call('zeMemGetAddressRange', undefined, context, pointer, start, bytes);
        return { start: start[0]!, bytes: bytes[0]! };
      },
      (pointer, bytes) => new ZeBuffer(this, pointer, bytes),
    );
  }

  protected take(bytes: number): NativeBuffer {
    const { driver } = this;
    const { integrated, limits, memory } = driver.device;
    if (bytes > limits.allocation) {
      throw new FftError(
        'out-of-memory',
        `${bytes} bytes are more than one piece of memory may have here: ${limits.allocation} of ${memory}.`,
      );
    }
    const address = driver.allocate(bytes, integrated ? 'shared' : 'device');
    return new ZeBuffer(this, address, bytes, integrated && bytes > 0 ? driver.view(address, bytes) : undefined);
  }

  protected reclaim({ handle }: NativeBuffer): void {
    this.driver.free(handle);
  }
}
