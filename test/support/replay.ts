/**
 * Runs a plan on symbols: every word of every buffer holds the name of the value that was last written to it, and each
 * launch has to find the values that its node of the tree speaks of. Knows leaves, nodes and problems, and nothing of how
 * buffers were assigned or laid out.
 */

import { concat, elementOfLayout, type Layout } from '../../src/layout/index.ts';
import type { Launch } from '../../src/plan/launch/launches.ts';
import type { DirectionPlan } from '../../src/plan/planner.ts';
import type { Leaf, LeafSide, SideFormat } from '../../src/plan/tree/leaf.ts';
import type { Dimension, DimensionStride, LeafNode } from '../../src/plan/tree/node.ts';
import type { Problem } from '../../src/problem/index.ts';

type Name = Launch['from'];
type Where = 'input' | 'output';

/** Thrown where what is replayed reads too little to be told from others. */
export class Undecided extends Error {}

/** One memory. A word holds 0, or a number for (step, place in the tensor, real or imaginary part). */
interface Memory {
  readonly words: Int32Array;
  /** Words between the real and the imaginary parts, where they are two planes. */
  readonly plane: number;
  /** 1 for words that belong to elements, of a buffer of the user; all others may be written anywhere. */
  readonly own?: Uint8Array;
}

/**
 * @param throughWork the plan is one for callers that bring a `work` buffer.
 * @throws Undecided where a transform of zeros has nothing to be known by
 * @throws Error that says which launch reads what it must not read, or writes where it must not write.
 */
export function replay(plan: DirectionPlan, problem: Problem, throughWork: boolean): void {
  new Replay(plan, problem, throughWork).run();
}

class Replay {
  private readonly plan: DirectionPlan;
  private readonly problem: Problem;
  /** Counts along the dimensions: as the user has them; and at most, for convolutions lengthen an axis between their launches. */
  private readonly shape: readonly number[];
  private readonly widest: readonly number[];
  private readonly elements: number;
  /** The places of the user's elements, and for both buffers where these are and which of them count as zeros. */
  private readonly places: readonly number[];
  private readonly ends: Readonly<Record<Where, { readonly addresses: number[]; readonly zeros: boolean[] }>>;
  /** Strides of the widest tensor when it is packed: what the number of an element counts. */
  private readonly packed: readonly number[];
  private readonly memories = new Map<Name, Memory>();
  private readonly launches: ReplayedLaunch[];
  /** After each step the elements that it has written; after none, those of the user that are no zeros. */
  private readonly arrived: Uint8Array[];

  constructor(plan: DirectionPlan, problem: Problem, throughWork: boolean) {
    this.plan = plan;
    this.problem = problem;
    this.shape = [problem.leftBatches, ...problem.size, problem.coordinates, problem.batches];
    const lengths = plan.launches.flatMap(({ node }) => [node.length, node.outputLength]);
    // A launch that convolves by itself has the longer axis nowhere but in the line that it reads, behind which zeros follow.
    const lines = plan.launches.flatMap(({ node }) => [...node.lines.input, ...node.lines.output]);
    this.widest = this.shape.map((count, d) => {
      const ends = lines.filter(({ dimension }) => dimension === d).map(({ line }) => line.shape[0]!);
      return Math.max(count, ...ends, ...lengths.map((length) => length[d]!));
    });
    this.elements = this.widest.reduce((a, b) => a * b, 1);
    this.packed = this.widest.map((_, d) => this.widest.slice(0, d).reduce((a, b) => a * b, 1));
    this.places = Array.from({ length: this.elements }, (_, place) => place).filter((place) =>
      this.coordinatesOf(place).every((at, d) => at < this.shape[d]!),
    );
    const end = (where: Where) => ({
      addresses: this.places.map((place) => this.addressOf(where, place)),
      zeros: this.places.map((place) => this.isInBlock(where, place)),
    });
    this.ends = { input: end('input'), output: end('output') };
    this.memories.set('input', this.userMemory('input'));
    const inPlace = problem.placement === 'in-place';
    this.memories.set('output', inPlace ? this.memories.get('input')! : this.userMemory('output'));
    if (throughWork) this.memories.set('work', scratch(this.places.length));
    const temps = (['temp', 'temp2'] as const).slice(0, plan.assignment.temps);
    for (const name of temps) this.memories.set(name, scratch(plan.tempElements));
    this.arrived = [...plan.launches, undefined].map(() => new Uint8Array(this.elements));
    this.launches = plan.launches.map((launch, step) => new ReplayedLaunch(this.forbid(launch, step), step, this));
  }

