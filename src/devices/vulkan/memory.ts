/** Device memory: buffers with their addresses, created here or adopted from the caller. */
import { FftError, show } from '../../problem/errors.ts';
import type { InFlight } from '../common/memory.ts';
import { isHandle } from '../native/library.ts';
import { NativeAllocator, NativeBuffer } from '../native/memory.ts';
import { type Handle, MEMORY } from './api.ts';
import { LEAST_HANDLE, type VkAllocation, type VkDriver } from './driver.ts';

export class VkBuffer extends NativeBuffer {
  /** The buffer's device address. */
  readonly address: bigint;
  /** The allocation; undefined for the caller's buffers. */
  readonly allocation: VkAllocation | undefined;
  override readonly mapped: Uint8Array | undefined;

  constructor(
    memory: VkAllocator,
    bytes: number,
    made: Pick<VkAllocation, 'buffer' | 'address'>,
    own?: VkAllocation,
    mapped?: Uint8Array,
  ) {
    super(memory, made.buffer, bytes, { of: memory, start: Number(made.address) });
    this.address = made.address;
    this.allocation = own;
    this.mapped = mapped;
  }
}

/** Memory that both the device and the host access at full speed. */
const SHARED = MEMORY.hostVisible | MEMORY.hostCoherent | MEMORY.hostCached;

export class VkAllocator extends NativeAllocator<VkBuffer> {
  private readonly driver: VkDriver;

  constructor(driver: VkDriver, inFlight: InFlight) {
    super(inFlight);
    this.driver = driver;
  }

  /**
   * The caller's `{ vkBuffer, bytes }` as a buffer; undefined for anything else.
   * @throws FftError `invalid-argument`, `buffer-too-small`
   */
  override adopt(value: unknown, what: string): VkBuffer | undefined {
    if (typeof value !== 'object' || value === null || !('vkBuffer' in value)) return undefined;
    const { vkBuffer, bytes } = value as { readonly vkBuffer: unknown; readonly bytes?: unknown };
    if (!isHandle(vkBuffer, 1n)) {
      throw new FftError(
        'invalid-argument',
        `${what}.vkBuffer is ${show(vkBuffer)}; it must be a VkBuffer, as a BigInt.`,
      );
    }
    if (!(Number.isSafeInteger(bytes) && (bytes as number) > 0)) {
      throw new FftError('invalid-argument', `${what}.bytes is ${show(bytes)}; the bytes of vkBuffer are needed.`);
    }
    const { api, device } = this.driver;
    const requirements = new BigUint64Array(new ArrayBuffer(24));
    api.call('vkGetBufferMemoryRequirements', undefined, device, vkBuffer, requirements);
    if (BigInt(bytes as number) > requirements[0]!) {
      throw new FftError(
        'buffer-too-small',
        `${what}.vkBuffer has ${requirements[0]} bytes, but ${bytes} were said of it.`,
      );
    }
    const address = api.addressOfBuffer(device, vkBuffer);
    if (address < LEAST_HANDLE) {
      throw new FftError(
        'buffer-usage',
        `${what}.vkBuffer has no address: it needs VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT.`,
      );
    }
    return this.adoptedAs(
      [vkBuffer, bytes, address],
      () => new VkBuffer(this, bytes as number, { buffer: vkBuffer as Handle, address }),
    );
  }

  protected take(bytes: number): VkBuffer {
    const { driver } = this;
    const { limits, memory } = driver.setup.physical;
    if (bytes > limits.allocation) {
      throw new FftError(
        'out-of-memory',
        `${bytes} bytes are more than one piece of memory may have here: ${limits.allocation} of ${memory}.`,
      );
    }
    const made = driver.allocate(bytes, MEMORY.deviceLocal, SHARED);
    // The host reads uncached memory at a tenth of the speed of a copy.
    const seen = made.mapped !== undefined && bytes > 0 ? driver.view(made.mapped, bytes) : undefined;
    return new VkBuffer(this, bytes, made, made, seen);
  }

  protected reclaim({ allocation }: VkBuffer): void {
    if (allocation) this.driver.free(allocation);
  }
}
