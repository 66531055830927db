/**
 * Arithmetic for vectors with multiply-add instructions: rewrites sums so that more products can be fused into them, and chooses the product
 * that each sum takes in.
 */
import { type BinaryOp, mapOperands, operandsOf, type Real, reachable, type Store } from '../../ir/index.ts';
import * as exact from '../../numeric/exact.ts';
import type { Statements } from './schedule.ts';

type BinaryNode = Extract<Real, { readonly op: BinaryOp }>;
type SumNode = BinaryNode & { readonly op: 'add' | 'sub' };
type Product = BinaryNode & { readonly op: 'mul' };

/** The users of each value; undefined stands for a store. */
type Users = ReadonlyMap<Real, readonly (Real | undefined)[]>;

/** A twiddled value t = p ± q with products p and q, and its two uses: a + t, and a − t or t − a. */
interface TwiddledPair {
  readonly t: SumNode;
  readonly a: Real;
  readonly sum: SumNode;
  readonly difference: SumNode;
}

/** The vector arithmetic that the WebAssembly engine and the processor offer. */
export interface VectorArithmetic {
  /** Multiply-adds of vectors, which the engine may round once or twice. */
  readonly relaxedSimd?: boolean;
  /** Whether the processor has adders separate from its multipliers, so that sums do not wait for products. */
  readonly separateAdders?: boolean;
}

/**
 * A butterfly computes a + t and a − t from a twiddled value t = p ± q, usually in four instructions: a product, a multiply-add for t, and
 * two sums. Instead, s = a + t is computed as two multiply-adds, and the difference 2a − s as one more: three instructions. If all its
 * users can handle a negated value, the difference becomes s − 2a, because multiply-adds compute c − a·b but not a·b − c.
 *
 * This is done only for twiddled values that are steps; for others, a and s stay in registers for longer, which costs as much as it gains.
 * And it is done only for processors that add and multiply in the same units; with separate adders, two multiply-adds and two parallel sums
 * take less time than three multiply-adds one after another.
 */
export function sumsFirst({ stores, steps }: Statements): Statements {
  const nodes = reachable(stores.map((store) => store.value));
  const users = usersOf(nodes, stores);
  const pairs = twiddledPairs(steps.flat(), users);
  if (pairs.length === 0) return { stores, steps };
  const byResult = new Map<Real, TwiddledPair>();
  const byTwiddled = new Map<Real, TwiddledPair>();
  for (const pair of pairs) {
    byTwiddled.set(pair.t, pair);
    byResult.set(pair.sum, pair).set(pair.difference, pair);
  }
  const negative = negatableDifferences(pairs, users, byResult);

  /** The rewritten form of each value. Values before the first pair are unchanged. */
  const made = new Map<Real, Real>();
  const of = (node: Real): Real => made.get(node) ?? node;
  for (const node of nodes) {
    if (operandsOf(node).length === 0 || made.has(node) || byTwiddled.has(node)) continue;
    const pair = byResult.get(node);
    if (pair) {
      const { a, t, sum, difference } = pair;
      const s = operation(t.op, operation('add', of(a), of(t.a)), of(t.b));
      const twice = operation('mul', TWO, of(a));
      const negated = negative.has(difference) || difference.a === t;
      made.set(sum, s).set(difference, negated ? operation('sub', s, twice) : operation('sub', twice, s));
      continue;
    }
    if (isSum(node) && negative.has(node.b)) {
      made.set(node, operation(node.op === 'add' ? 'sub' : 'add', of(node.a), of(node.b)));
    } else if (isSum(node) && negative.has(node.a)) made.set(node, operation('sub', of(node.b), of(node.a)));
    else {
      const mapped = mapOperands(node, of);
      if (mapped !== node) made.set(node, mapped);
    }
  }
  return {
    stores: stores.map((store) => ({ ...store, value: of(store.value) })),
    steps: steps.map((step) =>
      step.flatMap((value) => {
        const pair = byTwiddled.get(value);
        return pair ? [of(pair.sum), of(pair.difference)] : of(value);
      }),
    ),
  };
}

const TWO: Real = { op: 'const', id: 0, value: exact.exact(2) };

/** Makes a node. Its id is 0, because ids only serve to find equal values, which is done by now. */
function operation(op: BinaryNode['op'], a: Real, b: Real): Real {
  return { op, id: 0, a, b };
}

