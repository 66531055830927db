/** Partitions of one length of a streaming convolver: spectra of past blocks times spectra of the response, added up. */
import type { Device, Plan } from '../../engine/index.ts';
import { floatZeros } from '../../numpy/arrays/array.ts';
import type { FloatPrecision, Floats } from '../arguments/floats.ts';
import { type WorkMemory, workOn } from '../calls/work.ts';
import { BinProducts } from './bin-products.ts';
import { isDue, type PartitionLevel, productCost, transformCost } from './partition-layout.ts';

/** A route from an input channel to an output channel, through a row of the response. */
export interface Route {
  readonly input: number;
  readonly output: number;
  readonly row: number;
}

export interface LevelSpec {
  readonly level: PartitionLevel;
  /** Samples of a block of the stream. */
  readonly block: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly rows: number;
  /** Routes, ordered so that those to the same output are adjacent. */
  readonly routes: readonly Route[];
  readonly precision: FloatPrecision;
}

/** The number of steps in which a response is exchanged; each step adds a share of 1/GROUPS to the cost of the products. */
const GROUPS = 4;
/** The least number of samples over which a step fades. */
const FADE = 1024;

/**
 * Tasks of a level. A frame of an input is transformed into a spectrum; its products with spectra of the response are added up; the sum is
 * transformed into samples. While responses are exchanged, the difference between the new and the old response is treated likewise.
 */
type TaskKind = 'transform' | 'products' | 'inverse' | 'change';

interface Task {
  readonly kind: TaskKind;
  /** The input or the output that the task works on. */
  readonly channel: number;
  readonly row: number;
  /** The first of the one or two partitions that the task multiplies. */
  readonly partition: number;
  /** Whether the task is the first of its output. */
  readonly first: boolean;
}

/** The state of an exchange: partitions before `switched` are new, partitions from there to `end` fade. */
interface Exchange {
  switched: number;
  end: number;
  step: number;
}

/**
 * A level's contribution to the output. The work on a block of the level's length is divided into tasks, which `advance` distributes over the calls
 * until the next such block is complete. Calls allocate nothing.
 */
export class ConvolverLevel {
  private readonly spec: LevelSpec;
  private readonly plan: Plan;
  private readonly wave: WorkMemory;
  private readonly spectrum: WorkMemory;
  /** Reals in a spectrum. */
  private readonly width: number;
  private readonly calls: number;
  /** The previous and the present block of each input. */
  private readonly history: readonly Floats[];
  /** The two blocks of each input that the tasks transform. */
  private readonly frames: readonly Floats[];
  /** Spectra of each input's past frames, as many as there are partitions; the newest is at `newest`. */
  private readonly past: readonly Floats[];
  private newest = 0;
  /** The products that hold the spectra instead, where one call does all tasks. */
  private readonly atOnce: BinProducts | undefined;
  /** Spectra of the response, row by row; `coming` has those of a new response. */
  private response: readonly Floats[];
  private coming: readonly Floats[] | undefined;
  private exchange: Exchange | undefined;
  /** Whether an exchange begins with the next block. */
  private isWanted = false;
  /** Whether the last step of an exchange is still audible. */
  private isSettling = false;
  private readonly sum: Floats;
  private readonly change: Floats;
  private ready: readonly Floats[];
  private next: readonly Floats[];
  private filled = 0;
  private readonly tasks: readonly Task[];
  private task: number;
  private done = 0;
  private cost = 0;

  constructor(device: Device, plan: Plan, spec: LevelSpec) {
    const { level, inputs, outputs, rows, routes, precision } = spec;
    const { size, count } = level;
    this.spec = spec;
    this.plan = plan;
    this.width = 2 * (size + 1);
    this.calls = size / spec.block;
    const arrays = (many: number, length: number) =>
      Array.from({ length: many }, () => floatZeros(length, precision === 'single'));
    this.history = arrays(inputs, 2 * size);
    this.frames = this.calls === 1 ? this.history : arrays(inputs, 2 * size);
    if (this.calls === 1) this.atOnce = new BinProducts({ bins: size + 1, count, inputs, rows, precision });
    this.past = arrays(this.atOnce ? 0 : inputs, count * this.width);
    this.response = arrays(this.atOnce ? 0 : rows, count * this.width);
    [this.sum, this.change] = arrays(2, this.width) as [Floats, Floats];
    this.ready = arrays(outputs, size);
    this.next = arrays(outputs, size);
    this.tasks = tasksOf(routes, inputs, count);
    this.task = this.tasks.length;
    this.wave = workOn(device, 2 * size, precision);
    this.spectrum = workOn(device, this.width, precision);
  }

