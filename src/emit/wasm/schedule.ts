/**
 * Turns the loop nest of a phase into loops for a vector unit: the lane loop is cut into whole vectors and a tail, short loops and
 * loops with `unroll` hints are unrolled, and loops of one iteration disappear. The result is a tree of run-time loops over straight-line
 * bodies, into whose indices the new variables are substituted.
 */
import {
  add,
  type Bound,
  div,
  Expressions,
  guardAt,
  type Index,
  index,
  type Loop,
  type Phase,
  type Real,
  reachable,
  type Store,
  Substitution,
  scale,
  simplified,
  substitute,
  type Var,
  variable,
} from '../../ir/index.ts';

/** Straight-line code, run on a whole vector of items at a time or on one. */
export interface Body {
  readonly kind: 'body';
  /** The lane number inside a vector, or undefined for one item at a time. */
  readonly lane: Var | undefined;
  /** The values of the phase's variables in each copy of its statements. */
  readonly copies: readonly ReadonlyMap<Var, Index>[];
  /** The whole body is repeated for every value of this variable, one after another. */
  readonly repeat: Var | undefined;
}

/** A run-time loop: `variable` counts 0, 1, … below `trips`, which is an index if it is known at run time only. */
export interface RunLoop {
  readonly kind: 'loop';
  readonly variable: Var;
  readonly trips: number | Index;
  readonly children: readonly LoopNode[];
}

/** Defines a variable with the value min(value, most), which is at least 1, for the children. */
export interface Clip {
  readonly kind: 'clip';
  readonly variable: Var;
  readonly value: Index;
  readonly most: number;
  readonly children: readonly LoopNode[];
}

export type LoopNode = Body | RunLoop | Clip;

/** Operations beyond which unrolling costs more in code than it saves in branches. */
const UNROLL_BUDGET = 120;
/**
 * Loops of at most this many iterations are unrolled completely, if that gives at most twice UNROLL_BUDGET operations. (The first pass of 64
 * points has eight iterations of two items; if it were a loop, batches that come from memory would take a tenth longer.)
 */
const UNROLL_WHOLE = 8;

/**
 * The least number of vectors in a lane loop that is cut into pieces at guards, and the most pieces and operations, since each piece is separate
 * code. (Stencils of 5 × 5 and 7 × 7 points with edges take a third of the time by pieces.)
 */
const LEAST_CUT = 6;
const MOST_PIECES = 5;
const MOST_CUT_OPERATIONS = 1000;

/**
 * @param lanes lanes of the vector unit for the kernel's precision.
 * @param slice the value of the outermost variable, if the caller makes that loop.
 */
export function schedule(phase: Phase, lanes: number, slice?: Var): LoopNode[] {
  const scheduler = new Scheduler(phase, lanes);
  if (!slice) return scheduler.nest(0, new Map(), undefined);
  return scheduler.nest(1, new Map([[phase.loops[0]!.variable, index(slice)]]), undefined);
}

type Bind = (value: Index) => LoopNode[];

interface LoopPiece {
  readonly from: number;
  readonly count: number;
}

/** The values of a variable at which a bound on it begins or ceases to hold; none for a bound on other variables. */
function changesOf({ index: { constant, terms }, from, to }: Bound, v: Var): number[] {
  if (terms.length !== 1 || terms[0]!.atom !== v) return [];
  const { factor } = terms[0]!;
  return [from, to].map((end) => {
    const at = (end - constant) / factor;
    return factor > 0 ? Math.ceil(at) : Math.floor(at) + 1;
  });
}

class Scheduler {
  private readonly phase: Phase;
  private readonly lanes: number;
  private readonly operations: number;
  private readonly bounds: readonly Bound[];
  /** All loops together are short enough to be unrolled whole. */
  private readonly short: boolean;

