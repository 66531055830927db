/** The way from a user's description of a shared tensor to its normal form. All faults are thrown as one error. */
import { FftError, type FftProblem, show, throwIfAny } from '../errors.ts';
import { FieldReader } from '../input/fields.ts';
import { isRecord, type RawRecord, snapshot } from '../input/snapshot.ts';
import { tensorShape } from '../layout/layout.ts';
import { normalizeProblem } from '../normalize/normalize.ts';
import type { AnyProblemInput, Problem, Side } from '../problem.ts';
import type { Box } from './boxes.ts';
import {
  type Brick,
  type DecompositionInput,
  exchangeWays,
  type Redistribution,
  type RedistributionInput,
  type SharedTensor,
  type Sharing,
  type WorldProblem,
  type WorldProblemInput,
  wires,
  worldStrategies,
} from './problem.ts';
import { boxStrides, readSharing } from './sharing.ts';

/** Fields of a world's problem with the meaning that they have on one device. */
const SAME_FIELDS = [
  'size',
  'transform',
  'precision',
  'storage',
  'batches',
  'normalize',
  'scale',
  'zeroPadding',
  'tuning',
  'debug',
] as const;
const OWN_FIELDS = ['input', 'output', 'decomposition', 'exchange', 'chunks', 'wire', 'strategy'] as const;
const MOVE_FIELDS = ['size', 'type', 'precision', 'batches', 'input', 'output'] as const;

/** Levels of nesting in a problem with bricks: the deepest are the points of one brick. */
const LEVELS = 7;
const MOST_VALUES = 2 ** 20;
const MOST_CHUNKS = 64;

/**
 * The normal form of a transform over ranks.
 * @param ranks of the world
 * @throws FftError with everything that is wrong: codes of `normalizeProblem`, `overlapping-bricks`, `incomplete-bricks`
 */
export function normalizeWorldProblem(input: WorldProblemInput, ranks: number): WorldProblem {
  const raw = readRecord(input, 'The problem of a world');
  const reader = new FieldReader();
  reader.onlyKnown(raw, [...SAME_FIELDS, ...OWN_FIELDS]);
  const whole = wholeProblem(raw, reader);
  const shared = (side: Side): SharedTensor => {
    const shape = sharedShape(whole, side);
    const elements = side === 'input' && whole.transform[0] === 'r2c' ? 'real' : 'complex';
    return { shape, elements, sharing: readSharing(raw[side], { reader, path: side, shape, ranks }) };
  };
  const own = shared('input');
  const problem: WorldProblem = {
    whole,
    ranks,
    input: own,
    output: readOutput(raw.output, own, whole, reader, () => shared('output')),
    decomposition: readDecomposition(raw.decomposition, ranks, reader),
    exchange: reader.oneOf(raw.exchange, 'exchange', exchangeWays, 'auto'),
    chunks: readChunks(raw.chunks, reader),
    wire: reader.oneOf(raw.wire, 'wire', wires, 'storage'),
    strategy: reader.oneOf(raw.strategy, 'strategy', worldStrategies, 'estimate'),
  };
  if (problem.wire === 'half' && whole.edgeStorage === 'double-double') {
    const message = `wire 'half' sends halves of singles or doubles; the storage is ${show(whole.edgeStorage)}.`;
    reader.report('unsupported-feature', 'wire', message);
  }
  throwIfAny(reader.problems);
  return problem;
}

/** The normal form of a redistribution. @throws FftError with everything that is wrong */
export function normalizeRedistribution(input: RedistributionInput, ranks: number): Redistribution {
  const raw = readRecord(input, 'The redistribution');
  const reader = new FieldReader();
  reader.onlyKnown(raw, MOVE_FIELDS);
  const { size, batches, precision } = raw;
  const whole = wholeProblem({ size, batches, precision } as RawRecord, reader);
  const elements = reader.oneOf(raw.type, 'type', ['complex', 'real'] as const, 'complex');
  const shape = sharedShape(whole, 'input');
  const shared = (side: Side): SharedTensor => {
    return { shape, elements, sharing: readSharing(raw[side], { reader, path: side, shape, ranks }) };
  };
  const move = { storage: whole.edgeStorage, ranks, input: shared('input'), output: shared('output') };
  throwIfAny(reader.problems);
  return move;
}