  get partitions(): number {
    return this.spec.level.count;
  }

  /** The cost of transforming one partition of a response. */
  get preparationCost(): number {
    return transformCost(this.spec.level.size);
  }

  /** The mean cost of a call. */
  get meanCost(): number {
    return this.costOfAll() / this.calls;
  }

  /** Makes the spectrum of one partition of a row: at once, or of the response that comes. */
  prepare(row: number, partition: number, samples: Floats, isComing: boolean): void {
    const { size, offset } = this.spec.level;
    const wave = this.wave.array();
    const start = offset + partition * size;
    const scale = 1 / (2 * size);
    wave.fill(0);
    for (let k = 0; k < size && start + k < samples.length; k++) wave[k] = samples[start + k]! * scale;
    this.plan.forwardSync(wave, this.spectrum.array());
    const spectrum = this.spectrum.array();
    if (this.atOnce) return this.atOnce.prepare(row, partition, spectrum, isComing);
    if (isComing)
      this.coming ??= this.response.map(({ length }) => floatZeros(length, this.spec.precision === 'single'));
    (isComing ? this.coming! : this.response)[row]!.set(spectrum, partition * this.width);
  }

  /** Begins to exchange the response for the one that has been prepared. */
  startExchange(): void {
    this.isWanted = true;
  }

  get isExchanging(): boolean {
    return this.isWanted || this.isSettling || this.exchange !== undefined;
  }

  /** Forgets the past of the signal. */
  reset(): void {
    for (const array of [...this.history, ...this.frames, ...this.past, ...this.ready, ...this.next]) array.fill(0);
    this.atOnce?.reset();
    this.filled = 0;
    this.task = this.tasks.length;
  }

  /** Takes a block of one input; a missing one is silence. */
  take(input: number, samples: Floats | undefined): void {
    const { block, level } = this.spec;
    const history = this.history[input]!;
    const at = level.size + this.filled;
    if (samples) history.set(samples, at);
    else history.fill(0, at, at + block);
  }

  /** Does this call's share of the work. */
  advance(): void {
    if (this.atOnce) {
      this.begin();
      this.runAtOnce(this.atOnce);
      return;
    }
    this.runTasks(this.filled / this.spec.block);
  }

  /** Adds a block to an output. */
  addTo(output: number, target: Floats): void {
    const { block } = this.spec;
    const source = (this.calls === 1 ? this.next : this.ready)[output]!;
    const at = this.calls === 1 ? 0 : this.filled;
    for (let k = 0; k < block; k++) target[k]! += source[at + k]!;
  }

  /** Moves on to the next block; at the end of a block of the level's length its tasks are complete, and new ones begin. */
  step(): void {
    const { block, level, inputs } = this.spec;
    this.filled += block;
    if (this.filled < level.size) return;
    this.filled = 0;
    if (this.calls > 1) {
      [this.ready, this.next] = [this.next, this.ready];
      for (let input = 0; input < inputs; input++) this.frames[input]!.set(this.history[input]!);
      this.begin();
    }
    for (const history of this.history) history.copyWithin(0, level.size);
  }

  free(): void {
    this.wave.free();
    this.spectrum.free();
    this.plan.destroy();
  }

