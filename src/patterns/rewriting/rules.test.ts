import { describe, expect, it } from 'vitest';
import { matMul } from '../../../test/support/lift-programs.ts';
import { lengthOf, type Numbers, RandomPrograms } from '../../../test/support/lift-random.ts';
import { randomFor } from '../../../test/support/random.ts';
import {
  add,
  attempt,
  type Complex,
  complex,
  everywhere,
  id,
  interpret,
  iterate,
  join,
  map,
  mapLocal,
  mapSeq,
  mapWorkgroup,
  mul,
  type Program,
  pad,
  print,
  program,
  type Rule,
  real,
  reduce,
  rewrite,
  rules,
  slide,
  split,
  transpose,
  zip,
} from '../../lift/index.ts';

const random = randomFor('rewrite rules');
const made = new RandomPrograms(random);

const scalar = (...given: Complex[]) => made.number(given, 2);
const halves = (xs: Numbers) => split(lengthOf(xs) / 2, xs);
const groups = (f: (row: Numbers) => unknown) => (xs: Numbers) => join(mapWorkgroup(f, halves(xs)) as never);

/** Of each rule programs in which it has a place, and what it would be but for its condition. */
const cases: Readonly<
  Record<string, { rule: Rule; holds: (xs: Numbers) => unknown; fails: (xs: Numbers) => unknown }>
> = {
  mapFusion: {
    rule: rules.mapFusion,
    holds: (xs) => map(scalar, map(scalar, xs)),
    fails: (xs) => map(scalar, mapSeq(scalar, xs)),
  },
  reduceFusion: {
    rule: rules.reduceFusion,
    holds: (xs) => reduce((s, a) => mul(0.5, add(s, a)), 0, map(scalar, xs)),
    fails: (xs) => reduce((s, a) => mul(0.5, add(s, a)), 0, xs),
  },
  flatten: {
    rule: rules.flatten,
    holds: (xs) => map((row) => map(scalar, map(scalar, zip(row, halves(xs)[0]!))), halves(xs)),
    fails: (xs) => map((row) => map(scalar, zip(row, row)), halves(xs)),
  },
  joinSplit: { rule: rules.joinSplit, holds: (xs) => join(halves(xs)), fails: (xs) => join(slide(2, 1, xs)) },
  splitJoin: {
    rule: rules.splitJoin,
    holds: (xs) => split(lengthOf(xs) / 2, join(halves(xs))),
    fails: (xs) => split(1, join(halves(xs))),
  },
  transposeTranspose: {
    rule: rules.transposeTranspose,
    holds: (xs) => transpose(transpose(halves(xs))),
    fails: (xs) => transpose(halves(xs)),
  },
  mapTranspose: {
    rule: rules.mapTranspose,
    holds: (xs) => map((row) => map(scalar, row), transpose(halves(xs))),
    fails: (xs) => map((row) => map((a) => add(a, row[0]), row), transpose(halves(xs))),
  },
  mapIdentity: { rule: rules.mapIdentity, holds: (xs) => map(id, xs), fails: (xs) => map((a) => add(a, 1), xs) },
  splitMap: {
    rule: rules.splitMap(6),
    holds: (xs) => map(scalar, xs),
    fails: (xs) => map(scalar, pad(0, 1, 0, xs)),
  },
  mapGlobal: { rule: rules.mapGlobal, holds: (xs) => map(scalar, xs), fails: groups((row) => map(scalar, row)) },
  mapWorkgroup: {
    rule: rules.mapWorkgroup,
    holds: (xs) => join(map((row) => map(scalar, row), halves(xs))),
    fails: (xs) => join(mapSeq((row) => map(scalar, row), halves(xs))),
  },
  mapLocal: {
    rule: rules.mapLocal,
    holds: groups((row) => map(scalar, row)),
    fails: (xs) => join(mapSeq((row) => map(scalar, row), halves(xs))),
  },
  mapSeq: { rule: rules.mapSeq, holds: (xs) => map(scalar, xs), fails: (xs) => mapSeq(scalar, xs) },
  reduceSeq: {
    rule: rules.reduceSeq,
    holds: (xs) => reduce((s, a) => mul(0.5, add(s, a)), 0, xs),
    fails: (xs) => xs,
  },
  splitReduce: {
    rule: rules.splitReduce(6),
    holds: (xs) => reduce(random.unit() < 0.5 ? (s, a) => add(s, a) : (s, a) => mul(s, a) as never, 0.25, xs),
    fails: (xs) => reduce((s, a) => mul(0.5, add(s, a)), 0, xs),
  },
  mapFission: {
    rule: rules.mapFission,
    holds: (xs) => map((a) => mul(0.5, add(a, mul(a, a))), xs),
    fails: (xs) => map((a) => add(a, mul(a, a)), xs),
  },
  splitTranspose: {
    rule: rules.splitTranspose(6),
    holds: (xs) => transpose(halves(xs)),
    fails: (xs) => transpose(split(4, xs)),
  },
  slideTiling: {
    rule: rules.slideTiling(4),
    holds: (xs) =>
      map(
        (w) =>
          reduce(
            add as never,
            0,
            map((a) => mul(0.2, a), w),
          ),
        slide(5, 1, xs),
      ),
    fails: (xs) => map((w) => reduce(add as never, 0, w), slide(random.pick([3, 4]), 1, xs)),
  },
  unroll: {
    rule: rules.unroll,
    holds: (xs) => iterate(random.integer(0, 4), (y) => map((a) => mul(0.5, add(a, y[0] as never)), y) as never, xs),
    fails: (xs) => iterate(17, (y) => y, xs),
  },
  toPrivate: {
    rule: rules.toPrivate,
    holds: (xs) => mapSeq(scalar, xs),
    fails: (xs) => mapSeq(scalar, pad(30, 30, 'wrap', xs)),
  },
  toLocal: {
    rule: rules.toLocal,
    holds: groups((row) => map(scalar, mapLocal(scalar, row))),
    fails: groups((row) => map(scalar, row)),
  },
};

