/**
 * `plan.measure`: how long a direction takes on the device, by the device's clock where it has one.
 */
import type { BoundProgram, DeviceBuffer } from '../devices/device.ts';
import { FftError } from '../problem/index.ts';
import type { ComplexData, SideFacts } from './arguments.ts';
import { bindMemory, MEMORY_OPTIONS, type MemoryOptions } from './enqueue.ts';
import { DeviceMemory } from './memory.ts';
import { checkOptions } from './options.ts';
import type { RunnerHost } from './runner.ts';

/** Memory as for `enqueue`; what is left out is allocated for the measurement, and zero. */
export interface MeasureOptions extends MemoryOptions {
  /** Transforms to run one after another; default 10. */
  readonly repeats?: number;
}

const OPTIONS = { works: [...MEMORY_OPTIONS, 'repeats'] };

/** Milliseconds that one transform takes. */
export async function measure(host: RunnerHost, options: MeasureOptions): Promise<number> {
  host.check();
  checkOptions(options, OPTIONS, 'measure');
  const { repeats = 10 } = options;
  if (!(Number.isSafeInteger(repeats) && repeats >= 1)) {
    throw new FftError('invalid-argument', `measure.repeats is ${String(repeats)}; it is a whole number from 1 up.`);
  }
  const own: DeviceBuffer[] = [];
  const make = (facts: SideFacts, offset = 0): ComplexData => {
    const planar = facts.layout === 'planar';
    const part = () => {
      const bytes = ((planar ? 1 : 2) * offset + facts.length) * facts.realBytes;
      const buffer = host.backend.allocate(bytes);
      own.push(buffer);
      buffer.view?.(facts.type).fill(0);
      return new DeviceMemory(buffer, facts.type);
    };
    return planar ? { re: part(), im: part() } : part();
  };
  try {
    const { offsets } = options;
    const input = options.input ?? (host.inPlace ? options.output : undefined) ?? make(host.read, offsets?.input);
    const output = options.output ?? (host.inPlace ? input : make(host.written, offsets?.output));
    const bound = bindMemory(host, { ...options, input, output }, 'measure');
    try {
      return await (bound.time ? bound.time(repeats) : wallClock(bound, repeats));
    } finally {
      bound.release();
    }
  } finally {
    for (const buffer of own) buffer.free();
  }
}

async function wallClock(bound: BoundProgram, repeats: number): Promise<number> {
  await bound.run();
  const start = performance.now();
  for (let n = 1; n < repeats; n++) void bound.run().catch(() => undefined);
  // Runs end in order, and one that fails leaves the device in no state to do the last.
  await bound.run();
  return (performance.now() - start) / repeats;
}