function usersOf(nodes: readonly Real[], stores: readonly Store[]): Users {
  const users = new Map<Real, (Real | undefined)[]>(nodes.map((node) => [node, []]));
  for (const node of nodes) {
    for (const operand of operandsOf(node)) users.get(operand)!.push(node);
  }
  for (const { value } of stores) users.get(value)!.push(undefined);
  return users;
}

function twiddledPairs(held: readonly Real[], users: Users): TwiddledPair[] {
  const pairs: TwiddledPair[] = [];
  const taken = new Set<Real>();
  // Products with constants belong to rotations inside a butterfly, where this gains nothing.
  const isTwiddled = (part: Real) =>
    part.op === 'mul' && !('value' in part.a) && !('value' in part.b) && users.get(part)?.length === 1;
  for (const t of held) {
    if (!isSum(t) || !isTwiddled(t.a) || !isTwiddled(t.b)) continue;
    const by = users.get(t) ?? [];
    const sum = by.find((user) => user?.op === 'add') as SumNode | undefined;
    const difference = by.find((user) => user?.op === 'sub') as SumNode | undefined;
    if (by.length !== 2 || !sum || !difference || taken.has(sum)) continue;
    const a = sum.a === t ? sum.b : sum.a;
    if (a !== (difference.a === t ? difference.b : difference.a)) continue;
    pairs.push({ t, a, sum, difference });
    taken.add(sum);
  }
  return pairs;
}

/** Differences that can be computed with the opposite sign: all their users add them to, or subtract them from, a value that is not negated. */
function negatableDifferences(
  pairs: readonly TwiddledPair[],
  users: Users,
  byResult: ReadonlyMap<Real, TwiddledPair>,
): Set<Real> {
  const negative = new Set<Real>();
  for (const { t, difference } of pairs) {
    const takes = (user: Real | undefined): boolean => {
      if (!user || !isSum(user) || byResult.has(user)) return false;
      const other = user.a === difference ? user.b : user.a;
      if (other === difference || negative.has(other)) return false;
      return user.op === 'add' || user.b === difference;
    };
    if (difference.b === t && users.get(difference)!.every(takes)) negative.add(difference);
  }
  return negative;
}

function isSum(node: Real): node is SumNode {
  return node.op === 'add' || node.op === 'sub';
}

/** How often values are used, and the products that are fused into sums. */
export interface Evaluation {
  /** The number of uses of each value. */
  readonly uses: ReadonlyMap<Real, number>;
  /** For each sum or difference, the product that is fused into it. */
  readonly products: ReadonlyMap<Real, Product>;
}

/**
 * The number of uses of each value and, if vectors have multiply-adds, the product that each sum takes in. Such a product has no other user;
 * a product with a constant may have two, if both are sums that take it in. (Fusing other products with several users would save an
 * instruction each, but keeps more values in registers, which costs more from radix 5 up.)
 */
export function arithmeticOf(
  nodes: readonly Real[],
  stores: readonly Store[],
  steady: ReadonlySet<Real>,
  fuses: boolean,
): Evaluation {
  const uses = new Map(Array.from(usersOf(nodes, stores), ([node, by]) => [node, by.length]));
  const products = new Map<Real, Product>();
  if (!fuses) return { uses, products };
  const fits = (operand: Real): operand is Product => {
    if (operand.op !== 'mul' || steady.has(operand)) return false;
    const scaled = 'value' in operand.a || 'value' in operand.b;
    return uses.get(operand)! <= (scaled ? 2 : 1);
  };
  const taken = new Map<Product, number>();
  for (const node of nodes) {
    if (!isSum(node) || steady.has(node)) continue;
    const product = [node.b, node.a].find(fits);
    if (!product) continue;
    products.set(node, product);
    taken.set(product, (taken.get(product) ?? 0) + 1);
  }
  for (const [node, product] of products) if (taken.get(product)! < uses.get(product)!) products.delete(node);
  // A product that is fused into two sums uses its operands twice.
  for (const product of new Set(products.values())) {
    const more = uses.get(product)! - 1;
    for (const operand of [product.a, product.b]) uses.set(operand, uses.get(operand)! + more);
  }
  return { uses, products };
}
