/** Environments: what symbols stand for while the body of a function becomes expressions, and the values computed there. */
import type { Guard, Index, Var } from '../../../ir/index.ts';
import { freeOf, type Value } from '../../../patterns/language/values.ts';
import { hasLocal } from './memories.ts';
import type { Leaf, Pulled } from './pulled.ts';

/** An array in the memory of a work-group; `isChosen` where the compiler has placed it there and the program does not ask for it. */
export interface SharedLeaf extends Leaf {
  readonly isChosen: boolean;
}

/** One work-group for each iteration of some loops, and the arrays in its memory. */
export interface WorkGroup {
  /** The loops whose iterations are groups, outermost first. */
  readonly loops: readonly Var[];
  /** Iterations of all loops together. */
  readonly iterations: number;
  /** Arrays in the group's memory by the keys of their values; dimensions of the loops in the group come first. */
  readonly arrays: Map<string, SharedLeaf>;
}

/** How a symbol got its value. A launch that stores an array has to bind the array's symbols again, in loops of another kernel. */
export type Binding =
  /** The symbols are an element of an array: `of` is the map or the reduction, `source` its array. */
  | {
      readonly kind: 'element';
      readonly of: Value;
      readonly source: Value;
      readonly index: Index;
      readonly count: number;
      /** The work-group that computes the element, where a `mapWorkgroup` does. */
      readonly group?: WorkGroup;
    }
  /** The symbol is the state of an `iterate`, in a buffer for each of its fields. */
  | { readonly kind: 'state'; readonly of: Value; readonly buffers: readonly string[] }
  /** The symbol is the partial result of a reduction, or the state of a repetition, which has no place in memory. */
  | { readonly kind: 'sum' };

export class Environment {
  readonly parent: Environment | undefined;
  readonly binding: Binding | undefined;
  /** The condition under which values are needed: where it does not hold, nothing may be read for them. */
  readonly guard: Guard;
  /** Values computed so far: symbols, and other values whose innermost symbol is bound here. */
  readonly known = new Map<Value, Pulled>();
  private readonly symbols: ReadonlySet<Value>;

  constructor(
    parent?: Environment,
    binding?: Binding,
    bound: readonly (readonly [Value, Pulled])[] = [],
    guard: Guard = parent?.guard ?? [],
  ) {
    this.parent = parent;
    this.binding = binding;
    this.guard = guard;
    this.symbols = new Set(bound.map(([symbol]) => symbol));
    for (const [symbol, value] of bound) this.known.set(symbol, value);
  }

  binds(symbols: ReadonlySet<Value>): boolean {
    for (const symbol of this.symbols) if (symbols.has(symbol)) return true;
    return false;
  }

  /** The innermost environment that a value depends on. An array in the memory of a work-group depends on the group. */
  homeOf(value: Value): Environment {
    const symbols = freeOf(value);
    const isLocal = hasLocal(value);
    let home: Environment = this;
    while (home.parent && !home.binds(symbols) && !(isLocal && home.isGroup)) home = home.parent;
    return home;
  }

  private get isGroup(): boolean {
    return this.binding?.kind === 'element' && this.binding.group !== undefined;
  }

  /** The environment of the work-group around this one. */
  get group(): Environment | undefined {
    let env: Environment | undefined = this;
    while (env && !env.isGroup) env = env.parent;
    return env;
  }

  isInside(outer: Environment): boolean {
    let env = this.parent;
    while (env && env !== outer) env = env.parent;
    return env === outer;
  }

  /** The environments that symbols depend on, outermost first, together with the environments of the arrays that the symbols are elements of. */
  neededFor(symbols: ReadonlySet<Value>): Environment[] {
    const all = new Set(symbols);
    const needed: Environment[] = [];
    for (let env: Environment | undefined = this; env; env = env.parent) {
      if (!env.binding || !env.binds(all)) continue;
      needed.unshift(env);
      const { binding } = env;
      if (binding.kind === 'element') for (const symbol of freeOf(binding.source)) all.add(symbol);
      else if (binding.kind === 'state') for (const symbol of freeOf(binding.of)) all.add(symbol);
    }
    return needed;
  }

  /** Whether a value depends on a partial result, so that it has no place in memory either. */
  dependsOnSum(value: Value): boolean {
    return this.neededFor(freeOf(value)).some(({ binding }) => binding!.kind === 'sum');
  }

  /** The symbols that this environment binds, in order. */
  get bound(): readonly Value[] {
    return [...this.symbols];
  }
}

/** For environments that stand for elements of nested arrays, outermost first: the length of each array. */
export function nestedLengths(needed: readonly Environment[]): number[] {
  return needed.flatMap(({ binding }) => (binding?.kind === 'element' ? [binding.count] : []));
}

/** For environments that stand for elements of nested arrays, outermost first: the index of each element in its array. */
export function nestedIndices(needed: readonly Environment[]): Index[] {
  return needed.flatMap(({ binding }) => (binding?.kind === 'element' ? [binding.index] : []));
}
