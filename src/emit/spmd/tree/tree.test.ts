/** What passes over trees leave, and what printers make of them. */
import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../../test/support/random.ts';
import { printedLines, type Words, width } from './print.ts';
import {
  binary,
  type Expression,
  integer,
  mapExpressions,
  name,
  namesUsed,
  type Statement,
  splitStatements,
  unary,
  type ValueType,
} from './tree.ts';

const random = randomFor('emit/tree');

const REAL: ValueType = { type: 'f64', pair: false };

/** Statements of JavaScript. */
const WORDS: Words = {
  type: () => '',
  integer: String,
  cast: (_, operand) => operand,
  pair: (re, im) => `{ x: ${re}, y: ${im} }`,
  select: (condition, then, otherwise) => `${condition} ? ${then} : ${otherwise}`,
  math: (own) => `Math.${own}`,
  declare: (own, _, isConstant, value) => `${isConstant ? 'const' : 'let'} ${own} = ${value};`,
  loop: (counter, rounds) => `for (let ${counter} = 0; ${counter} < ${rounds}; ${counter}++)`,
  barrier: () => '',
};

const text = (statements: readonly Statement[]) => printedLines(statements, WORDS).join('\n');
const declare = (own: string, value: Expression): Statement => {
  return { op: 'declare', name: own, type: REAL, constant: true, value };
};
const store = (value: Expression): Statement => ({ op: 'assign', to: name('out'), value });

describe('printing', () => {
  it('keeps the order of operations', () => {
    const grow = (depth: number): [Expression, number] => {
      const kind = depth === 0 ? 0 : random.integer(1, 5);
      if (kind === 0) {
        const value = random.integer(-9, 9);
        return [integer(value), value];
      }
      const [a, x] = grow(depth - 1);
      if (kind === 1) return [unary('-', a), -x];
      const [b, y] = grow(depth - 1);
      if (kind === 2) return [binary('+', a, b), x + y];
      if (kind === 3) return [binary('-', a, b), x - y];
      if (kind === 4) return [binary('*', a, b), x * y];
      return [binary('&', a, b), x & y];
    };
    for (let round = 0; round < 500; round++) {
      const [tree, value] = grow(random.integer(1, 5));
      const printed = text([store(tree)]);
      expect(new Function(`let out; ${printed} return out;`)(), printed).toEqual(value);
    }
  });

  it('knows how wide an expression of values becomes', () => {
    const value: Expression = { op: 'real', value: 0.1, type: 'f64' };
    for (const tree of [
      binary('*', binary('+', name('v1'), value), unary('-', name('x2'))),
      unary('-', binary('-', { op: 'member', member: 'x', of: [name('z1')] }, name('v20'))),
    ]) {
      expect(text([store(tree)])).toHaveLength('out = ;'.length + width(tree));
    }
  });

  it('chains conditions', () => {
    const on = (limit: number, otherwise: readonly Statement[]): Statement => {
      const condition = binary('<', name('n'), integer(limit));
      return { op: 'if', condition, body: [store(integer(limit))], otherwise };
    };
    const chained = text([on(2, [on(4, [store(integer(9))])])]);
    expect(chained).toContain('} else if (n < 4) {');
    const run = new Function('n', `let out; ${chained} return out;`);
    expect([1, 3, 5].map((n) => run(n))).toEqual([2, 4, 9]);
  });
});

describe('statements taken apart', () => {
  const isStore = (s: Statement) => s.op === 'assign';

  it('stand in two parts, each in its order', () => {
    const all = [declare('a', integer(1)), store(name('a')), declare('b', integer(2)), store(name('b'))];
    const [first, second] = splitStatements(all, (s) => !isStore(s));
    expect(text(first)).toBe('const a = 1;\nconst b = 2;');
    expect(text(second)).toBe('out = a;\nout = b;');
  });

  it('have what both parts need in a variable, where they stand under a condition', () => {
    const body = [declare('a', integer(1)), declare('b', binary('+', name('a'), integer(1))), store(name('b'))];
    const [first, second] = splitStatements([{ op: 'if', condition: name('some'), body }], (s) => !isStore(s));
    expect(text(first)).toBe('let b = 0.0;\nif (some) {\n  const a = 1;\n  b = a + 1;\n}');
    expect(text(second)).toBe('if (some) {\n  out = b;\n}');
  });

  it('leave no condition behind that nothing stands under', () => {
    const [first, second] = splitStatements(
      [{ op: 'if', condition: name('some'), body: [store(integer(1))] }],
      isStore,
    );
    expect([first.length, second.length]).toEqual([1, 0]);
  });
});

describe('passes', () => {
  it('see and change every expression, however deep', () => {
    const loop: Statement = { op: 'while', condition: name('more'), body: [store(binary('+', name('a'), name('b')))] };
    const tree: Statement[] = [{ op: 'if', condition: name('c'), body: [loop], otherwise: [store(name('d'))] }];
    expect([...namesUsed(tree)].sort()).toEqual(['a', 'b', 'c', 'd', 'more', 'out']);
    const renamed = mapExpressions(tree, (e) => (e.op === 'name' ? name(`${e.name}_1`) : e));
    expect([...namesUsed(renamed)].sort()).toEqual(['a_1', 'b_1', 'c_1', 'd_1', 'more_1', 'out_1']);
    expect([...namesUsed(tree)]).toContain('a');
  });
});