  constructor(phase: Phase, lanes: number) {
    this.phase = phase;
    this.lanes = lanes;
    const nodes = reachable(phase.stores.map((store) => store.value));
    this.operations = nodes.length + phase.stores.length;
    const guards = [
      ...phase.stores.map(({ guard = [] }) => guard),
      ...nodes.map((node) => ((node.op === 'load' || node.op === 'where') && node.guard) || []),
    ];
    this.bounds = guards.flat();
    const trips = phase.loops.reduce((product, { variable: v }) => {
      return product * (v === phase.lanes ? Math.ceil(v.count / lanes) : v.count);
    }, 1);
    this.short = this.isShort(trips) && phase.loops.every(({ limit, unroll }) => !limit && !unroll);
  }

  nest(depth: number, known: ReadonlyMap<Var, Index>, lane: Var | undefined): LoopNode[] {
    const loop = this.phase.loops[depth];
    if (!loop) return [{ kind: 'body', lane, copies: [known], repeat: undefined }];
    const { variable: v } = loop;
    const innermost = depth === this.phase.loops.length - 1;
    const bind = (value: Index, withLane = lane) => this.nest(depth + 1, new Map(known).set(v, value), withLane);
    const isLane = v === this.phase.lanes;
    if (loop.limit) {
      const limit = variable(`${v.name}Limit`, v.count + 1);
      const children = isLane ? this.limitedLanes(v, limit, bind) : this.limited(loop, limit, bind);
      return [{ kind: 'clip', variable: limit, value: substitute(loop.limit, known), most: v.count, children }];
    }
    if (isLane) {
      return this.pieces(v, known).flatMap(({ from, count }) =>
        this.laneLoop({ ...loop, variable: variable(v.name, count) }, innermost, (value, withLane) =>
          bind(add(value, from), withLane),
        ),
      );
    }
    if (this.short && !innermost) return indicesBelow(v.count).flatMap((n) => bind(index(n)));
    return loopOver(v.name, v.count, this.unrolling(loop, v.count, innermost), bind, innermost && !loop.unroll);
  }

  /**
   * The pieces into which guards on the lane variable alone cut its loop. In each piece a guard holds in all lanes or in none; a vector in
   * which a guard changes is a piece by itself.
   */
  private pieces(v: Var, known: ReadonlyMap<Var, Index>): readonly LoopPiece[] {
    const { lanes } = this;
    const whole = [{ from: 0, count: v.count }];
    const long = this.operations > MOST_CUT_OPERATIONS;
    if (long || this.short || this.phase.inPlace || v.count < LEAST_CUT * lanes) return whole;
    const at = new Substitution(known);
    const ends = new Set<number>([0, v.count]);
    for (const cut of this.bounds.flatMap((bound) => changesOf({ ...bound, index: at.apply(bound.index) }, v))) {
      for (const end of [Math.floor(cut / lanes) * lanes, Math.ceil(cut / lanes) * lanes]) {
        if (end > 0 && end < v.count) ends.add(end);
      }
    }
    const sorted = [...ends].sort((a, b) => a - b);
    const pieces = sorted.slice(1).map((end, n) => ({ from: sorted[n]!, count: end - sorted[n]! }));
    return pieces.length <= MOST_PIECES ? pieces : whole;
  }

  /** Whole vectors first; then the tail, as one more vector that repeats earlier items, or item by item. */
  private laneLoop(
    loop: Loop,
    innermost: boolean,
    bind: (value: Index, lane: Var | undefined) => LoopNode[],
  ): LoopNode[] {
    const { lanes } = this;
    const { inPlace: together = 1 } = this.phase;
    const { name, count } = loop.variable;
    // Items that have to load together, but whose number is not that of the lanes, become copies of one body.
    if (together > 1 && together !== lanes) return loopOver(name, count, together, (value) => bind(value, undefined));
    if (count < lanes) return loopOver(name, count, 1, (value) => bind(value, undefined));
    const lane = variable(`${name}Lane`, lanes);
    const whole = Math.floor(count / lanes);
    const unroll = this.unrolling(loop, whole, innermost);
    const vector = (value: Index) => bind(add(scale(value, lanes), lane), lane);
    const nodes = loopOver(name, whole, unroll, vector, innermost && !loop.unroll);
    const rest = count - whole * lanes;
    if (rest === 0) return nodes;
    if (this.phase.repeatable) return [...nodes, ...bind(add(lane, count - lanes), lane)];
    return [...nodes, ...loopOver(name, rest, 1, (value) => bind(add(value, whole * lanes), undefined))];
  }