function readRecord(input: unknown, what: string): RawRecord {
  const raw = snapshot(input, what, { code: 'invalid-field', depth: LEVELS, most: MOST_VALUES });
  if (isRecord(raw)) return raw;
  throw new FftError('invalid-field', `${what} is ${show(raw)}, but must be an object such as { size: [64, 64, 64] }.`);
}

/** The transform as a problem of one device. Its faults are thrown at once, as nothing else can be judged then. */
function wholeProblem(raw: RawRecord, reader: FieldReader): WorldProblem['whole'] {
  const kind = reader.oneOf(raw.transform, 'transform', ['c2c', 'r2c'] as const, 'c2c');
  const same: Record<string, unknown> = {};
  for (const name of SAME_FIELDS) if (raw[name] !== undefined) same[name] = raw[name];
  const problems: readonly FftProblem[] = reader.problems;
  try {
    return normalizeProblem({ ...same, transform: kind } as AnyProblemInput);
  } catch (error) {
    if (error instanceof FftError) throwIfAny([...problems, ...error.problems]);
    throw error;
  }
}

/** The points along each axis of a side, and the batches. */
export function sharedShape(whole: Problem, side: Side): readonly number[] {
  const shape = tensorShape(whole, side);
  return [...shape.slice(1, -2), shape.at(-1)!];
}

function readOutput(
  value: unknown,
  input: SharedTensor,
  whole: Problem,
  reader: FieldReader,
  read: () => SharedTensor,
): SharedTensor | 'any' {
  if (value === 'any') return 'any';
  if (value === undefined || value === 'as-input') {
    const shape = sharedShape(whole, 'output');
    return { shape, elements: 'complex', sharing: withinShape(input.sharing, shape) };
  }
  if (typeof value === 'string') {
    reader.oneOf(value, 'output', ['as-input', 'any'] as const, 'any');
    return 'any';
  }
  return read();
}

/** The sharing of the other side: the same grid; or bricks, cut off where the other side of a real transform has fewer points. */
function withinShape(sharing: Sharing, shape: readonly number[]): Sharing {
  if (sharing.by === 'grid') return sharing;
  const used = new Map<number, number>();
  const bricks = sharing.bricks.flatMap((brick): Brick[] => {
    const [first, last] = [brick.from[0]!, Math.min(brick.to[0]!, shape[0]!)];
    if (last <= first) return [];
    if (last === brick.to[0]) return [brick];
    const box: Box = { from: brick.from, to: [last, ...brick.to.slice(1)] };
    return [{ ...box, rank: brick.rank, offset: 0, strides: boxStrides(box) }];
  });
  if (bricks.length === sharing.bricks.length && bricks.every((brick) => sharing.bricks.includes(brick)))
    return sharing;
  // Bricks that were cut off are packed, one behind another.
  const packed = bricks.map((brick) => {
    const offset = used.get(brick.rank) ?? 0;
    used.set(brick.rank, offset + brick.to.reduce((volume, to, d) => volume * (to - brick.from[d]!), 1));
    return { ...brick, offset, strides: boxStrides(brick) };
  });
  return { by: 'bricks', bricks: packed };
}

function readDecomposition(value: unknown, ranks: number, reader: FieldReader): DecompositionInput {
  if (value === undefined || value === 'auto' || value === 'slab') return value ?? 'auto';
  const isPair = Array.isArray(value) && value.length === 2 && value.every((n) => Number.isSafeInteger(n) && n >= 1);
  if (isPair && value[0] * value[1] === ranks) return [value[0], value[1]];
  const message = `decomposition is ${show(value)}, but must be 'auto', 'slab', or [rows, columns] whose product is the ${ranks} ranks.`;
  reader.report('invalid-field', 'decomposition', message);
  return 'auto';
}

function readChunks(value: unknown, reader: FieldReader): 'auto' | number {
  if (value === undefined || value === 'auto') return 'auto';
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= MOST_CHUNKS) return value as number;
  reader.report('invalid-field', 'chunks', `chunks is ${show(value)}, but must be 'auto' or 1 to ${MOST_CHUNKS}.`);
  return 1;
}
