/**
 * Statements and expressions of GPU languages, as plain data until a printer (print.ts) turns them into text.
 *
 * A kernel is first lowered to a tree that still refers to the kernel's own indices and arrays, in the nodes `index`, `positive`, `load`,
 * `store` and `scope`. Passes transform such trees; the last pass (place.ts) replaces indices by integer expressions and arrays by names.
 */
import type { ArrayRef, ElementType, Index, StorageType, Var } from '../../../ir/index.ts';

/** A value of a kernel or of its memory: a real, or two of them that lie side by side. */
export interface ValueType {
  readonly type: StorageType;
  readonly pair: boolean;
}

export type IntegerType = 'int' | 'long' | 'unsigned' | 'unsigned long';

export interface Pointer {
  readonly to: ValueType | IntegerType | 'byte';
  readonly space: 'global' | 'shared';
  readonly written: boolean;
  /** Nothing else points to the same memory. */
  readonly unique?: boolean;
  /** Other threads change the memory meanwhile. */
  readonly volatile?: boolean;
}

export type Type = ValueType | IntegerType | 'bool' | Pointer;

export type BinaryWord =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '>>'
  | '<<'
  | '&'
  | '|'
  | '<'
  | '<='
  | '=='
  | '!='
  | '>='
  | '>'
  | '&&'
  | '||';

/**
 * `exactAdd` … are operations that are rounded once and never combined with others. `highBits` are the sign, the exponent and the first digits of a real
 * as an `unsigned`: all bits of a single, the upper half of a double. `ofHighBits` makes a real of its bits: of all bits of a single, of the upper and the lower half of a double.
 */
export type MathName =
  | ('sqrt' | 'abs' | 'min' | 'max' | 'fma')
  | ('exactAdd' | 'exactSub' | 'exactMul')
  | ('highBits' | 'ofHighBits');

export type Expression =
  | { readonly op: 'name'; readonly name: string }
  | { readonly op: 'integer'; readonly value: number; readonly type: IntegerType }
  | { readonly op: 'real'; readonly value: number; readonly type: ElementType }
  | { readonly op: 'unary'; readonly word: '-' | '&' | '*'; readonly of: readonly Expression[] }
  | { readonly op: 'binary'; readonly word: BinaryWord; readonly of: readonly Expression[] }
  | { readonly op: 'call'; readonly name: string; readonly of: readonly Expression[] }
  | { readonly op: 'math'; readonly name: MathName; readonly type: ElementType; readonly of: readonly Expression[] }
  | { readonly op: 'cast'; readonly to: Type; readonly of: readonly Expression[] }
  /** Its operands: a condition, the value if it holds, and the value if not. */
  | { readonly op: 'select'; readonly of: readonly Expression[] }
  | { readonly op: 'pair'; readonly type: ElementType; readonly of: readonly Expression[] }
  | { readonly op: 'member'; readonly member: 'x' | 'y' | 'z' | 'w'; readonly of: readonly Expression[] }
  | ArrayElement
  /** An index into memory. */
  | { readonly op: 'index'; readonly value: Index }
  /** Whether an integer is greater than zero. */
  | { readonly op: 'positive'; readonly value: Index }
  /** A value of an array of the kernel, `at` in values. */
  | { readonly op: 'load'; readonly array: ArrayRef; readonly at: Index };

/** An array and the number of a value in it. */
export interface ArrayElement {
  readonly op: 'element';
  /** Only for arrays of the kernel: the space, for which a language may have its own words of access. */
  readonly space?: ArrayRef['space'];
  readonly type: ValueType | IntegerType;
  /** Some thread writes to the array. */
  readonly written?: boolean;
  /** The memory also holds numbers of another type, and is declared as 32-bit words. */
  readonly mixed?: boolean;
  /** The kind of access whose data caches need not keep. */
  readonly streamed?: 'loads' | 'stores';
  readonly of: readonly Expression[];
}

/** A barrier: the threads that wait, and the memory that it orders. */
export interface Barrier {
  readonly scope: 'group' | 'cluster';
  /** Whether writes to globals have to be visible after it, too. */
  readonly globals: boolean;
  /** No thread has written since the last barrier, so the barrier only orders reads. */
  readonly readsOnly?: boolean;
  /**
   * The two halves of a cluster barrier at the start of a kernel: a block may write into the memory of other blocks only when these have
   * started. It announces its own start first of all (`say`), and waits for the others before its first such write (`wait`).
   */
  readonly begun?: 'say' | 'wait';
}

export type Statement =
  | {
      readonly op: 'declare';
      readonly name: string;
      readonly type: Type;
      /** It keeps its first value. */
      readonly constant: boolean;
      readonly value?: Expression;
    }
  | { readonly op: 'assign'; readonly to: Expression; readonly value: Expression }
  | { readonly op: 'call'; readonly value: Expression }
  | { readonly op: 'return'; readonly value?: Expression }
  | {
      readonly op: 'if';
      readonly condition: Expression;
      readonly body: readonly Statement[];
      readonly otherwise?: readonly Statement[];
    }
  | { readonly op: 'while'; readonly condition: Expression; readonly body: readonly Statement[] }
  /** A loop with a known number of rounds, or with `limit` rounds, which is at most that number; `variable` is the counter in indices. */
  | {
      readonly op: 'loop';
      readonly counter: string;
      readonly variable: Var;
      readonly rounds: number;
      readonly limit?: Expression;
      readonly body: readonly Statement[];
    }
  | { readonly op: 'barrier'; readonly barrier: Barrier }
  | { readonly op: 'comment'; readonly text: string }
  | { readonly op: 'blank' }
  /** Writes a value to an array of the kernel, or to another block's copy of it; `at` in values. */
  | {
      readonly op: 'store';
      readonly array: ArrayRef;
      readonly block?: Index | undefined;
      readonly at: Index;
      readonly value: Expression;
    }
  /** A scope for declarations of integers that only these statements use; `namesOf` are the names of its variables. */
  | { readonly op: 'scope'; readonly names: readonly (readonly [Var, string])[]; readonly body: readonly Statement[] };

