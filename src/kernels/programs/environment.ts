/** What symbols stand for while the body of a function becomes expressions, and what values have become there. */
import type { Guard, Index } from '../../ir/index.ts';
import { freeOf, type Value } from '../../patterns/values.ts';
import type { Pulled } from './pulled.ts';

/** Why a symbol has a value. Whoever stores an array has to make the symbols in it again, in loops of another kernel. */
export type Binding =
  /** They are an element of an array: `of` is the map or the reduction, `source` its array. */
  | {
      readonly kind: 'element';
      readonly of: Value;
      readonly source: Value;
      readonly index: Index;
      readonly count: number;
    }
  /** They are what a function is applied to. */
  | { readonly kind: 'argument'; readonly of: Value; readonly source: Value }
  /** What an `iterate` has come to, in a buffer. */
  | { readonly kind: 'state'; readonly of: Value; readonly buffer: string }
  /** What a reduction has come to, which is nowhere in memory. */
  | { readonly kind: 'sum' };

export class Environment {
  readonly parent: Environment | undefined;
  readonly binding: Binding | undefined;
  /** Where its values are wanted: elsewhere nothing may be read for them. */
  readonly guard: Guard;
  /** What symbols, and other values whose innermost symbol is bound here, have become. */
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

  /** The innermost environment that a value depends on. */
  homeOf(value: Value): Environment {
    const symbols = freeOf(value);
    let home: Environment = this;
    while (home.parent && !home.binds(symbols)) home = home.parent;
    return home;
  }

  /** The environments that symbols depend on, outermost first, including the environments of the arrays whose elements they are. */
  neededFor(symbols: ReadonlySet<Value>): Environment[] {
    const all = new Set(symbols);
    const needed: Environment[] = [];
    for (let env: Environment | undefined = this; env; env = env.parent) {
      if (!env.binding || !env.binds(all)) continue;
      needed.unshift(env);
      const { binding } = env;
      if (binding.kind === 'element' || binding.kind === 'argument') {
        for (const symbol of freeOf(binding.source)) all.add(symbol);
      } else if (binding.kind === 'state') for (const symbol of freeOf(binding.of)) all.add(symbol);
    }
    return needed;
  }

  /** The symbols that it binds, in order. */
  get bound(): readonly Value[] {
    return [...this.symbols];
  }
}