  run(): void {
    const { chunks, interleaved, launches } = this.plan;
    this.fill();
    const ahead = interleaved?.ahead ?? 0;
    const last = launches.length - 1;
    // One chunk goes through all launches after another; or the first launch is so many chunks ahead.
    for (let chunk = -ahead; chunk < chunks; chunk++) {
      const begun = chunk === -ahead ? 0 : chunk + ahead;
      for (let early = begun; early <= chunk + ahead && early < chunks; early++) this.launches[0]!.run(early, chunks);
      for (let n = 1; n <= last && chunk >= 0; n++) this.launches[n]!.run(chunk, chunks);
    }
    for (const launch of this.launches) launch.finish();
    const { words, plane } = this.memories.get('output')!;
    const layout = this.problem.layout[this.sideOf('output')];
    const { addresses, zeros } = this.ends.output;
    for (const [n, place] of this.places.entries()) {
      const spared = zeros[n]!;
      if (spared !== this.isMissing(launches.length, place)) throw new Error(`element ${place} is written wrongly`);
      for (const part of [0, 1] as const) {
        const found = words[wordOf(addresses[n]!, part, layout, plane)]!;
        const wanted = this.tag(launches.length, place, part);
        const untouched = found === 0 || this.placeIn(found).step === 0;
        if (spared ? !untouched : found !== wanted)
          throw new Error(`the output holds ${this.say(found)}, not ${spared ? 'what it did' : this.say(wanted)}`);
      }
    }
  }

  memory(name: Name): Memory {
    const memory = this.memories.get(name);
    if (!memory) throw new Error(`there is no ${name}`);
    return memory;
  }

  /** Notes that a step has written an element. */
  arrive(step: number, place: number): void {
    this.arrived[step]![place] = 1;
  }

  /** Whether an element counts as zero after a step, because nobody wrote it. */
  isMissing(step: number, place: number): boolean {
    return this.arrived[step]![place] === 0;
  }

  /** The number of the element that steps along dimensions lead to. */
  placeOf({ dimension, stride: step }: DimensionStride): number {
    return this.packed[dimension]! * step;
  }

  tag(step: number, place: number, part: 0 | 1): number {
    return 1 + (step * this.elements + place) * 2 + part;
  }

  /** The step and the place that a tag is of. */
  placeIn(tag: number): { readonly step: number; readonly place: number } {
    const value = (tag - 1) >> 1;
    return { step: Math.floor(value / this.elements), place: value % this.elements };
  }

  say(tag: number): string {
    if (tag === 0) return 'nothing';
    const { step, place } = this.placeIn(tag);
    return `${(tag - 1) % 2 ? 'im' : 're'} of element ${place} after ${step} steps`;
  }

  /** Looks for what no launch of this plan may do, wherever its elements lie. */
  private forbid(launch: Launch, step: number): Launch {
    const { from, to, leaf } = launch;
    const { placement, preserveInput } = this.problem;
    const fault = (what: string): never => {
      throw new Error(`launch ${step} (${from} → ${to}) ${what}`);
    };
    const separate = placement === 'out-of-place';
    if (to === 'input' && separate && preserveInput) fault('writes the input, which is to be preserved');
    const last = step === this.plan.launches.length - 1;
    if (this.memories.has('work') && (to === 'input' || (to === 'output' && !last))) fault('does not use work');
    if (this.memory(from) === this.memory(to) && !leaf.aliased) fault('does not know that it works in place');
    if (launch.node !== this.plan.assignment.steps[step]!.leaf) fault('is not of the node that was assigned');
    return launch;
  }

