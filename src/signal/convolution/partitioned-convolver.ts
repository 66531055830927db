/**
 * Convolution of a stream with a long impulse response, such as the reverberation of a room, block by block and without delay, by partitions whose
 * spectra are kept.
 */
import { dispose } from '../../engine/arguments/memory.ts';
import { isDevice, readOptions } from '../../engine/arguments/options.ts';
import type { Device, Plan } from '../../engine/index.ts';
import { provideGroups } from '../../engine/lazy/lazy-modules.ts';
import { streamsAtOnce } from '../../engine/lazy/lazy-tables.ts';
import { FftError } from '../../problem/errors.ts';
import { type ChannelsInput, soundChannels } from '../arguments/channel-rows.ts';
import { check, checkInteger, checkWord } from '../arguments/check.ts';
import { type FloatPrecision, type Floats, isFloats } from '../arguments/floats.ts';
import { ConvolverLevel, type Route } from './convolver-level.ts';
import { nonUniformLevels, type PartitionLevel, uniformLevels } from './partition-layout.ts';

export interface PartitionedConvolverOptions {
  /** Device for the transforms: a CPU device, from `openCpuSync` or `openDevice`, or a GPU that can be waited for. It stays open. */
  readonly device: Device;
  /**
   * Impulse response: one row for all channels, one row for each channel, or channels² rows, first those from the first input to each output, then
   * those from the second input, and so on. It must stay as it is until the constructor returns.
   */
  readonly response: ChannelsInput;
  /** Number of channels of input and of output; default 1. */
  readonly channels?: number | undefined;
  /** Samples of a block of input and of output; default 128, as in an AudioWorklet. */
  readonly blockSize?: number | undefined;
  /**
   * Partitioning: all partitions as long as a block (`uniform`), or later ones longer, which takes a fraction of the time (`non-uniform`, the
   * default).
   */
  readonly partition?: 'uniform' | 'non-uniform' | undefined;
  /** Samples of the longest response that `setResponse` will get; default the length of `response`. */
  readonly maxLength?: number | undefined;
  /** Precision of the arithmetic and of the blocks; default `single`. */
  readonly precision?: FloatPrecision | undefined;
  /** Text from `serialize()` of a convolver with the same options on the same kind of device: planning is skipped. */
  readonly from?: string | undefined;
}

const WORKS = ['device', 'response', 'channels', 'blockSize', 'partition', 'maxLength', 'precision', 'from'];

/** The share of a call's mean time that the preparation of another response may take. */
const PREPARING = 0.25;
/** The most channels of input: as many as the Web Audio API has. */
const MOST_CHANNELS = 32;

/** A response that is being prepared, and the progress of its preparation. */
interface Preparation {
  readonly rows: readonly Floats[];
  level: number;
  row: number;
  partition: number;
}

/**
 * Convolves a stream, block by block: each block of output is there with its block of input. Work on longer partitions is spread over the blocks
 * until their result is due, so that no call takes much longer than others. Calls allocate nothing.
 */
export class PartitionedConvolver {
  /** Samples of a block. */
  readonly blockSize: number;
  readonly channels: number;
  readonly precision: FloatPrecision;
  /** Samples of the longest response that fits. */
  readonly maxLength: number;
  /** The partitions of the response. */
  readonly partitions: readonly PartitionLevel[];
  private readonly levels: ConvolverLevel[] = [];
  private readonly plans: Plan[] = [];
  private readonly rows: number;
  private readonly singles: readonly [unknown[], unknown[]] = [[undefined], [undefined]];
  private readonly allowance: number;
  private preparation: Preparation | undefined;
  private waiting: readonly Floats[] | undefined;
  private saved = 0;
  private destroyed = false;

