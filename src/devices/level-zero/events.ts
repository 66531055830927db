/** A pool of events for reuse. */
import { type Handle, type LevelZero, NOT_READY, type Purpose, TYPE } from './api.ts';

const POOL = 32;
const HOST_VISIBLE = 1;
const WITH_TIMES = 4;
/** The scope of events (`ZE_EVENT_SCOPE_FLAG_HOST`): the host sees all writes that precede a signaled event. */
const HOST_SCOPE = 4;

export class ZeEvents {
  private readonly api: LevelZero;
  private readonly context: Handle;
  private readonly pools: Handle[] = [];
  private readonly all: Handle[] = [];
  private readonly spare: Handle[] = [];
  /** Events that were returned, perhaps before they were signaled. */
  private readonly spent: Handle[] = [];
  private readonly flags: number;

  /** @param times whether the events record when their commands began and ended. */
  constructor(api: LevelZero, context: Handle, times = false) {
    this.api = api;
    this.context = context;
    this.flags = HOST_VISIBLE | (times ? WITH_TIMES : 0);
  }

  take(): Handle {
    const [oldest] = this.spent;
    if (oldest !== undefined && this.hasPassed(oldest)) {
      this.spent.shift();
      this.api.call('zeEventHostReset', undefined, oldest);
      return oldest;
    }
    if (this.spare.length === 0) this.makePool();
    return this.spare.pop()!;
  }

  give(event: Handle): void {
    this.spent.push(event);
  }

  hasPassed(event: Handle): boolean {
    const result = this.api.raw.zeEventQueryStatus(event) as number;
    if (result === NOT_READY) return false;
    if (result !== 0) this.api.call('zeEventQueryStatus', WAITING, event);
    return true;
  }

  /** Destroys all events. Nothing may be waiting for one. */
  release(): void {
    for (const event of this.all.splice(0)) this.api.raw.zeEventDestroy(event);
    for (const pool of this.pools.splice(0)) this.api.raw.zeEventPoolDestroy(pool);
  }

  private makePool(): void {
    const { api } = this;
    const requested = api.struct(TYPE.eventPool, undefined, this.flags, POOL);
    const pool = api.make('zeEventPoolCreate', undefined, this.context, requested, 0, null);
    this.pools.push(pool);
    for (let n = 0; n < POOL; n++) {
      const event = api.make(
        'zeEventCreate',
        undefined,
        pool,
        api.struct(TYPE.event, undefined, n, HOST_SCOPE, HOST_SCOPE),
      );
      this.all.push(event);
      this.spare.push(event);
    }
  }
}

export const WAITING: Purpose = { what: 'Waiting for the device' };
