/** Ranks in one process: schedules run on symbols, and random problems that several ranks share. */

import {
  type Block,
  type Copy,
  type Memory,
  memories,
  type RankSchedule,
  rankSchedule,
  type Step,
  type WorldSchedule,
} from '../../src/plan/world/index.ts';
import { tensorShape } from '../../src/problem/index.ts';
import {
  type Box,
  type BrickInput,
  bricksOfRank,
  lengthsOf,
  normalizeWorldProblem,
  type SharedTensor,
  type SideInput,
  spanOfRank,
  volumeOf,
  type WorldProblem,
  type WorldProblemInput,
} from '../../src/problem/world/index.ts';
import type { Random } from './random.ts';

/** Calls with the index of every element of a box in the whole tensor, and its place in memory. */
export function eachElement(box: Block, shape: readonly number[], take: (index: number, place: number) => void): void {
  const lengths = lengthsOf(box);
  const count = volumeOf(box);
  for (let n = 0; n < count; n++) {
    let [rest, index, place, weight] = [n, 0, box.offset, 1];
    lengths.forEach((length, d) => {
      const at = rest % length;
      rest = (rest - at) / length;
      index += (box.from[d]! + at) * weight;
      weight *= shape[d]!;
      place += at * box.strides[d]!;
    });
    take(index, place);
  }
}

type Symbols = Partial<Record<Memory, Int32Array>>;

/** Says where a schedule leaves what, or that a step reads an element from where it is not. */
export class Symbolic {
  readonly ranks: { readonly plan: RankSchedule; readonly memory: Symbols }[];
  /** Elements that went from one rank to another, and messages. */
  readonly sent = { elements: 0, messages: 0 };
  /** From whom to whom, with how many elements, message by message. */
  readonly messages: { readonly from: number; readonly to: number; readonly elements: number }[] = [];
  private readonly world: WorldSchedule;

  constructor(world: WorldSchedule) {
    this.world = world;
    this.ranks = Array.from({ length: world.ranks }, (_, rank) => {
      const plan = rankSchedule(world, rank);
      const memory: Symbols = {};
      for (const name of memories) memory[name] = new Int32Array(plan.reals[name]).fill(-1);
      return { plan, memory };
    });
    this.ranks.forEach(({ memory }, rank) => {
      for (const [name, tensor] of [
        ['input', world.input],
        ['output', world.output],
      ] as const) {
        const span = spanOfRank(tensor, rank);
        if (memory[name]!.length < span) memory[name] = new Int32Array(span).fill(-1);
      }
    });
  }

  /** Runs all steps. @returns faults in words; none where every element ends where it belongs. */
  run(direction: 'forward' | 'inverse'): string[] {
    const [source, target] = direction === 'forward' ? (['input', 'output'] as const) : (['output', 'input'] as const);
    this.fill(source);
    const faults: string[] = [];
    const count = this.ranks[0]!.plan.steps.length;
    for (let n = 0; n < count; n++) {
      const at = direction === 'forward' ? n : count - 1 - n;
      this.step(at, direction === 'inverse', faults);
    }
    this.check(target, faults);
    return faults;
  }

  private fill(side: 'input' | 'output'): void {
    const tensor = this.world[side];
    this.ranks.forEach(({ memory }, rank) => {
      for (const brick of bricksOfRank(tensor, rank)) {
        eachElement(brick, tensor.shape, (index, place) => {
          memory[side]![place] = index;
        });
      }
    });
  }

  private check(side: 'input' | 'output', faults: string[]): void {
    const tensor = this.world[side];
    this.ranks.forEach(({ memory }, rank) => {
      for (const brick of bricksOfRank(tensor, rank)) {
        eachElement(brick, tensor.shape, (index, place) => {
          if (memory[side]![place] !== index && faults.length < 5)
            faults.push(`rank ${rank} has ${memory[side]![place]} at ${place} of ${side}, where ${index} belongs`);
        });
      }
    });
  }