  private begin(): void {
    if (this.isWanted) this.exchange = { switched: 0, end: this.groupEnd(0), step: 0 };
    this.isWanted = this.isSettling = false;
    if (this.exchange) this.fadeFurther(this.exchange);
    if (this.atOnce) this.atOnce.begin();
    else this.newest = (this.newest + 1) % this.spec.level.count;
    this.task = this.done = 0;
    // A single call does everything, whatever it costs.
    if (this.calls > 1) this.cost = this.costOfAll();
  }

  /** Completes the previous step of the exchange, if there was one. */
  private fadeFurther(exchange: Exchange): void {
    if (++exchange.step <= this.steps) return;
    exchange.switched = exchange.end;
    exchange.end = this.groupEnd(exchange.switched);
    exchange.step = 1;
    if (exchange.switched < this.spec.level.count) return;
    if (this.atOnce) this.atOnce.exchange();
    else [this.response, this.coming] = [this.coming!, this.response];
    this.exchange = undefined;
    this.isSettling = this.calls > 1;
  }

  private get steps(): number {
    return Math.ceil(FADE / this.spec.level.size);
  }

  /** The end of the partitions that fade together: an even number of partitions, because a task takes two. */
  private groupEnd(from: number): number {
    const { count } = this.spec.level;
    return Math.min(count, from + 2 * Math.ceil(count / GROUPS / 2));
  }

  private costOfAll(): number {
    let cost = 0;
    for (const task of this.tasks) cost += this.costOf(task);
    return cost;
  }

  private costOf({ kind, partition }: Task): number {
    const { size, count } = this.spec.level;
    if (kind === 'products') {
      return productCost(size, Math.min(2, count - partition)) * (this.isFading(partition) ? 2 : 1);
    }
    return kind === 'change' && !this.exchange ? 0 : transformCost(size);
  }

  private isFading(partition: number): boolean {
    const { exchange } = this;
    return exchange !== undefined && partition >= exchange.switched && partition < exchange.end;
  }

  private runTasks(call: number): void {
    while (this.task < this.tasks.length) {
      const task = this.tasks[this.task]!;
      const cost = this.costOf(task);
      if (!isDue(this.done, cost, this.cost, call, this.calls)) return;
      this.done += cost;
      this.task++;
      this.run(task);
    }
  }

  private run(task: Task): void {
    switch (task.kind) {
      case 'transform':
        return this.transform(task.channel);
      case 'products':
        return this.addProducts(task);
      case 'inverse':
        return this.output(task.channel);
      default:
        if (this.exchange) this.fadeIn(this.next[task.channel]!, this.exchange.step);
    }
  }

  /** Does all tasks of a block in one call, without distributing them. */
  private runAtOnce(products: BinProducts): void {
    const { exchange, sum, change } = this;
    const { inputs, routes, level } = this.spec;
    for (let input = 0; input < inputs; input++) this.transform(input);
    for (let k = 0; k < routes.length; k++) {
      const { input, output, row } = routes[k]!;
      if (routes[k - 1]?.output !== output) {
        sum.fill(0);
        change.fill(0);
      }
      if (exchange) {
        const { switched, end } = exchange;
        products.add(sum, input, row, 0, switched, true);
        products.add(sum, input, row, switched, level.count, false);
        products.add(change, input, row, switched, end, true);
        products.add(change, input, row, switched, end, false, -1);
      } else products.add(sum, input, row, 0, level.count, false);
      if (routes[k + 1]?.output === output) continue;
      this.output(output);
      if (exchange) this.fadeIn(this.next[output]!, exchange.step);
    }
  }

  private transform(input: number): void {
    const [wave, spectrum] = [this.wave.array(), this.spectrum.array()];
    wave.set(this.frames[input]!);
    this.plan.forwardSync(wave, spectrum);
    if (this.atOnce) this.atOnce.take(input, spectrum);
    else this.past[input]!.set(spectrum, this.newest * this.width);
  }

  /** Transforms an output's sum of products into samples. */
  private output(output: number): void {
    this.invert(this.sum);
    const { size } = this.spec.level;
    const [wave, target] = [this.wave.array(), this.next[output]!];
    // A loop, because a view would allocate an object for each call.
    for (let k = 0; k < size; k++) target[k] = wave[size + k]!;
  }