const COUNT = 24;

/** A program around what a rule is about: whatever is done to a random array before. */
function around(what: (xs: Numbers) => unknown): Program {
  const type = random.unit() < 0.5 ? real(COUNT) : complex(COUNT);
  return program({ x: type as never }, ({ x }) => {
    // Nothing that a rule might take for its own place.
    const turned = join(transpose(split(random.pick([3, 4]), pad(6, 6, 'wrap', x as never)))) as unknown as Numbers;
    return what(turned) as never;
  });
}

function worstDifference(a: Float64Array, b: Float64Array): number {
  expect(a).toHaveLength(b.length);
  return a.reduce((worst, each, i) => Math.max(worst, Math.abs(each - b[i]!)), 0);
}

const refusal = (rule: Rule) =>
  expect.objectContaining({ code: 'invalid-program', problems: [expect.objectContaining({ path: rule.name })] });

describe('every rule', () => {
  it('is tried', () => {
    expect([...Object.keys(cases), 'stencilToFft'].sort()).toEqual(Object.keys(rules).sort());
  });

  for (const [name, { rule, holds, fails }] of Object.entries(cases)) {
    it(`keeps what programs mean, and has no place where its condition fails: ${name}`, () => {
      for (let round = 0; round < 20; round++) {
        const given = around(holds);
        const { program: rewritten, trace } = rewrite(given, rule);
        expect(rewritten.type).toBe(given.type);
        expect(trace).toEqual([{ rule: rule.name, before: print(given), after: print(rewritten) }]);
        expect(trace[0]!.after).not.toBe(trace[0]!.before);
        const x = made.numbers(given, COUNT);
        expect(worstDifference(interpret(rewritten, { x }), interpret(given, { x }))).toBeLessThan(1e-12);
        const refused = around(fails);
        expect(() => rewrite(refused, rule), print(refused)).toThrow(refusal(rule));
        expect(rewrite(refused, attempt(rule))).toEqual({ program: refused, trace: [] });
      }
    });
  }

  it('keeps what random programs mean, everywhere at once', () => {
    for (let round = 0; round < 60; round++) {
      const given = made.program(24, 4);
      const x = made.numbers(given, 24);
      const all = Object.values(cases).map(({ rule }) => everywhere(rule));
      const steps = Array.from({ length: 4 }, () => random.pick(all));
      const { program: rewritten } = rewrite(given, ...steps);
      const difference = worstDifference(interpret(rewritten, { x }), interpret(given, { x }));
      expect(difference, `${steps.map(({ rule }) => rule.name)}: ${print(given)}`).toBeLessThan(1e-12);
    }
  });
});

describe('stencilToFft', () => {
  const stencil = (n: number, left: number, k: number, boundary: 'wrap' | 'clamp') =>
    program({ x: real(n), h: real(k) }, ({ x, h }) =>
      map((w) => reduce(add, 0, map(mul, zip(w, h))), slide(k, 1, pad(left, k - 1 - left, boundary, x))),
    );

  it('keeps what stencils mean', () => {
    for (let round = 0; round < 20; round++) {
      const n = random.integer(1, 40);
      const k = random.integer(1, n);
      const given = stencil(n, random.integer(0, k - 1), k, 'wrap');
      const { program: rewritten } = rewrite(given, rules.stencilToFft);
      const [x, h] = [n, k].map((count) => Float64Array.from({ length: count }, () => random.unit() - 0.5));
      const inputs = { x: x!, h: h! };
      expect(worstDifference(interpret(rewritten, inputs), interpret(given, inputs))).toBeLessThan(1e-12);
    }
  });

  it('has no place where windows do not go round, or are longer than the array', () => {
    for (const refused of [stencil(9, 1, 3, 'clamp'), stencil(4, 1, 5, 'wrap')]) {
      expect(() => rewrite(refused, rules.stencilToFft)).toThrow(refusal(rules.stencilToFft));
    }
  });
});

describe('rewrite', () => {
  it('takes the outermost and leftmost place, and says what it did', () => {
    const { program: tiled, trace } = rewrite(matMul, rules.splitMap(64), rules.mapWorkgroup, rules.mapLocal);
    expect(tiled.type).toBe(matMul.type);
    expect(trace.map(({ rule }) => rule)).toEqual(['splitMap(64)', 'mapWorkgroup', 'mapLocal']);
    expect(trace.at(-1)!.after).toBe(
      'λ((A, B) => join <<: mapWorkgroup(mapLocal(λ(a => map(λ(b => reduce(+, 0) <<: map(*) <<: zip(a, b))) <<: transpose <<: B))) <<: split(64) <<: A)',
    );
  });

  it('refuses what is no step, and rules without a place', () => {
    for (const step of [undefined, 'mapSeq', {}, rules.splitMap]) {
      expect(() => rewrite(matMul, step as never)).toThrow(expect.objectContaining({ code: 'invalid-argument' }));
    }
    expect(() => rewrite(matMul, rules.mapLocal)).toThrow(
      /^mapLocal: it takes map\(f\) <<: xs, where it is in the function of a mapWorkgroup .*; there is none in λ\(\(A, B\)/,
    );
    expect(() => rules.splitMap(0)).toThrow(expect.objectContaining({ code: 'invalid-size' }));
  });
});
