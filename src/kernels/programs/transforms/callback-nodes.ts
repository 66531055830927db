/** Expressions of kernels as callbacks of a plan: plain data, which the plan's own kernels are built from. */
import {
  type ElementType,
  type Guard,
  type Index,
  type LoadNode,
  type Real,
  range,
  type Var,
} from '../../../ir/index.ts';
import { isZero, toNumber } from '../../../numeric/exact.ts';
import type { BuiltCallback } from '../loops/launches.ts';

type Node = BuiltCallback['nodes'][number];

/** The most steps of a callback: a longer computation is faster as a kernel of its own. */
const MOST_NODES = 512;

/** Magnitudes of constants that callbacks may have, as in problem/recording/record.ts. */
const CONSTANTS = {
  f32: { least: 2 ** -126, most: (2 - 2 ** -23) * 2 ** 127 },
  f64: { least: 2 ** -200, most: Number.MAX_VALUE },
} as const;

/** The meaning of an expression's variables and loads inside a callback. */
export interface CallbackMeaning {
  readonly precision: ElementType;
  /** The dimension of the tensor that a variable counts. */
  readonly dimensionOf: (variable: Var) => number | undefined;
  /** The part of the callback's own value that a load is. */
  readonly valueOf: (load: LoadNode) => 're' | 'im' | undefined;
  /** The array that a load reads, where it does not read the callback's own value. */
  readonly arrayOf: (load: LoadNode) => { readonly name: string; readonly length: number } | undefined;
}

/** @returns undefined for an expression that callbacks cannot represent */
export function callbackOf(
  takes: BuiltCallback['takes'],
  results: readonly Real[],
  meaning: CallbackMeaning,
): BuiltCallback | undefined {
  const writer = new NodeWriter(meaning);
  const result = results.map((each) => writer.real(each));
  if (writer.isLost || result.length === 0) return undefined;
  return { takes, gives: result.length === 2 ? 'complex' : 'real', nodes: writer.nodes, result };
}

class NodeWriter {
  readonly nodes: Node[] = [];
  /** Whether a part of the expression cannot be represented. */
  isLost = false;
  private readonly meaning: CallbackMeaning;
  private readonly made = new Map<Real | string, number>();

  constructor(meaning: CallbackMeaning) {
    this.meaning = meaning;
  }

  real(node: Real): number {
    let known = this.made.get(node);
    if (known === undefined) this.made.set(node, (known = this.isLost ? 0 : this.written(node)));
    return known;
  }

  private written(node: Real): number {
    switch (node.op) {
      case 'const':
        return this.constant(toNumber(node.value), isZero(node.value));
      case 'load':
        return this.load(node);
      case 'neg':
      case 'sqrt':
      case 'abs':
        return this.append({ op: node.op, a: this.real(node.a) });
      case 'add':
      case 'sub':
      case 'mul':
      case 'div':
      case 'min':
      case 'max':
        return this.append({ op: node.op, a: this.real(node.a), b: this.real(node.b) });
      case 'select':
        return this.select(node);
      case 'where':
        return this.where(node.guard, this.real(node.a), this.real(node.b));
      default:
        return this.lose();
    }
  }

  private constant(value: number, isZero: boolean): number {
    const { least, most } = CONSTANTS[this.meaning.precision];
    const size = Math.abs(value);
    if (!isZero && !(size >= least && size <= most)) return this.lose();
    return this.append({ op: 'constant', value: isZero ? 0 : value });
  }

  private select({ comparison, left, right, a, b }: Extract<Real, { op: 'select' }>): number {
    const [one, other, yes, no] = [left, right, a, b].map((each) => this.real(each)) as [
      number,
      number,
      number,
      number,
    ];
    const less = (first: number, second: number, yes: number, no: number) =>
      this.append({ op: 'select', less: [first, second], a: yes, b: no });
    if (comparison === 'less') return less(one, other, yes, no);
    // Callbacks have no comparison but `less`: numbers of which neither is less count as equal. So does a NaN, beside which both results
    // are NaN, because they are computed from the number that is compared.
    return comparison === 'equal' ? less(one, other, no, less(other, one, no, yes)) : this.lose();
  }

  private where(guard: Guard, a: number, b: number): number {
    return guard.reduceRight((inside, { index, from, to, outside }) => {
      const of = { op: 'where', index: this.index(index), from, to } as const;
      return this.append(outside ? { ...of, a: b, b: inside } : { ...of, a: inside, b });
    }, a);
  }

  private load(node: LoadNode): number {
    const part = this.meaning.valueOf(node);
    if (part) return this.append({ op: part });
    const array = this.meaning.arrayOf(node);
    const [low, high] = range(node.index);
    if (!array || (node.guard && node.guard.length > 0) || low < 0 || high >= array.length) return this.lose();
    return this.append({ op: 'load', array: array.name, index: this.index(node.index) });
  }

  private index({ constant, terms }: Index): number {
    const parts = terms.map(({ atom, factor }) => {
      const of = this.atom(atom);
      return factor === 1 ? of : this.append({ op: 'index-mul', a: of, by: factor });
    });
    if (constant !== 0 || parts.length === 0) parts.push(this.append({ op: 'integer', value: constant }));
    return parts.reduce((a, b) => this.append({ op: 'index-add', a, b }));
  }

  private atom(atom: Index['terms'][number]['atom']): number {
    if (atom.kind === 'lookup') return this.lose();
    if (atom.kind !== 'var') {
      const { kind, argument, by } = atom;
      return this.append({ op: kind === 'div' ? 'index-div' : 'index-mod', a: this.index(argument), by });
    }
    const dimension = this.meaning.dimensionOf(atom);
    return dimension === undefined ? this.lose() : this.append({ op: 'place', dimension });
  }

  /** Adds a node; equal nodes are stored once. */
  private append(node: Node): number {
    const key = JSON.stringify(node);
    let known = this.made.get(key);
    if (known === undefined) {
      if (this.nodes.length >= MOST_NODES) return this.lose();
      this.made.set(key, (known = this.nodes.push(node) - 1));
    }
    return known;
  }

  private lose(): number {
    this.isLost = true;
    return 0;
  }
}
