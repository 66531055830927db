/** The loop variables and carried values of folds that each value is computed from. */
import { type Var, variablesOf } from './integer.ts';
import { operandsOf, type Real } from './real.ts';

export interface LoopDependence {
  /** The variables of the folds whose loops the value belongs to: it may differ from round to round. */
  readonly rounds: ReadonlySet<Var>;
  /** The variables among them whose loops carry a value that this one depends on. */
  readonly carried: ReadonlySet<Var>;
}

/**
 * The dependences of values on fold loops; values that depend on none are missing.
 * @param nodes operands before their users
 */
export function dependencesOf(nodes: readonly Real[]): ReadonlyMap<Real, LoopDependence> {
  const found = new Map<Real, LoopDependence>();
  const over = new Set(nodes.flatMap((node) => (node.op === 'fold' ? [node.loop.over] : [])));
  if (over.size === 0) return found;
  for (const node of nodes) {
    const [rounds, carried] = [new Set<Var>(), new Set<Var>()];
    if (node.op === 'carried' && over.has(node.over)) for (const each of [rounds, carried]) each.add(node.over);
    for (const at of indicesOfNode(node)) for (const v of variablesOf(at)) if (over.has(v)) rounds.add(v);
    const take = (operand: Real, but?: Var): void => {
      for (const v of found.get(operand)?.rounds ?? []) if (v !== but) rounds.add(v);
      for (const v of found.get(operand)?.carried ?? []) if (v !== but) carried.add(v);
    };
    if (node.op === 'fold') {
      for (const operand of node.loop.first) take(operand);
      for (const operand of node.loop.next) take(operand, node.loop.over);
    } else for (const operand of operandsOf(node)) take(operand);
    if (rounds.size > 0) found.set(node, { rounds, carried });
  }
  return found;
}

function indicesOfNode(node: Real) {
  const guard = node.op === 'load' || node.op === 'where' ? (node.guard ?? []) : [];
  return [...(node.op === 'load' ? [node.index] : []), ...guard.map(({ index }) => index)];
}