  private sideOf(where: Where): Where {
    const forward = this.plan.direction === 'forward';
    return (where === 'input') === forward ? 'input' : 'output';
  }

  private coordinatesOf(place: number): number[] {
    return this.widest.map((count, d) => Math.floor(place / this.packed[d]!) % count);
  }

  private addressOf(where: Where, place: number): number {
    const side = this.sideOf(where);
    const strides = this.problem.strides[side];
    return this.coordinatesOf(place).reduce((address, i, d) => address + i * strides[d]!, this.problem.offsets[side]);
  }

  /** Whether an element lies in one of the user's blocks of zeros. */
  private isInBlock(where: Where, place: number): boolean {
    const { space, frequency } = this.problem.zeroPadding;
    const axes = this.coordinatesOf(place).slice(1);
    return (this.sideOf(where) === 'input' ? space : frequency).some(
      (block, axis) => block !== null && axes[axis]! >= block.from && axes[axis]! < block.to,
    );
  }

  private userMemory(where: Where): Memory {
    const layout = this.problem.layout[this.sideOf(where)];
    const { addresses } = this.ends[where];
    const plane = Math.max(...addresses) + 1;
    const own = new Uint8Array(2 * plane);
    for (const at of addresses) for (const part of [0, 1] as const) own[wordOf(at, part, layout, plane)] = 1;
    return { words: new Int32Array(2 * plane), plane, own };
  }

  /** The user's data: what no step has written. */
  private fill(): void {
    const { words, plane } = this.memories.get('input')!;
    const layout = this.problem.layout[this.sideOf('input')];
    const { addresses, zeros } = this.ends.input;
    this.places.forEach((place, n) => {
      for (const part of [0, 1] as const) words[wordOf(addresses[n]!, part, layout, plane)] = this.tag(0, place, part);
      if (!zeros[n]) this.arrive(0, place);
    });
  }
}

/** A transform of the node: where its first point lies in the tensor before and after, and what twiddles count. */
interface Transform {
  readonly input: number;
  readonly output: number;
  readonly number: number;
}

class ReplayedLaunch {
  private readonly launch: Launch;
  private readonly step: number;
  private readonly all: Replay;
  /** Transforms that no group has taken yet, by the place of their first point. */
  private readonly waiting = new Map<number, Transform>();
  /** For each word one more than the transform that has read it, and 1 where it was written: within a launch there is no order. */
  private readonly readers: Int32Array;
  private readonly written: Uint8Array;
  private readonly points: Readonly<Record<Where, readonly Point[]>>;
  private readonly title: string;
  /** What it reads and what it writes are one memory. */
  private readonly inPlace: boolean;

  constructor(launch: Launch, step: number, all: Replay) {
    this.launch = launch;
    this.step = step;
    this.all = all;
    const { node, leaf, from, to } = launch;
    this.title = `launch ${step} (${node.title}, ${from} → ${to})`;
    this.points = { input: pointsOf(leaf, node, 'input', all), output: pointsOf(leaf, node, 'output', all) };
    for (const [input, output, number] of walksOf(node.batch, all)) this.waiting.set(input, { input, output, number });
    this.inPlace = all.memory(from) === all.memory(to);
    this.readers = new Int32Array(all.memory(from).words.length);
    this.written = new Uint8Array(all.memory(to).words.length);
    const twiddle = ({ order, on, axis = 0 }: NonNullable<Leaf['twiddle']>) => `${order} on ${on} of ${axis}`;
    const [own, wanted] = [leaf.twiddle && twiddle(leaf.twiddle), node.twiddle && twiddle(node.twiddle)];
    if (own !== wanted) this.fault(`has twiddles ${own}, not ${wanted}`);
  }

