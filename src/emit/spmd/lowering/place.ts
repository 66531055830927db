/** The last pass over a tree: indices become integer expressions, and arrays get the names of their bindings. */
import type { Var } from '../../../ir/index.ts';
import { Integers } from '../tree/integers.ts';
import { NameScope, type Names } from '../tree/scope.ts';
import { type Expression, type Statement, withOperands } from '../tree/tree.ts';
import type { KernelArrays } from './memory.ts';

/** @param names of the variables that all statements know */
export function placeStatements(
  statements: readonly Statement[],
  names: readonly (readonly [Var, string])[],
  tools: { readonly memory: KernelArrays; readonly names: Names; readonly wideIntegers: boolean },
): readonly Statement[] {
  const { memory } = tools;
  const integers = new Integers(tools.wideIntegers, tools.names, (table, at) => memory.entry(table, at));
  const placement = new StatementPlacer(memory, integers);
  return placement.inside(new NameScope(), names, statements);
}

class StatementPlacer {
  private readonly memory: KernelArrays;
  private readonly integers: Integers;

  constructor(memory: KernelArrays, integers: Integers) {
    this.memory = memory;
    this.integers = integers;
  }

  inside(
    scope: NameScope,
    names: readonly (readonly [Var, string])[],
    body: readonly Statement[],
  ): readonly Statement[] {
    for (const [variable, name] of names) scope.introduce(variable, name);
    for (const each of body) scope.statements.push(...this.statement(each, scope));
    return scope.statements;
  }

  private statement(s: Statement, scope: NameScope): readonly Statement[] {
    const { memory, integers } = this;
    switch (s.op) {
      case 'scope':
        return this.inside(new NameScope(scope), s.names, s.body);
      case 'loop': {
        const limit = s.limit && this.expression(s.limit, scope);
        return [
          {
            ...s,
            ...(limit && { limit }),
            body: this.inside(new NameScope(scope), [[s.variable, s.counter]], s.body),
          },
        ];
      }
      case 'if': {
        const condition = this.expression(s.condition, scope);
        return [{ ...s, condition, body: this.inside(new NameScope(scope), [], s.body) }];
      }
      case 'store': {
        const value = this.expression(s.value, scope);
        const block = s.block && integers.address(s.block, scope);
        return [memory.store({ array: s.array, block }, s.at, value, (at) => integers.address(at, scope))];
      }
      case 'declare':
      case 'assign':
        return [s.value ? { ...s, value: this.expression(s.value, scope) } : s];
      default:
        return [s];
    }
  }

  private expression(e: Expression, scope: NameScope): Expression {
    switch (e.op) {
      case 'index':
        return this.integers.address(e.value, scope);
      case 'positive':
        return this.integers.positive(e.value, scope);
      case 'load':
        return this.memory.load(e.array, e.at, (at) => this.integers.address(at, scope));
      default:
        return withOperands(e, (operand) => this.expression(operand, scope));
    }
  }
}
