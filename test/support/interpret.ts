/** Runs kernels of the IR one item after another, in plain JavaScript: what every emitter has to agree with exactly. */
import {
  type ArrayRef,
  type ElementType,
  elementOf,
  evaluate,
  holds,
  joined,
  type Kernel,
  type Loop,
  type Phase,
  type Real,
  type StorageType,
  type Var,
} from '../../src/ir/index.ts';
import * as exact from '../../src/numeric/exact.ts';
import { fromHalf, toHalf } from './halves.ts';

export type RealArray = Float32Array | Float64Array | Uint16Array | Uint32Array;
type Load = Extract<Real, { op: 'load' }>;
type At = ReadonlyMap<Var, number>;

/** Operations of a kernel's precision, each rounded once. */
class Arithmetic {
  private readonly single: boolean;
  private readonly constants = new Map<Real, number>();

  constructor(precision: ElementType) {
    this.single = precision === 'f32';
  }

  round(value: number): number {
    return this.single ? Math.fround(value) : value;
  }

  constant(node: Extract<Real, { value: exact.Exact }>): number {
    let value = this.constants.get(node);
    if (value === undefined) {
      value = this.single ? exact.toSingle(node.value) : exact.toNumber(node.value);
      this.constants.set(node, value);
    }
    return value;
  }

  /** a·b + c, rounded once: exactly in fixed point, for numbers that are neither huge nor tiny. */
  fma(a: number, b: number, c: number): number {
    const sum = exact.add(exact.mul(exact.exact(a), exact.exact(b)), exact.exact(c));
    return this.single ? exact.toSingle(sum) : exact.toNumber(sum);
  }
}

/** The values of one item. */
class ItemValues {
  private readonly arithmetic: Arithmetic;
  private readonly lanes: Var;
  private readonly load: (node: Load, at: At) => number;
  /** Results by where they were computed: for the item, its neighbour, and each term of a sum. */
  private readonly known = new Map<At, Map<Real, number>>();
  /** Of neighbours, and of terms: the same object at every question. */
  private readonly neighbours = new Map<At, At>();

  constructor(arithmetic: Arithmetic, lanes: Var, load: (node: Load, at: At) => number) {
    this.arithmetic = arithmetic;
    this.lanes = lanes;
    this.load = load;
  }

  of(node: Real, at: At): number {
    let results = this.known.get(at);
    if (!results) this.known.set(at, (results = new Map()));
    let value = results.get(node);
    if (value === undefined) results.set(node, (value = this.compute(node, at)));
    return value;
  }

  private compute(node: Real, at: At): number {
    const { arithmetic, lanes } = this;
    const of = (operand: Real) => this.of(operand, at);
    const round = (value: number) => arithmetic.round(value);
    switch (node.op) {
      case 'const':
        return arithmetic.constant(node);
      case 'conj':
        return at.get(lanes)! % 2 === 0 ? arithmetic.constant(node) : -arithmetic.constant(node);
      case 'load':
        return holds(node.guard ?? [], (index) => evaluate(index, at)) ? round(this.load(node, at)) : 0;
      case 'neg':
        return -of(node.a);
      case 'abs':
        return Math.abs(of(node.a));
      case 'sqrt':
        return round(Math.sqrt(of(node.a)));
      case 'swap':
        return this.of(node.a, this.neighbour(at));
      case 'add':
      case 'exactAdd':
        return round(of(node.a) + of(node.b));
      case 'sub':
      case 'exactSub':
        return round(of(node.a) - of(node.b));
      case 'mul':
      case 'exactMul':
        return round(of(node.a) * of(node.b));
      case 'div':
        return round(of(node.a) / of(node.b));
      case 'min':
        return Math.min(of(node.a), of(node.b));
      case 'max':
        return Math.max(of(node.a), of(node.b));
      case 'exactFma':
        return arithmetic.fma(of(node.a), of(node.b), of(node.c));
      case 'select': {
        const [left, right] = [of(node.left), of(node.right)];
        const chosen =
          node.comparison === 'less' ? left < right : node.comparison === 'equal' ? left === right : left <= right;
        return of(chosen ? node.a : node.b);
      }
      case 'where':
        return of(holds(node.guard, (index) => evaluate(index, at)) ? node.a : node.b);
      case 'sum': {
        let total = 0;
        for (let n = 0; n < node.over.count; n++) total = round(total + this.of(node.a, new Map(at).set(node.over, n)));
        return total;
      }
    }
  }

