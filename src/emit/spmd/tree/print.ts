/** Prints trees as text in a given language. */
import type { ElementType } from '../../../ir/index.ts';
import type { ArrayElement, Barrier, BinaryWord, Expression, IntegerType, MathName, Statement, Type } from './tree.ts';

/** The words and forms in which the languages differ. */
export interface Words {
  type(type: Type): string;
  integer(value: number, type: IntegerType): string;
  cast(to: Type, operand: string): string;
  pair(re: string, im: string, type: ElementType): string;
  select(condition: string, then: string, otherwise: string): string;
  /** The name of a function of arithmetic. @throws RangeError if the language has none. */
  math(name: MathName, type: ElementType): string;
  /** A declaration; `value` is missing if an assignment follows. */
  declare(name: string, type: Type, constant: boolean, value: string | undefined): string;
  /** The head of a loop that counts from 0 and ends before `end`. */
  loop(counter: string, end: string): string;
  /** @throws RangeError if the language has no such barrier. */
  barrier(barrier: Barrier): string;
  /** Text that reads or writes an element; undefined for plain access to an array. */
  read?(element: ArrayElement, array: string, at: string): string | undefined;
  write?(element: ArrayElement, array: string, at: string, value: string): string | undefined;
}

/** Functions and operators for exact operations, for languages in which each such operation is a function in the generated text. */
export const EXACT = {
  exactAdd: ['exact_add', '+'],
  exactSub: ['exact_sub', '-'],
  exactMul: ['exact_mul', '*'],
} as const;

export function exactName(own: MathName): string | undefined {
  return own in EXACT ? EXACT[own as keyof typeof EXACT][0] : undefined;
}

/** The precedence of operators, and the least precedence of their operands that needs no parentheses. */
const ATOM = 6;
const BINDS: Readonly<Record<BinaryWord, readonly [own: number, left: number, right: number]>> = {
  '*': [4, 4, 5],
  '/': [4, 4, 5],
  '%': [4, 4, 5],
  '+': [3, 3, 4],
  '-': [3, 3, 4],
  // Shifts and bitwise operators: WGSL requires parentheses around operands that are expressions.
  '>>': [2, 5, 5],
  '<<': [2, 5, 5],
  '&': [2, 5, 5],
  '|': [2, 5, 5],
  '<': [1, 3, 3],
  '<=': [1, 3, 3],
  '>': [1, 3, 3],
  '>=': [1, 3, 3],
  '==': [1, 3, 3],
  '!=': [1, 3, 3],
  // Mixed operators of this kind need parentheses.
  '&&': [0, 0, 1],
  '||': [-1, 1, 1],
};

function binding(e: Expression): number {
  if (e.op === 'binary') return BINDS[e.word][0];
  if (e.op === 'cast') return 5;
  if (e.op === 'unary' || ('value' in e && typeof e.value === 'number' && e.value < 0)) return 4;
  return e.op === 'select' ? -2 : ATOM;
}

function printOperand(of: Expression, least: number, words: Words): string {
  const text = expression(of, words);
  return binding(of) < least ? `(${text})` : text;
}

/** The order of operations is part of the result: a right operand keeps its parentheses. */
export function expression(e: Expression, words: Words): string {
  const operand = (n: number, least: number) => printOperand((e as { of: readonly Expression[] }).of[n]!, least, words);
  switch (e.op) {
    case 'name':
      return e.name;
    case 'integer':
      return words.integer(e.value, e.type);
    case 'real':
      return `${decimal(e.value, e.type)}${e.type === 'f32' ? 'f' : ''}`;
    case 'unary':
      return `${e.word}${operand(0, 5)}`;
    case 'binary': {
      const [, left, right] = BINDS[e.word];
      return `${operand(0, left)} ${e.word} ${operand(1, right)}`;
    }
    case 'call':
    case 'math': {
      const called = e.op === 'call' ? e.name : words.math(e.name, e.type);
      return `${called}(${e.of.map((_, n) => operand(n, -2)).join(', ')})`;
    }
    case 'cast':
      return words.cast(e.to, operand(0, 5));
    case 'select':
      return words.select(operand(0, 0), operand(1, -1), operand(2, -1));
    case 'pair':
      return words.pair(operand(0, -2), operand(1, -2), e.type);
    case 'member':
      return `${operand(0, ATOM)}.${e.member}`;
    case 'element': {
      const [array, at] = [operand(0, ATOM), operand(1, -2)];
      return words.read?.(e, array, at) ?? `${array}[${at}]`;
    }
    default:
      throw new RangeError(`${e.op} has no words before it has a place`);
  }
}