  /** The groups of one of so many chunks. */
  run(chunk: number, chunks: number): void {
    const { batch, tile } = this.launch.leaf;
    const [first = 1, ...outer] = batch;
    const tiles = Math.ceil(first / tile);
    const groups = outer.reduce((a, b) => a * b, tiles);
    if (groups % chunks !== 0) this.fault(`has ${groups} groups for ${chunks} chunks`);
    for (let group = (groups / chunks) * chunk; group < (groups / chunks) * (chunk + 1); group++) {
      const at = digitsOf(group, [tiles, ...outer]);
      const begin = at[0]! * tile;
      for (let column = begin; column < Math.min(begin + tile, first); column++) {
        this.transform([column, ...at.slice(1)]);
      }
    }
  }

  finish(): void {
    if (this.waiting.size > 0) this.fault(`leaves out ${this.waiting.size} transforms`);
  }

  private transform(at: readonly number[]): void {
    const { leaf } = this.launch;
    const input = this.side('input', at);
    const output = this.side('output', at);
    const first = this.points.input.find((point) => !input.isAbsent(point)) ?? this.points.input[0]!;
    // A transform of nothing but zeros reads nothing that would tell where it belongs.
    if (input.isAbsent(first)) throw new Undecided();
    const found = this.all.placeIn(input.memory.words[input.word(first, 0)]!);
    const own = this.waiting.get(found.place - first.place);
    if (!own) return this.fault(`begins a transform with element ${found.place}, and none is to begin there`);
    this.waiting.delete(own.input);
    if (leaf.twiddle && at[leaf.twiddle.along ?? 0] !== own.number) {
      this.fault(`multiplies transform ${own.number} by the twiddles of ${at[leaf.twiddle.along ?? 0]}`);
    }
    for (const point of this.points.input) {
      const place = own.input + point.place;
      const absent = input.isAbsent(point);
      if (absent !== this.all.isMissing(this.step, place)) {
        this.fault(
          `takes element ${place} for ${absent ? 'zero, and it is not' : 'what was written, and nothing was'}`,
        );
      }
      if (absent) continue;
      for (const part of [0, 1] as const) this.read(input, point, place, part, own.input);
    }
    for (const point of this.points.output) {
      if (output.isAbsent(point)) continue;
      const place = own.output + point.place;
      for (const part of [0, 1] as const) this.write(output, point, place, part, own.input);
      this.all.arrive(this.step + 1, place);
    }
  }

  private read(side: SideOfGroup, at: Point, place: number, part: 0 | 1, transform: number): void {
    const word = side.word(at, part);
    const found = side.memory.words[word] ?? 0;
    const wanted = this.all.tag(this.step, place, part);
    if (found !== wanted) this.fault(`reads ${this.all.say(found)}, not ${this.all.say(wanted)}`);
    this.readers[word] = transform + 1;
  }

  private write(side: SideOfGroup, at: Point, place: number, part: 0 | 1, transform: number): void {
    const { memory } = side;
    const word = side.word(at, part);
    if (!(word < memory.words.length)) this.fault(`writes word ${word} of ${memory.words.length}`);
    if (memory.own && memory.own[word] === 0) this.fault(`writes word ${word}, which lies between elements`);
    if (this.written[word] === 1) this.fault(`writes word ${word} twice`);
    const reader = this.inPlace ? this.readers[word]! : 0;
    if (reader !== 0 && reader !== transform + 1) this.fault(`writes word ${word}, which others read`);
    this.written[word] = 1;
    memory.words[word] = this.all.tag(this.step + 1, place, part);
  }

  private side(where: Where, at: readonly number[]): SideOfGroup {
    const { leaf, from, to } = this.launch;
    const side: LeafSide = leaf[where];
    const memory = this.all.memory(where === 'input' ? from : to);
    const layout = naturalOrder(side.layout);
    const element = (point: Point, part: 0 | 1) => elementOfLayout(layout, [...point.at, ...at, part]);
    return {
      memory,
      word: (point, part) => {
        const { array, place } = element(point, part)!;
        return array!.endsWith('.im') ? place! + memory.plane : place!;
      },
      isAbsent: (point) => element(point, 0) === undefined,
    };
  }

