/**
 * Prepares bodies for writing: their statements, memory accesses, and the number of uses of each value.
 */
import {
  dependencesOf,
  type FoldNode,
  indexKey,
  type LoadNode,
  type LoopDependence,
  operandsOf,
  type Phase,
  type Real,
  reachable,
} from '../../ir/index.ts';
import { accessBases, type Base, type BodyAccesses, bodyAccesses } from './accesses.ts';
import { arithmeticOf, type Evaluation, sumsFirst, type VectorArithmetic } from './multiply-adds.ts';
import { type Body, type Statements, statementsOf, unrolled } from './schedule.ts';

/** A body, ready to be written. */
export interface BodyCode extends Evaluation {
  readonly accesses: BodyAccesses;
  /** The base addresses that need pointers. */
  readonly bases: readonly Base[];
  readonly repetitions: number;
  /** Values that are the same in every repetition. */
  readonly steady: ReadonlySet<Real>;
  readonly steps: Statements['steps'];
  /** The fold loops that values belong to. */
  readonly dependences: ReadonlyMap<Real, LoopDependence>;
  readonly folds: readonly FoldNode[];
  readonly carried: readonly Extract<Real, { op: 'carried' }>[];
}

/**
 * Prepares a body. Repetitions are written out if addresses do not grow by fixed steps from repetition to repetition, and if the body has
 * folds, whose repetitions then share loops.
 */
export function prepareBody(body: Body, phase: Phase, lanes: number, vectors: VectorArithmetic): BodyCode {
  return tryPrepare(body, phase, lanes, vectors) ?? tryPrepare(unrolled(body), phase, lanes, vectors)!;
}

function tryPrepare(body: Body, phase: Phase, lanes: number, vectors: VectorArithmetic): BodyCode | undefined {
  const { relaxedSimd = false, separateAdders = false } = vectors;
  const fused = relaxedSimd && body.lane !== undefined;
  const statements = statementsOf(body, phase);
  const { stores, steps: held } = fused && !separateAdders ? sumsFirst(statements) : statements;
  const nodes = reachable(stores.map((store) => store.value));
  if (body.repeat && nodes.some(({ op }) => op === 'fold')) return undefined;
  const accesses = bodyAccesses(body, nodes, stores, lanes);
  if (!accesses) return undefined;
  const repetitions = body.repeat?.count ?? 1;
  const steady = repetitions > 1 ? steadyValues(nodes, accesses) : new Set<Real>();
  const arithmetic = arithmeticOf(nodes, stores, steady, fused);
  const live = new Set(nodes);
  const taken = new Set<Real>(arithmetic.products.values());
  // Steps leave out values that folding has made superfluous, and products that are fused into sums. (Holding the operands of such products
  // instead was measured as 3 to 10 % slower with radices 7, 11 and 13.)
  const dependences = dependencesOf(nodes);
  const isHeld = (value: Real) => live.has(value) && !taken.has(value) && !dependences.has(value);
  const steps = held.map((step) => step.filter(isHeld));
  const folds = nodes.filter((node) => node.op === 'fold');
  const carried = nodes.filter((node) => node.op === 'carried');
  const loops = { dependences, folds, carried };
  return { accesses, bases: accessBases(accesses), repetitions, steady, steps, ...loops, ...arithmetic };
}

/** A key that is equal for loads that give the same value to every lane, in any body. */
export function loadKey(node: LoadNode, body: Body, stride: number | undefined): string {
  return `${body.lane ? 'v' : 's'}${node.array.name}|${stride}|${indexKey(node.index)}`;
}

/** Values that are the same in every repetition: constants, loads from a fixed address, and results computed from them. */
function steadyValues(nodes: readonly Real[], { loads }: BodyAccesses): Set<Real> {
  const steady = new Set<Real>();
  const isSteady = (operand: Real) => 'value' in operand || steady.has(operand);
  for (const node of nodes) {
    if ('value' in node) continue;
    if (node.op === 'load') {
      if (loads.get(node)!.access.repeat === 0) steady.add(node);
    } else if (operandsOf(node).every(isSteady)) steady.add(node);
  }
  return steady;
}