  /** Like `laneLoop`, with an end known only at run time. The last items run one by one. */
  private limitedLanes(v: Var, limit: Var, bind: (value: Index, lane: Var | undefined) => LoopNode[]): LoopNode[] {
    const { lanes } = this;
    const lane = variable(`${v.name}Lane`, lanes);
    return [
      ...(v.count >= lanes ? runLoop(v, div(limit, lanes), (value) => bind(add(scale(value, lanes), lane), lane)) : []),
      ...this.rest(v, limit, lanes, (value) => bind(value, undefined)),
    ];
  }

  private limited(loop: Loop, limit: Var, bind: Bind): LoopNode[] {
    const { variable: v, unroll = 1 } = loop;
    if (unroll === 1) return runLoop(v, index(limit), bind);
    return [
      ...runLoop(v, div(limit, unroll), (value) =>
        merge(indicesBelow(unroll).map((u) => bind(add(scale(value, unroll), u)))),
      ),
      ...this.rest(v, limit, unroll, bind),
    ];
  }

  /** The items after the last whole block. */
  private rest(v: Var, limit: Var, block: number, bind: Bind): LoopNode[] {
    const start = scale(div(limit, block), block);
    return runLoop(variable(v.name, block), add(limit, scale(start, -1)), (value) => bind(add(start, value)));
  }

  private unrolling(loop: Loop, trips: number, innermost: boolean): number {
    if (loop.unroll !== undefined) return Math.min(loop.unroll, trips);
    if (!innermost) return 1;
    if (this.isShort(trips)) return trips;
    for (const times of [4, 3, 2]) if (trips % times === 0 && times * this.operations <= UNROLL_BUDGET) return times;
    return 1;
  }

  private isShort(trips: number): boolean {
    return trips <= UNROLL_WHOLE && trips * this.operations <= 2 * UNROLL_BUDGET;
  }
}

function runLoop(like: Var, trips: Index, bind: Bind): LoopNode[] {
  const v = variable(like.name, Math.max(2, like.count));
  return [{ kind: 'loop', variable: v, trips, children: bind(index(v)) }];
}

/**
 * A loop with `unroll` items per iteration; items that are left over follow one by one. With `repeats`, the items of an iteration are
 * repetitions of one body; otherwise they are copies side by side, so that their accesses can be grouped.
 */
function loopOver(name: string, trips: number, unroll: number, bind: Bind, repeats = false): LoopNode[] {
  const whole = Math.floor(trips / unroll);
  const block = (value: Index) => {
    if (!repeats || unroll === 1) return merge(indicesBelow(unroll).map((u) => bind(add(scale(value, unroll), u))));
    const copy = variable(`${name}Copy`, unroll);
    return bind(add(scale(value, unroll), copy)).map((node) =>
      node.kind === 'body' ? { ...node, repeat: copy } : node,
    );
  };
  const nodes: LoopNode[] = [];
  if (whole === 1) nodes.push(...block(index(0)));
  else {
    const v = variable(name, whole);
    nodes.push({ kind: 'loop', variable: v, trips: whole, children: block(index(v)) });
  }
  for (let rest = whole * unroll; rest < trips; rest++) nodes.push(...bind(index(rest)));
  return nodes;
}

