/**
 * Bodies, ready to be written: their statements, how these reach memory, and what is used how often.
 */
import { indexKey, type Phase, type Real, reachable, type Store } from '../../ir/index.ts';
import { accessesOf, type Base, type BodyAccesses, basesOf, type LoadNode } from './accesses.ts';
import { type Body, type Statements, statementsOf, unrolled } from './schedule.ts';

/** A body, ready to be written. */
export interface BodyCode {
  readonly accesses: BodyAccesses;
  /** What pointers are needed for. */
  readonly bases: readonly Base[];
  readonly uses: ReadonlyMap<Real, number>;
  readonly repetitions: number;
  /** Values that are the same in every repetition. */
  readonly steady: ReadonlySet<Real>;
  readonly steps: Statements['steps'];
  /** What sums and differences may multiply and add at once: the product, by the sum. */
  readonly products: ReadonlyMap<Real, Product>;
}

type Product = Extract<Real, { readonly b: Real }>;

const NONE: ReadonlyMap<Real, Product> = new Map();

/**
 * Where the repetitions of a body do not walk at a fixed step, they are written out.
 * @param fuses vectors have multiply-adds
 */
export function prepareBody(body: Body, phase: Phase, lanes: number, fuses: boolean): BodyCode {
  return prepare(body, phase, lanes, fuses) ?? prepare(unrolled(body), phase, lanes, fuses)!;
}

function prepare(body: Body, phase: Phase, lanes: number, fuses: boolean): BodyCode | undefined {
  const { stores, steps } = statementsOf(body, phase);
  const nodes = reachable(stores.map((store) => store.value));
  const accesses = accessesOf(body, nodes, stores, lanes);
  if (!accesses) return undefined;
  const repetitions = body.repeat?.count ?? 1;
  const steady = repetitions > 1 ? steadyValues(nodes, accesses) : new Set<Real>();
  const uses = countUses(nodes, stores);
  const products = fuses && body.lane ? productsOf(nodes, uses, steady) : NONE;
  return { accesses, bases: basesOf(accesses), uses, repetitions, steady, steps, products };
}

/** Equal for loads that give every lane the same, in whichever body. */
export function loadKey(node: LoadNode, body: Body, stride: number | undefined): string {
  return `${body.lane ? 'v' : 's'}${node.array.name}|${stride}|${indexKey(node.index)}`;
}

function countUses(nodes: readonly Real[], statements: readonly Store[]): Map<Real, number> {
  const uses = new Map<Real, number>();
  const use = (node: Real) => uses.set(node, (uses.get(node) ?? 0) + 1);
  for (const { value } of statements) use(value);
  for (const node of nodes) {
    if ('a' in node) use(node.a);
    if ('b' in node) use(node.b);
  }
  return uses;
}

/** What no repetition changes: constants, loads from a place that stays, and what is computed from them. */
function steadyValues(nodes: readonly Real[], { loads }: BodyAccesses): Set<Real> {
  const steady = new Set<Real>();
  const isSteady = (operand: Real) => 'value' in operand || steady.has(operand);
  for (const node of nodes) {
    if ('value' in node) continue;
    if (node.op === 'load') {
      if (loads.get(node)!.access.repeat === 0) steady.add(node);
    } else if (isSteady(node.a) && (!('b' in node) || isSteady(node.b))) steady.add(node);
  }
  return steady;
}

/**
 * For each sum and difference c ± a·b the product in it, if it is nobody else's. (Products that several want would be
 * computed several times: one instruction less for each, but more values at hand, which costs more from radix 5 up.)
 */
function productsOf(
  nodes: readonly Real[],
  uses: ReadonlyMap<Real, number>,
  steady: ReadonlySet<Real>,
): Map<Real, Product> {
  const products = new Map<Real, Product>();
  for (const node of nodes) {
    if ((node.op !== 'add' && node.op !== 'sub') || steady.has(node)) continue;
    for (const operand of node.op === 'add' ? [node.a, node.b] : [node.b]) {
      if (operand.op === 'mul' && uses.get(operand) === 1 && !steady.has(operand)) products.set(node, operand);
    }
  }
  return products;
}