  private fault(what: string): never {
    throw new Error(`${this.title} ${what}`);
  }
}

/** A layout whose points do not come in the order of powers. */
function naturalOrder(of: Layout): Layout {
  if (of.kind === 'gather') return of.of;
  return of.kind === 'concat' ? concat(of.dimension, ...of.parts.map(naturalOrder)) : of;
}

interface SideOfGroup {
  readonly memory: Memory;
  readonly word: (point: Point, part: 0 | 1) => number;
  /** Whether the leaf takes a point for zero, or leaves it as it is. */
  readonly isAbsent: (point: Point) => boolean;
}

/** A point of a transform on one side: its indices in the tile, and its place relative to the transform's. */
interface Point {
  readonly at: readonly number[];
  readonly place: number;
}

/** The points of a tile are those of the axes of its node, the slowest of which may be two digits. */
function pointsOf(leaf: Leaf, node: LeafNode, way: Where, all: Replay): Point[] {
  const axes = [...(node.more ?? [])].reverse().concat(node.axis);
  const counts = axes.map(({ count }) => count);
  const product = (values: readonly number[]) => values.reduce((a, b) => a * b, 1);
  const steps = leaf.steps.flatMap((step) => (step.do === 'passes' ? [step] : []));
  // What has its points in the order of powers moves one more by itself.
  const moved = product(leaf.lengths) + (node.convolved?.by === 'rader' ? 1 : 0);
  const read = steps[0]!.read?.count ?? moved;
  const written = steps.at(-1)!.write?.count ?? moved;
  if (read !== product(counts) || written !== product(counts)) {
    throw new Error(`${node.title} takes ${read} points and gives ${written}, of ${product(counts)}`);
  }
  return Array.from({ length: product(counts) }, (_, n): Point => {
    const at = digitsOf(n, counts);
    const place = at.reduce((sum, i, d) => sum + i * all.placeOf(axes[d]![way]), 0);
    if (leaf.coupled) {
      const [a, b] = leaf.lengths as [number, number];
      const slowest = at.shift()!;
      // Read with the second digit fastest, written with the first; or with the second again, where it was there and back.
      const straight = way === 'input' || steps.some(({ inverse }) => inverse);
      at.unshift(...(straight ? [Math.floor(slowest / b), slowest % b] : [slowest % a, Math.floor(slowest / a)]));
    }
    return { at, place };
  });
}

/** For each combination of indices the places before and after, and the index in the first dimension. */
function walksOf(dimensions: readonly Dimension[], all: Replay): [number, number, number][] {
  let walks: [number, number, number][] = [[0, 0, 0]];
  dimensions.forEach(({ count, input, output, gap }, d) => {
    const past = (i: number) => (gap && i >= gap.from ? i + gap.to - gap.from : i);
    walks = walks.flatMap(([from, to, number]) =>
      Array.from({ length: count }, (_, i): [number, number, number] => [
        from + past(i) * all.placeOf(input),
        to + past(i) * all.placeOf(output),
        d === 0 ? i : number,
      ]),
    );
  });
  return walks;
}

function scratch(elements: number): Memory {
  return { words: new Int32Array(2 * elements), plane: elements };
}

function wordOf(address: number, part: 0 | 1, layout: SideFormat, plane: number): number {
  if (layout === 'real') throw new RangeError('Reals are not replayed.');
  return layout === 'planar' ? address + part * plane : 2 * address + part;
}

/** An index as coordinates, the first dimension fastest. */
function digitsOf(index: number, counts: readonly number[]): number[] {
  return counts.map((count) => {
    const digit = index % count;
    index = Math.floor(index / count);
    return digit;
  });
}