  /**
   * @throws FftError `invalid-argument` for options out of range or a response with another number of rows, `unknown-field`, `wrong-length`
   *   for rows of different lengths, `invalid-saved-plan`, `detached-array`, `out-of-memory`, and the errors of `device.planSync`
   */
  constructor(options: PartitionedConvolverOptions) {
    const own = readOptions(options ?? {}, { works: WORKS }, 'PartitionedConvolver', 1);
    const { device, channels = 1, blockSize = 128, precision = 'single', partition = 'non-uniform' } = own;
    check('device', device, isDevice(device), 'an open device, as openCpuSync() or openDevice() gives it');
    this.channels = checkInteger('channels', channels, 1, MOST_CHANNELS);
    this.blockSize = checkInteger('blockSize', blockSize, 1, 2 ** 20);
    this.precision = checkWord<FloatPrecision>('precision', precision, ['single', 'double']);
    checkWord('partition', partition, ['uniform', 'non-uniform']);
    const rows = soundChannels(own.response, 'response');
    this.rows = rows.length;
    const routes = routesOf(this.checkRows(rows).length, channels);
    const { length } = rows[0]!;
    this.maxLength = checkInteger('maxLength', own.maxLength ?? Math.max(1, length), Math.max(1, length));
    const counts = { inputs: channels, outputs: channels, routes: routes.length };
    const saved = own.from === undefined ? undefined : readSaved(own.from);
    this.partitions =
      partition === 'uniform'
        ? uniformLevels(this.maxLength, blockSize)
        : nonUniformLevels(this.maxLength, blockSize, counts);
    if (saved && saved.length !== this.partitions.length) throw savedError('it is of other partitions');
    provideGroups(streamsAtOnce);
    try {
      for (const [k, level] of this.partitions.entries()) {
        const problem = { size: [2 * level.size], transform: 'r2c', precision } as const;
        const plan = device.planSync(problem, saved ? { from: saved[k]! } : {}) as Plan;
        this.plans.push(plan);
        const spec = { level, block: blockSize, inputs: channels, outputs: channels, rows: rows.length, routes };
        this.levels.push(new ConvolverLevel(device, plan, { ...spec, precision }));
      }
      this.allowance = PREPARING * this.levels.reduce((sum, { meanCost }) => sum + meanCost, 0);
      this.prepareAll(rows);
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** Whether a response given to `setResponse` is not wholly in use yet. */
  get isExchanging(): boolean {
    return (
      this.preparation !== undefined || this.waiting !== undefined || this.levels.some((level) => level.isExchanging)
    );
  }

  /**
   * Convolves a block.
   *
   * @param input `blockSize` samples of each channel; a channel that is not there is silence. One array is one channel.
   * @param output gets as many; it may be the input.
   * @returns `output`
   * @throws FftError `invalid-argument`, `wrong-length`, `detached-array`, `destroyed`, `device-closed`
   */
  process<T extends Float32Array | Float64Array | readonly (Float32Array | Float64Array)[]>(
    input: Float32Array | Float64Array | readonly (Float32Array | Float64Array)[],
    output: T,
  ): T {
    if (this.destroyed) throw new FftError('destroyed', 'This convolver has been destroyed; make another.');
    const [from, to] = [this.listOf(input, 0), this.listOf(output, 1)];
    this.checkBlocks('input', from);
    this.checkBlocks('output', to);
    if (to.length !== this.channels) {
      const message = `output has ${to.length} channels; the convolver has ${this.channels}.`;
      throw new FftError('invalid-argument', message, { path: 'output' });
    }
    this.prepareSome();
    for (const level of this.levels) for (let c = 0; c < this.channels; c++) level.take(c, from[c]);
    for (let c = 0; c < this.channels; c++) to[c]!.fill(0);
    for (const level of this.levels) {
      level.advance();
      for (let c = 0; c < this.channels; c++) level.addTo(c, to[c]!);
      level.step();
    }
    return output;
  }

  /**
   * Exchanges the impulse response while the stream goes on. It is prepared bit by bit, in a part of the time of the calls that follow, and fades
   * in, partition by partition: without a click, a gap, or a call that takes much longer. A response that is given before another one is in place
   * comes after it.
   *
   * @param response as many rows as the first one had, of at most `maxLength` samples; it must stay as it is until `isExchanging` is false
   * @throws FftError `invalid-argument`, `wrong-length`, `detached-array`, `destroyed`
   */
  setResponse(response: ChannelsInput): void {
    if (this.destroyed) throw new FftError('destroyed', 'This convolver has been destroyed; make another.');
    const rows = soundChannels(response, 'response');
    if (rows.length !== this.rows) {
      const message = `response has ${rows.length} rows; the one that it replaces has ${this.rows}.`;
      throw new FftError('invalid-argument', message, { path: 'response' });
    }
    const { length } = rows[0]!;
    const fits = `at most ${this.maxLength} samples, the maxLength of this convolver`;
    check('response', length, length <= this.maxLength, fits);
    this.waiting = rows;
  }

  /** Forgets the signal but not the response, as if silence had come before the next block. */
  reset(): void {
    for (const level of this.levels) level.reset();
  }

  /** The planning decisions as text, for `from` in another thread. @throws FftError `destroyed` */
  serialize(): string {
    return JSON.stringify(this.plans.map((plan) => plan.serialize()));
  }

  /** Gives its memory back. A second call does nothing. */
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    for (const level of this.levels) level.free();
    for (const plan of this.plans) plan.destroy();
  }

  /** `destroy`, for `using`. */
  [dispose](): void {
    this.destroy();
  }

  private checkRows(rows: readonly Floats[]): readonly Floats[] {
    const { channels } = this;
    if ([1, channels, channels ** 2].includes(rows.length)) return rows;
    const message = `response has ${rows.length} rows; for ${channels} channels it has 1, ${channels}, or ${channels ** 2}.`;
    throw new FftError('invalid-argument', message, { path: 'response' });
  }

  /** A single array as a list, without a new list for each call. */
  private listOf(given: unknown, place: 0 | 1): readonly Floats[] {
    if (Array.isArray(given)) return given;
    this.singles[place][0] = given;
    return this.singles[place] as Floats[];
  }

  private checkBlocks(path: string, blocks: readonly Floats[]): void {
    for (let c = 0; c < Math.min(blocks.length, this.channels); c++) {
      const block = blocks[c];
      if (isFloats(block) && block!.length === this.blockSize) continue;
      const found = isFloats(block) ? `${block!.length} samples` : 'something else';
      const message = `${path} takes Float32Arrays or Float64Arrays of ${this.blockSize} samples, one for each of ${this.channels} channels; ${found} came in channel ${c}.`;
      throw new FftError(isFloats(block) ? 'wrong-length' : 'invalid-argument', message, { path });
    }
  }

  private prepareAll(rows: readonly Floats[]): void {
    for (const level of this.levels) {
      rows.forEach((samples, row) => {
        for (let p = 0; p < level.partitions; p++) level.prepare(row, p, samples, false);
      });
    }
  }

  /** Spends this call's share of time on the new response. */
  private prepareSome(): void {
    if (!this.preparation) {
      if (!this.waiting || this.levels.some((level) => level.isExchanging)) return;
      this.preparation = { rows: this.waiting, level: 0, row: 0, partition: 0 };
      this.waiting = undefined;
    }
    this.saved += this.allowance;
    const { preparation } = this;
    for (let level = this.levels[preparation.level]; level; level = this.levels[preparation.level]) {
      if (this.saved < level.preparationCost) return;
      this.saved -= level.preparationCost;
      level.prepare(preparation.row, preparation.partition, preparation.rows[preparation.row]!, true);
      if (++preparation.partition < level.partitions) continue;
      preparation.partition = 0;
      if (++preparation.row < this.rows) continue;
      preparation.row = 0;
      preparation.level++;
    }
    this.preparation = undefined;
    this.saved = 0;
    for (const level of this.levels) level.startExchange();
  }
}

/** The routes of the response's rows, ordered so that those to the same output are adjacent. */
function routesOf(rows: number, channels: number): Route[] {
  if (rows > channels) {
    return Array.from({ length: rows }, (_, k) => {
      const [output, input] = [Math.floor(k / channels), k % channels];
      return { input, output, row: input * channels + output };
    });
  }
  return Array.from({ length: channels }, (_, c) => ({ input: c, output: c, row: rows === 1 ? 0 : c }));
}

function readSaved(text: string): string[] {
  let plans: unknown;
  try {
    plans = JSON.parse(text);
  } catch {
    throw savedError('it is no JSON');
  }
  if (Array.isArray(plans) && plans.every((plan) => typeof plan === 'string')) return plans;
  throw savedError('it is no list of plans');
}

function savedError(why: string): FftError {
  const message = `from is no text that serialize() of such a convolver gives: ${why}.`;
  return new FftError('invalid-saved-plan', message, { path: 'from' });
}