/** Copies of the same code side by side become one body where they can, so that their accesses can be grouped. */
function merge(copies: readonly LoopNode[][]): LoopNode[] {
  if (copies.length === 1) return copies[0]!;
  const shapes = new Set(copies.map((nodes) => nodes.map((node) => node.kind).join()));
  if (shapes.size > 1) return copies.flat();
  return copies[0]!.flatMap((_, n) => mergeNodes(copies.map((nodes) => nodes[n]!)));
}

function mergeNodes(nodes: readonly LoopNode[]): LoopNode[] {
  const [first] = nodes;
  if (first!.kind === 'body') {
    // Each copy of the body has its own lane variable and repeat variable. All copies are rewritten to use the variables of the first one.
    const { lane, repeat } = first!;
    const copies = (nodes as readonly Body[]).flatMap((body) => {
      const by = new Map<Var, Index>();
      if (body.lane && lane && body.lane !== lane) by.set(body.lane, index(lane));
      if (body.repeat && repeat && body.repeat !== repeat) by.set(body.repeat, index(repeat));
      return by.size > 0 ? renamedCopies(body.copies, by) : body.copies;
    });
    return [{ kind: 'body', lane, copies, repeat }];
  }
  const loops = nodes as readonly RunLoop[];
  if (first!.kind !== 'loop' || loops.some(({ trips }) => typeof trips !== 'number' || trips !== loops[0]!.trips)) {
    return [...nodes];
  }
  const { variable: v, trips } = loops[0]!;
  const children = loops.map((loop) =>
    loop.children.map((child) => rename(child, new Map([[loop.variable, index(v)]]))),
  );
  return [{ kind: 'loop', variable: v, trips, children: merge(children) }];
}

function rename(node: LoopNode, by: ReadonlyMap<Var, Index>): LoopNode {
  if (node.kind === 'body') return { ...node, copies: renamedCopies(node.copies, by) };
  const children = node.children.map((child) => rename(child, by));
  if (node.kind === 'clip') return { ...node, value: substitute(node.value, by), children };
  return { ...node, trips: typeof node.trips === 'number' ? node.trips : substitute(node.trips, by), children };
}

function renamedCopies(copies: Body['copies'], by: ReadonlyMap<Var, Index>): ReadonlyMap<Var, Index>[] {
  const replaced = new Substitution(by);
  return copies.map((known) => new Map([...known].map(([v, value]) => [v, replaced.apply(value)])));
}

/** The same body with its repetitions written out as copies. */
export function unrolled(body: Body): Body {
  const { repeat } = body;
  if (!repeat) return body;
  const copies = indicesBelow(repeat.count).flatMap((u) => renamedCopies(body.copies, new Map([[repeat, index(u)]])));
  return { ...body, copies, repeat: undefined };
}

/** The statements of a body. */
export interface Statements {
  readonly stores: readonly Store[];
  /** See `Phase.steps`. */
  readonly steps: readonly (readonly Real[])[];
}

/** The statements of a body, over fresh expressions, so that equal loads of different copies are one node. */
export function statementsOf(body: Body, phase: Phase): Statements {
  const x = new Expressions();
  const nodes = reachable(phase.stores.map((store) => store.value));
  const stores: Store[] = [];
  const steps: Real[][] = [];
  for (const known of body.copies) {
    const made = new Map<Real, Real>();
    const of = (node: Real): Real => made.get(node)!;
    const at = new Substitution(known);
    for (const node of nodes) made.set(node, x.rebuilt(node, of, at));
    for (const { array, index: place, value, guard } of phase.stores) {
      const needed = guard && simplified(guardAt(guard, at));
      // A guard that never holds leaves nothing to store.
      if (guard && !needed) continue;
      stores.push({ array, index: at.apply(place), value: of(value), ...(needed?.length ? { guard: needed } : {}) });
    }
    for (const step of phase.steps ?? []) steps.push(step.flatMap((value) => made.get(value) ?? []));
  }
  return { stores, steps };
}

function indicesBelow(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