/** One line for each statement, and further lines for its body. */
export function printedLines(statements: readonly Statement[], words: Words): string[] {
  return statements.flatMap((s) => statement(s, words));
}

type If = Extract<Statement, { op: 'if' }>;

function statement(s: Statement, words: Words): string[] {
  const text = (e: Expression) => expression(e, words);
  const block = (head: string, body: readonly Statement[]) => [
    `${head} {`,
    ...indented(printedLines(body, words)),
    '}',
  ];
  switch (s.op) {
    case 'declare':
      return [words.declare(s.name, s.type, s.constant, s.value && text(s.value))];
    case 'assign':
      return [assignment(s.to, text(s.value), words)];
    case 'call':
      return [`${text(s.value)};`];
    case 'return':
      return [s.value ? `return ${text(s.value)};` : 'return;'];
    case 'if': {
      const branches = branchesOf(s).flatMap(({ condition, body }, n) => [
        `${n > 0 ? '} else ' : ''}${condition ? `if (${text(condition)}) ` : ''}{`,
        ...indented(printedLines(body, words)),
      ]);
      return [...branches, '}'];
    }
    case 'while':
      return block(`while (${text(s.condition)})`, s.body);
    case 'loop':
      return block(words.loop(s.counter, s.limit ? text(s.limit) : words.integer(s.rounds, 'int')), s.body);
    case 'barrier':
      return [words.barrier(s.barrier)];
    case 'comment':
      return [`// ${s.text}`];
    case 'blank':
      return [''];
    default:
      throw new RangeError(`${s.op} has no words before it has a place`);
  }
}

/** A chain of conditions with their statements; the last entry has no condition and is the `else` branch. */
function branchesOf({ condition, body, otherwise }: If): { condition?: Expression; body: readonly Statement[] }[] {
  if (!otherwise) return [{ condition, body }];
  const [only, ...more] = otherwise;
  const rest = only?.op === 'if' && more.length === 0 ? branchesOf(only) : [{ body: otherwise }];
  return [{ condition, body }, ...rest];
}

function assignment(to: Expression, value: string, words: Words): string {
  if (to.op !== 'element') return `${expression(to, words)} = ${value};`;
  const [memory, index] = to.of as readonly [Expression, Expression];
  const [array, at] = [printOperand(memory, ATOM, words), expression(index, words)];
  return words.write?.(to, array, at, value) ?? `${array}[${at}] = ${value};`;
}

export function indented(text: readonly string[]): string[] {
  return text.map((line) => (line === '' ? '' : `  ${line}`));
}

/** The approximate length of an expression in any language, with values of names, pairs and constants counted. */
export function width(e: Expression): number {
  const operands = 'of' in e ? e.of.map(width) : [];
  const inner = operands.reduce((a, b) => a + b, 0);
  if (e.op === 'name') return e.name.length;
  if (e.op === 'real') return decimal(e.value, e.type).length + (e.type === 'f32' ? 1 : 0);
  if (e.op === 'member') return inner + 2;
  const least = e.op === 'binary' ? BINDS[e.word].slice(1) : [5];
  const parentheses = 'of' in e ? e.of.filter((of, n) => binding(of) < least[n]!).length : 0;
  return inner + 2 * parentheses + (e.op === 'binary' ? e.word.length + 2 : 1);
}

/**
 * A decimal that reads back as the same number.
 * @throws RangeError if the number is not finite
 */
function decimal(value: number, type: ElementType): string {
  if (!Number.isFinite(value)) throw new RangeError(`a constant of the kernel does not fit into ${type}`);
  // Nine digits identify a single; a double prints as its shortest decimal.
  const text = String(type === 'f32' ? Number(value.toPrecision(9)) : value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
