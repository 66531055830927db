/**
 * Device memory that stands in for host arrays. It is allocated by the first call that needs it and kept as long as the plan.
 */
import type { Backend, Binding, DeviceBuffer, RealArray } from '../../devices/device.ts';
import type { Part, SideFacts } from '../arguments/arguments.ts';

/** A host array and the device memory that stands in for it. */
export interface Copy {
  host: RealArray;
  readonly device: Binding;
  /** The stand-in as an array, if host code can see device memory. */
  readonly view: RealArray | undefined;
  /** Whether the device stores each double as two singles. */
  readonly pairs: boolean;
}

/** One array or plane: its place on the device, and the copy between it and a host array, if there is one. */
export interface PlacedPart {
  readonly device: Binding;
  readonly copy: Copy | undefined;
  /** The caller's own object, for comparison with the next call. */
  given: unknown;
}

interface StandIn {
  readonly device: Binding;
  readonly view: RealArray | undefined;
}

export class Staging {
  private readonly backend: Backend;
  private readonly facts: SideFacts;
  private readonly standIns: (StandIn | undefined)[] = [];

  constructor(backend: Backend, facts: SideFacts) {
    this.backend = backend;
    this.facts = facts;
  }

  /** The place of each part on the device, where host arrays get a stand-in. @throws FftError `out-of-memory` */
  place(parts: readonly Part[]): PlacedPart[] {
    return parts.map(({ device, host, given }, n) => {
      if (device) return { device, copy: undefined, given };
      let standIn = this.standIns[n];
      // A stand-in is freed already if its allocation has failed later, on the device.
      if (!standIn || standIn.device.buffer.freed) standIn = this.standIns[n] = this.allocate();
      return { device: standIn.device, copy: { host: host!, ...standIn, pairs: this.facts.pairs }, given };
    });
  }

  release(): void {
    for (const standIn of this.standIns.splice(0)) standIn?.device.buffer.free();
  }

  private allocate(): StandIn {
    const { length, bytes, pairs, type } = this.facts;
    const buffer: DeviceBuffer = this.backend.allocate(length * bytes);
    return { device: { buffer, byteOffset: 0 }, view: pairs ? undefined : buffer.view?.(type).subarray(0, length) };
  }
}