  private neighbour(at: At): At {
    let other = this.neighbours.get(at);
    if (!other) this.neighbours.set(at, (other = new Map(at).set(this.lanes, at.get(this.lanes)! ^ 1)));
    return other;
  }
}

function fromStorage(type: StorageType, value: number): number {
  return type === 'f16' ? fromHalf(value) : value;
}

function toStorage(type: StorageType, value: number): number {
  return type === 'f16' ? toHalf(value) : value;
}

function poisoned(type: StorageType, length: number): RealArray {
  if (type === 'f16') return new Uint16Array(length).fill(0x7e00);
  return (type === 'f32' ? new Float32Array(length) : new Float64Array(length)).fill(Number.NaN);
}

/**
 * @param memory one array for each of the kernel's globals and tables, by name; those that are stored to change.
 * @param phases those of the way to run.
 */
export function interpret(
  kernel: Kernel,
  memory: Readonly<Record<string, RealArray>>,
  phases: readonly Phase[] = kernel.phases,
): void {
  const arithmetic = new Arithmetic(elementOf(kernel.precision));
  for (let group = 0; group < kernel.group.count; group++) {
    const blocks = kernel.cluster?.blocks ?? 1;
    const shared = Array.from(
      { length: blocks },
      () => new Map(kernel.shared.map((array) => [array, poisoned(array.type, array.length as number)])),
    );
    const arrayOf = (array: ArrayRef, block: number): RealArray =>
      (shared[block]!.get(array) ?? memory[array.name]) as RealArray;
    /** @param slice the value of the outermost variable, where only its items are to run. */
    const run = (phase: Phase, slice?: number): void => {
      const late: (() => void)[] = [];
      const { inPlace: together = 1 } = phase;
      /** Loads and computes; what it returns stores. */
      const item = (at: ReadonlyMap<Var, number>, rank: number): (() => void)[] => {
        const values = new ItemValues(arithmetic, phase.lanes, (node, here) => {
          return fromStorage(node.array.type, arrayOf(node.array, rank)[evaluate(node.index, here)] as number);
        });
        return phase.stores.flatMap(({ array, index, value, block, guard = [] }) => {
          if (!holds(guard, (of) => evaluate(of, at))) return [];
          const place = evaluate(index, at);
          const result = toStorage(array.type, values.of(value, at));
          const target = arrayOf(array, block ? evaluate(block, at) : rank);
          return () => {
            target[place] = result;
          };
        });
      };
      /** One item; or, when the first one's turn comes, all that load before any of them stores. */
      const items = (at: ReadonlyMap<Var, number>, rank: number): void => {
        const first = at.get(phase.lanes)!;
        if (first % together !== 0) return;
        const own = Array.from({ length: together }, (_, n) => new Map(at).set(phase.lanes, first + n));
        const stores = (together > 1 ? own : [at]).flatMap((each) => item(each, rank));
        if (phase.readsFirst) late.push(...stores);
        else for (const store of stores) store();
      };
      const nest = (depth: number, at: Map<Var, number>, rank: number): void => {
        const loop = phase.loops[depth];
        if (!loop) return items(at, rank);
        const end = trips(loop, at);
        for (let i = 0; i < end; i++) nest(depth + 1, at.set(loop.variable, i), rank);
      };
      for (let rank = 0; rank < blocks; rank++) {
        const at = new Map([[kernel.group, group]]);
        if (kernel.cluster) at.set(kernel.cluster.rank, rank);
        if (slice === undefined) nest(0, at, rank);
        else nest(1, at.set(phase.loops[0]!.variable, slice), rank);
      }
      for (const store of late) store();
    };
    for (const together of joined(phases)) {
      const slices = together.length > 1 ? trips(together[0]!.loops[0]!, new Map([[kernel.group, group]])) : 0;
      if (together.length === 1) run(together[0]!);
      for (let slice = 0; slice < slices; slice++) for (const phase of together) run(phase, slice);
    }
  }
}

/** How often a loop runs, with the variables of those around it given. */
function trips({ variable, limit }: Loop, at: ReadonlyMap<Var, number>): number {
  return limit ? Math.min(variable.count, evaluate(limit, at)) : variable.count;
}
