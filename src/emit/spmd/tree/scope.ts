/**
 * Scopes of statements and names. A name is declared once, in the outermost scope that knows all variables of its value, and is visible in
 * all scopes inside.
 */
import type { Var } from '../../../ir/index.ts';
import type { Statement } from './tree.ts';

/** An integer or value that has a name. */
export interface NamedValue {
  readonly name: string;
  readonly wide: boolean;
}

/** Hands out names that were not used before. */
export class Names {
  private readonly counts = new Map<string, number>();

  fresh(prefix: string): string {
    const next = (this.counts.get(prefix) ?? 0) + 1;
    this.counts.set(prefix, next);
    return `${prefix}${next}`;
  }
}

export class NameScope {
  readonly statements: Statement[] = [];
  private readonly parent: NameScope | undefined;
  private readonly known = new Map<string, NamedValue>();
  private readonly variables = new Map<Var, string>();

  constructor(parent?: NameScope) {
    this.parent = parent;
  }

  /** A variable that has a value in this scope from the beginning, under its name. */
  introduce(variable: Var, name: string): void {
    this.variables.set(variable, name);
  }

  variable(v: Var): string {
    const name = this.variables.get(v) ?? this.parent?.variable(v);
    if (name === undefined) throw new Error(`the variable ${v.name} is not in scope`);
    return name;
  }

  find(key: string): NamedValue | undefined {
    return this.known.get(key) ?? this.parent?.find(key);
  }

  remember(key: string, named: NamedValue): NamedValue {
    this.known.set(key, named);
    return named;
  }

  /** The outermost scope that knows all of some variables. */
  home(variables: ReadonlySet<Var>): NameScope {
    for (const v of variables) if (this.variables.has(v)) return this;
    return this.parent?.home(variables) ?? this;
  }
}