  private step(at: number, backwards: boolean, faults: string[]): void {
    const steps = this.ranks.map(({ plan }) => plan.steps[at]!);
    if (steps[0]!.kind === 'pass') {
      steps.forEach((step, rank) => {
        this.pass(step, rank, backwards, faults);
      });
      return;
    }
    const turned = (copies: readonly Copy[]) =>
      backwards ? copies.map(({ from, to }) => ({ from: to, to: from })) : copies;
    const exchange = (step: Step) => step as Extract<Step, { kind: 'exchange' }>;
    steps.forEach((step, rank) => {
      const { pack, unpack } = exchange(step);
      this.copy(rank, turned(backwards ? unpack : pack));
    });
    this.exchange(steps.map(exchange), backwards, faults);
    steps.forEach((step, rank) => {
      const { pack, unpack } = exchange(step);
      this.copy(rank, turned(backwards ? pack : unpack));
    });
  }

  private copy(rank: number, copies: readonly Copy[]): void {
    const { memory } = this.ranks[rank]!;
    const { shape } = this.world.input;
    for (const { from, to } of copies) {
      const read: number[] = [];
      eachElement(from, shape, (_, place) => read.push(memory[from.memory]![place]!));
      let n = 0;
      eachElement(to, shape, (_, place) => {
        memory[to.memory]![place] = read[n++]!;
      });
    }
  }

  private exchange(steps: readonly Extract<Step, { kind: 'exchange' }>[], backwards: boolean, faults: string[]): void {
    const { shape } = this.world.input;
    const streams = new Map<string, number[]>();
    steps.forEach((step, rank) => {
      for (const transfer of backwards ? step.received : step.sent) {
        const key = `${rank} ${transfer.peer} ${transfer.chunk}`;
        const stream = streams.get(key) ?? [];
        eachElement(transfer, shape, (_, place) => stream.push(this.ranks[rank]!.memory[transfer.memory]![place]!));
        streams.set(key, stream);
      }
    });
    for (const [key, stream] of streams) {
      const [rank, peer] = key.split(' ');
      if (rank === peer) continue;
      this.sent.messages++;
      this.sent.elements += stream.length;
      this.messages.push({ from: Number(rank), to: Number(peer), elements: stream.length });
    }
    steps.forEach((step, rank) => {
      for (const transfer of backwards ? step.sent : step.received) {
        const stream = streams.get(`${transfer.peer} ${rank} ${transfer.chunk}`);
        eachElement(transfer, shape, (_, place) => {
          const value = stream?.shift();
          if (value === undefined) faults.push(`rank ${rank} receives less of ${transfer.peer} than it waits for`);
          else this.ranks[rank]!.memory[transfer.memory]![place] = value;
        });
      }
    });
    for (const [key, stream] of streams) if (stream.length > 0) faults.push(`nobody takes ${stream.length} of ${key}`);
  }

  /** A pass that leaves numbers as they are. */
  private pass(step: Step, rank: number, backwards: boolean, faults: string[]): void {
    if (step.kind !== 'pass') throw new Error('ranks are at different steps');
    const { shape } = this.world.input;
    const { memory } = this.ranks[rank]!;
    for (const { input, output } of step.parts) {
      const [from, to] = backwards ? [output, input] : [input, output];
      const read = new Map<number, number>();
      for (const block of from.blocks) {
        eachElement(block, shape, (index, place) => {
          const value = memory[from.memory]![place]!;
          if (value !== index && faults.length < 5)
            faults.push(`stage ${step.stage} of rank ${rank} reads ${value} for ${index}`);
          read.set(index, value);
        });
      }
      for (const block of to.blocks) {
        eachElement(block, shape, (index, place) => {
          memory[to.memory]![place] = read.get(index) ?? -2;
        });
      }
    }
  }
}

/** Cuts a box in two, again and again. */
function randomBoxes(random: Random, whole: Box, count: number): Box[] {
  const boxes = [whole];
  while (boxes.length < count) {
    const at = random.integer(0, boxes.length - 1);
    const [box] = boxes.splice(at, 1);
    const dimension = random.integer(0, box!.from.length - 1);
    const cut = random.integer(box!.from[dimension]!, box!.to[dimension]!);
    const ends = (list: readonly number[]) => list.map((old, d) => (d === dimension ? cut : old));
    boxes.push({ from: box!.from, to: ends(box!.to) }, { from: ends(box!.from), to: box!.to });
  }
  return boxes;
}