export interface Parameter {
  readonly name: string;
  readonly type: Type;
}

/** A function that an entry point calls. */
export interface FunctionTree {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly result?: Type;
  readonly body: readonly Statement[];
}

export const name = (text: string): Expression => ({ op: 'name', name: text });
export const namesOf = <T extends readonly string[]>(...texts: T) =>
  texts.map(name) as unknown as { readonly [N in keyof T]: Expression };
export const integer = (value: number, type: IntegerType = 'int'): Expression => ({ op: 'integer', value, type });
export const binary = (word: BinaryWord, ...of: [Expression, Expression]): Expression => ({ op: 'binary', word, of });
export const unary = (word: '-' | '&' | '*', of: Expression): Expression => ({ op: 'unary', word, of: [of] });
export const call = (text: string, ...of: Expression[]): Expression => ({ op: 'call', name: text, of });
export const cast = (to: Type, of: Expression): Expression => ({ op: 'cast', to, of: [of] });
export const element = (array: Expression, at: Expression, type: ArrayElement['type']): ArrayElement => {
  return { op: 'element', type, of: [array, at] };
};
export const declareConstant = (text: string, type: Type, value: Expression): Statement => {
  return { op: 'declare', name: text, type, constant: true, value };
};

/** Terms connected by an operator, left to right. */
export function chain(word: BinaryWord, terms: readonly Expression[]): Expression {
  return terms.reduce((a, b) => binary(word, a, b));
}

/** The expression with each operand replaced. */
export function withOperands(e: Expression, change: (operand: Expression) => Expression): Expression {
  return 'of' in e ? ({ ...e, of: e.of.map(change) } as Expression) : e;
}

/** Statements with every expression replaced, including those in nested statements. */
export function mapExpressions(
  statements: readonly Statement[],
  change: (expression: Expression) => Expression,
): readonly Statement[] {
  const deep = (e: Expression): Expression => change(withOperands(e, deep));
  const each = (s: Statement): Statement => {
    const copy: Record<string, unknown> = { ...s };
    if ('condition' in s) copy.condition = deep(s.condition);
    if ('to' in s) copy.to = deep(s.to);
    if ('value' in s && s.value) copy.value = deep(s.value);
    if ('limit' in s && s.limit) copy.limit = deep(s.limit);
    if ('body' in s) copy.body = s.body.map(each);
    if ('otherwise' in s && s.otherwise) copy.otherwise = s.otherwise.map(each);
    return copy as Statement;
  };
  return statements.map(each);
}

/** Calls a function for every expression in some statements. */
export function visitExpressions(statements: readonly Statement[], see: (expression: Expression) => void): void {
  const deep = (e: Expression): void => {
    see(e);
    if ('of' in e) for (const operand of e.of) deep(operand);
  };
  for (const s of statements) {
    if ('condition' in s) deep(s.condition);
    if ('to' in s) deep(s.to);
    if ('value' in s && s.value) deep(s.value);
    if ('limit' in s && s.limit) deep(s.limit);
    if ('body' in s) visitExpressions(s.body, see);
    if ('otherwise' in s && s.otherwise) visitExpressions(s.otherwise, see);
  }
}

/** The functions of arithmetic that statements use. */
export function mathIn(statements: readonly Statement[]): Set<MathName> {
  const found = new Set<MathName>();
  visitExpressions(statements, (e) => {
    if (e.op === 'math') found.add(e.name);
  });
  return found;
}

/** The names of variables and functions that statements use. */
export function namesUsed(statements: readonly Statement[]): Set<string> {
  const found = new Set<string>();
  visitExpressions(statements, (e) => {
    if (e.op === 'name' || e.op === 'call') found.add(e.name);
  });
  return found;
}

/**
 * Splits statements into two parts that run one after the other: the statements that are `early`, also inside conditional statements, and
 * the others. A condition over both kinds is evaluated twice, and a constant of its first part that the second part uses becomes a variable
 * declared before.
 */
export function splitStatements(
  statements: readonly Statement[],
  early: (statement: Statement) => boolean,
): [first: readonly Statement[], second: readonly Statement[]] {
  const first: Statement[] = [];
  const second: Statement[] = [];
  for (const s of statements) {
    if (s.op !== 'if') {
      (early(s) ? first : second).push(s);
      continue;
    }
    const [before, after] = splitStatements(s.body, early);
    const used = namesUsed(after);
    const body = before.map((inner): Statement => {
      if (inner.op !== 'declare' || !inner.value || !used.has(inner.name)) return inner;
      first.push({ ...inner, constant: false, value: zeroValue(inner.type as ValueType) });
      return { op: 'assign', to: name(inner.name), value: inner.value };
    });
    if (body.length > 0) first.push({ ...s, body });
    if (after.length > 0) second.push({ ...s, body: after });
  }
  return [first, second];
}

/** Zero of an arithmetic type, or a pair of zeros. */
export function zeroValue({ type, pair }: ValueType): Expression {
  const real: Expression = { op: 'real', value: 0, type: type as ElementType };
  return pair ? { op: 'pair', type: real.type, of: [real, real] } : real;
}
