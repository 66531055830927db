/** The backend of GPUs with CUDA's driver API. CUDA and HIP differ in their function names and attribute numbers only. */
import { emitPipelined } from '../../emit/cuda/pipelined.ts';
import type { Kernel } from '../../ir/index.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { FftError, show } from '../../problem/errors.ts';
import type { BoundStep } from '../common/program.ts';
import type {
  Binding,
  CompiledKernel,
  CompileOptions,
  PackedKernel,
  PeerProblem,
  PeerProgram,
  Schedule,
} from '../device.ts';
import { NativeBackend } from '../native/backend.ts';
import type { Launches } from '../native/driver.ts';
import { withoutComputedTables } from '../native/kernel.ts';
import type { NativeBuffer } from '../native/memory.ts';
import { profileFromDriver } from '../profiles/driver.ts';
import { CudaDriver, type CudaSetup } from './driver.ts';
import { type CudaFacts, CudaKernel } from './kernel.ts';
import { CudaLaunches } from './launches.ts';
import { CudaAllocator, type CudaHost } from './memory.ts';
import { cudaProgram } from './program.ts';
import { bindVendorFft } from './vendor-fft.ts';

export class CudaBackend extends NativeBackend<NativeBuffer, CudaKernel> implements CudaHost {
  readonly severalStreams = true;
  readonly driver: CudaDriver;
  readonly memory: CudaAllocator;

  constructor(setup: CudaSetup, profile: Partial<DeviceProfile> = {}) {
    const driver = new CudaDriver(setup);
    const facts = setup.api.facts(setup.device);
    super(driver, facts.name, { ...profileFromDriver(facts), ...profile }, setup.store);
    this.driver = driver;
    this.memory = new CudaAllocator(driver, facts.memory, this);
    // The first pinned allocation of a context takes a millisecond, for which the first plan would otherwise wait.
    this.staging.reserve();
  }

  pipeline(kernels: readonly CompiledKernel[], schedule: Schedule): CompiledKernel | undefined {
    this.requireOpen();
    const [first, second, more] = kernels.map((kernel) => this.own(kernel));
    if (!first || !second || more || this.kind !== 'cuda') return undefined;
    const program = emitPipelined(first.whole, second.whole, schedule);
    if (!program) return undefined;
    const { entry: name, counters } = program;
    return this.keep(new CudaKernel(this, { ...first.whole, name }, program, { counters }));
  }

  async bindPeer(peer: string, problem: PeerProblem, input: Binding, output: Binding): Promise<PeerProgram> {
    this.requireOpen();
    const { fft } = this.driver.api.variant;
    if (peer !== fft.peer) {
      const message = `A ${this.kind} device cannot be compared with ${show(peer)}: it has ${fft.peer}.`;
      throw new FftError('unsupported-feature', message);
    }
    const addressOf = ({ buffer, byteOffset }: Binding) => this.memory.usable(buffer, peer).handle + BigInt(byteOffset);
    return bindVendorFft(fft, this, problem, addressOf(input), addressOf(output));
  }

  /** Writes the source only. Compiling takes long, so `warmUp` compiles on another thread. */
  protected translate(kernel: Kernel, options: CompileOptions): CudaKernel {
    const { streams = 1, computedRoots = false } = options;
    const program = cudaProgram(kernel, this.driver.api.variant, options);
    return new CudaKernel(this, withoutComputedTables(kernel, computedRoots), program, { streams });
  }

  protected revive({ outline, facts, code }: PackedKernel, whole: () => Kernel): CudaKernel {
    const { program, streams, counters } = facts as CudaFacts;
    const compiled = code.length > 0 ? { code } : {};
    return new CudaKernel(this, { ...outline, whole }, program, { streams, counters, ...compiled });
  }

  protected layOut(steps: readonly BoundStep<NativeBuffer, CudaKernel>[], pipelined?: CudaKernel): Launches {
    return new CudaLaunches(this.driver, steps, pipelined);
  }
}