/** Bricks of any shapes, several on a rank, some empty, some with gaps between their rows. */
export function randomBricks(random: Random, shape: readonly number[], ranks: number): SideInput {
  const whole = { from: shape.map(() => 0), to: [...shape] };
  const bricks = randomBoxes(random, whole, random.integer(1, 2 * ranks)).map((box): BrickInput => {
    const brick = { ...box, rank: random.integer(0, ranks - 1) };
    if (random.integer(0, 3) > 0) return brick;
    let next = 1;
    const strides = lengthsOf(box).map((length) => {
      const stride = next;
      next = next * Math.max(1, length) + random.integer(0, 2);
      return stride;
    });
    return { ...brick, strides };
  });
  return { bricks };
}

/** Parts along each axis, of as many boxes as there are ranks or fewer. */
export function randomSplit(random: Random, axes: number, ranks: number): SideInput {
  if (random.integer(0, 2) === 0) return { split: 'slab' };
  let left = ranks;
  const split = Array.from({ length: axes }, () => {
    const parts = random.integer(1, left);
    left = Math.floor(left / parts);
    return parts;
  });
  return { split: random.integer(0, 1) === 0 ? split : split.reverse() };
}

/** How a random side is shared out. */
export function randomSide(random: Random, shape: readonly number[], ranks: number): SideInput {
  return random.integer(0, 1) === 0 ? randomSplit(random, shape.length - 1, ranks) : randomBricks(random, shape, ranks);
}

/** Lengths with primes among them, some shorter than there are ranks. */
export function randomSize(random: Random, most: number): number[] {
  const axes = random.integer(2, 4);
  const each = Math.max(2, Math.floor(most ** (1 / axes) * 1.6));
  const size = Array.from({ length: axes }, () => random.integer(1, each));
  while (size.reduce((a, b) => a * b, 1) > most) size[size.indexOf(Math.max(...size))]!--;
  return size;
}

/** A transform that ranks share in any way. */
export function randomWorldProblem(
  random: Random,
  ranks: number,
  most: number,
  transform: 'c2c' | 'r2c' = random.pick<'c2c' | 'r2c'>(['c2c', 'c2c', 'r2c']),
): WorldProblemInput {
  const size = randomSize(random, most);
  const batches = random.pick([1, 1, 2, 3]);
  const facts = {
    size,
    transform: [transform],
    leftBatches: 1,
    coordinates: 1,
    batches,
    placement: 'out-of-place',
  } as const;
  const shapeOf = (side: 'input' | 'output') => {
    const shape = tensorShape(facts, side);
    return [...shape.slice(1, -2), batches];
  };
  const output =
    random.pick<'any' | 'as-input' | undefined>(['any', 'as-input', undefined]) ??
    randomSide(random, shapeOf('output'), ranks);
  return {
    ...{ size, transform, batches, precision: random.pick(['single', 'double'] as const) },
    ...{ input: randomSide(random, shapeOf('input'), ranks), output },
    ...{
      exchange: random.pick(['auto', 'blocks', 'types', 'pairs'] as const),
      chunks: random.pick(['auto', 2, 3] as const),
    },
    normalize: random.integer(0, 1) === 1,
  };
}

/** The same with blocks of zeros on either side, or with halves on the wire. */
export function withZeros(random: Random, problem: WorldProblemInput): WorldProblemInput {
  if (random.integer(0, 2) === 0) return { ...problem, wire: 'half' };
  const blocks = (bins: boolean) =>
    problem.size.map((length, axis) => {
      const points = bins && axis === 0 && problem.transform === 'r2c' ? Math.floor(length / 2) + 1 : length;
      if (points < 2 || random.integer(0, 1) === 0) return null;
      const from = random.integer(0, points - 1);
      return { from, to: random.integer(from, from === 0 ? points - 1 : points) };
    });
  return { ...problem, zeroPadding: { space: blocks(false), frequency: blocks(true) } };
}

export function worldProblem(input: WorldProblemInput, ranks: number): WorldProblem {
  return normalizeWorldProblem(input, ranks);
}

/** All bricks of a tensor. */
export function allBricks(tensor: SharedTensor, ranks: number) {
  return Array.from({ length: ranks }, (_, rank) => bricksOfRank(tensor, rank));
}