  private addProducts({ channel, row, partition, first }: Task): void {
    const { width, exchange, sum, change, newest } = this;
    const { count } = this.spec.level;
    if (first) {
      sum.fill(0);
      if (exchange) change.fill(0);
    }
    const x = this.past[channel]!;
    const isNew = exchange !== undefined && partition < exchange.switched;
    const h = (isNew ? this.coming! : this.response)[row]!;
    const [a, b] = [(newest - partition + count) % count, (newest - partition - 1 + 2 * count) % count];
    if (this.isFading(partition)) {
      const coming = this.coming![row]!;
      for (let p = partition; p < Math.min(partition + 2, count); p++) {
        addChange(sum, change, x, (p === partition ? a : b) * width, h, coming, p * width);
      }
    } else if (partition + 1 < count) addTwo(sum, x, a * width, b * width, h, partition * width);
    else addOne(sum, x, a * width, h, partition * width);
  }

  private invert(spectrum: Floats): void {
    this.spectrum.array().set(spectrum);
    this.plan.inverseSync(this.spectrum.array(), this.wave.array());
  }

  /** Adds the change, which grows over the block. @param step from 1 on */
  private fadeIn(target: Floats, step: number): void {
    const { size } = this.spec.level;
    this.invert(this.change);
    const wave = this.wave.array();
    const length = size * this.steps;
    for (let k = 0; k < size; k++) target[k]! += (wave[size + k]! * ((step - 1) * size + k)) / length;
  }
}

function tasksOf(routes: readonly Route[], inputs: number, count: number): Task[] {
  const none = { row: 0, partition: 0, first: false };
  const tasks: Task[] = Array.from({ length: inputs }, (_, channel) => ({ ...none, kind: 'transform', channel }));
  for (const [k, { input, output, row }] of routes.entries()) {
    const isFirst = routes[k - 1]?.output !== output;
    for (let partition = 0; partition < count; partition += 2) {
      tasks.push({ kind: 'products', channel: input, row, partition, first: isFirst && partition === 0 });
    }
    if (routes[k + 1]?.output === output) continue;
    for (const kind of ['inverse', 'change'] as const) tasks.push({ ...none, kind, channel: output });
  }
  return tasks;
}

/** sum += x · h. */
function addOne(sum: Floats, x: Floats, at: number, h: Floats, from: number): void {
  for (let k = 0; k < sum.length; k += 2) {
    const a = x[at + k]!;
    const b = x[at + k + 1]!;
    const c = h[from + k]!;
    const d = h[from + k + 1]!;
    sum[k]! += a * c - b * d;
    sum[k + 1]! += a * d + b * c;
  }
}

/** sum += x · h for two spectra at once, which are adjacent in the response: the sum is read and written half as often. */
function addTwo(sum: Floats, x: Floats, first: number, second: number, h: Floats, from: number): void {
  const width = sum.length;
  for (let k = 0; k < width; k += 2) {
    const a = x[first + k]!;
    const b = x[first + k + 1]!;
    const c = h[from + k]!;
    const d = h[from + k + 1]!;
    const e = x[second + k]!;
    const f = x[second + k + 1]!;
    const p = h[from + width + k]!;
    const q = h[from + width + k + 1]!;
    sum[k]! += a * c - b * d + (e * p - f * q);
    sum[k + 1]! += a * d + b * c + (e * q + f * p);
  }
}

/** sum += x · h, change += x · (coming − h). */
function addChange(sum: Floats, change: Floats, x: Floats, at: number, h: Floats, coming: Floats, from: number): void {
  for (let k = 0; k < sum.length; k += 2) {
    const a = x[at + k]!;
    const b = x[at + k + 1]!;
    const c = h[from + k]!;
    const d = h[from + k + 1]!;
    const p = coming[from + k]! - c;
    const q = coming[from + k + 1]! - d;
    sum[k]! += a * c - b * d;
    sum[k + 1]! += a * d + b * c;
    change[k]! += a * p - b * q;
    change[k + 1]! += a * q + b * p;
  }
}
