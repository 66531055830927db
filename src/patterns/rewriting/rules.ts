/**
 * Rewrite rules: each replaces a value by another value with the same meaning. `left` and `right` show the two sides to people, in the notation of
 * the LIFT paper.
 */
import { nestingProblemIn } from '../language/nesting.ts';
import { type Length, type Size, sizeOfLength } from '../language/sizes.ts';
import { arrayOf, lengthsOfType } from '../language/types.ts';
import {
  applied,
  argumentsOf,
  freeOf,
  type Lambda,
  lambdaWith,
  type MapOp,
  type MemoryOp,
  MOST_ELEMENTS,
  reachableValues,
  replaced,
  Value,
} from '../language/values.ts';
import { isJust, patterns, type Rule } from './rule.ts';
import { stencilToFft } from './stencils.ts';

function mapOf(op: MapOp, like: Value, f: Lambda): Value {
  return new Value(op, like.type, like.of, like.details, f);
}

const mapFusion: Rule = {
  name: 'mapFusion',
  left: 'map(f) <<: map(g) <<: xs',
  right: 'map(f o g) <<: xs',
  apply({ op, type, of: [inner], f }) {
    if (op !== 'map' || inner!.op !== 'map') return undefined;
    const g = inner!.f!;
    const both = lambdaWith(g.parameters, (symbols) => applied(f!, argumentsOf(applied(g, symbols))));
    return new Value('map', type, inner!.of, {}, both);
  },
};

const reduceFusion: Rule = {
  name: 'reduceFusion',
  left: 'reduce(f, first) <<: map(g) <<: xs',
  right: 'reduceSeq(λ((sum, x) => f(sum, g(x))), first) <<: xs',
  apply({ op, type, of: [first, inner], f }) {
    if ((op !== 'reduce' && op !== 'reduceSeq') || inner!.op !== 'map') return undefined;
    const g = inner!.f!;
    const both = lambdaWith([f!.parameters[0]!, ...g.parameters], ([sum, ...symbols]) =>
      applied(f!, [sum!, ...argumentsOf(applied(g, symbols))]),
    );
    return new Value('reduceSeq', type, [first!, inner!.of[0]!], {}, both);
  },
};

const flatten: Rule = {
  name: 'flatten',
  left: 'map(λ(x => g <<: map(f) <<: zip(x, y))) <<: xs',
  right: 'map(g) <<: split(n) <<: map(f) <<: zip(join <<: xs, pad(0, (m - 1)*n, wrap) <<: y)',
  where: 'f and y are the same for all x, and x stands nowhere else; xs is [[α]_n]_m',
  apply(value) {
    const { op, of, f } = value;
    const [xs] = of;
    const [x, ...more] = f?.parameters ?? [];
    if (op !== 'map' || !x || more.length > 0 || xs!.type.kind !== 'array' || x.type.kind !== 'array') return undefined;
    const outside = freeOf(value);
    const isInner = ({ op, of: [zipped] }: Value) =>
      op === 'map' && zipped!.op === 'zip' && zipped!.of.length === 2 && zipped!.of[0] === x;
    const inner = reachableValues(f!.body).find(
      (each) => isInner(each) && [...freeOf(each)].every((symbol) => symbol === x || outside.has(symbol)),
    );
    const y = inner?.of[0]?.of[1];
    if (!inner || !y || [...freeOf(y), ...freeInFunction(inner)].includes(x)) return undefined;
    const rest = withInner(f!.body, inner);
    if (freeOf(rest.body).has(x)) return undefined;
    const [n, m] = [x.type.length, xs!.type.length];
    const repeated = patterns.pad!(0, n.times(m.minus(1)), 'wrap', y);
    const zipped = patterns.zip!(patterns.join!(xs), repeated);
    const flat = patterns.map!((...symbols: Value[]) => applied(inner.f!, symbols), zipped);
    const rows = patterns.split!(n, flat);
    return rest.body === rest.parameters[0] ? rows : new Value('map', value.type, [rows], {}, rest);
  },
};

function freeInFunction({ f }: Value): Value[] {
  return [...freeOf(f!.body)].filter((symbol) => !f!.parameters.includes(symbol));
}

/** A body as a function of one of the values in it. */
function withInner(body: Value, inner: Value): Lambda {
  return lambdaWith([inner], ([symbol]) => replaced(body, inner, symbol!));
}

/** A rule for a value that is rearranged twice in succession. @param of its replacement; undefined where the rule does not apply */
function rearrangedTwice(
  name: string,
  left: string,
  right: string,
  of: (value: Value) => Value | undefined,
  where?: string,
): Rule {
  return { name, left, right, ...(where ? { where } : {}), apply: of };
}

const joinSplit = rearrangedTwice('joinSplit', 'join <<: split(m) <<: xs', 'xs', ({ op, of: [inner] }) =>
  op === 'join' && inner!.op === 'split' ? inner!.of[0] : undefined,
);

const splitJoin = rearrangedTwice(
  'splitJoin',
  'split(m) <<: join <<: xs',
  'xs',
  ({ op, type, of: [inner] }) =>
    op === 'split' && inner!.op === 'join' && inner!.of[0]!.type.text === type.text ? inner!.of[0] : undefined,
  'xs is [[α]_m]_n',
);

const transposeTranspose = rearrangedTwice(
  'transposeTranspose',
  'transpose <<: transpose <<: xs',
  'xs',
  ({ op, of: [inner] }) => (op === 'transpose' && inner!.op === 'transpose' ? inner!.of[0] : undefined),
);

const mapIdentity = rearrangedTwice('mapIdentity', 'map(id) <<: xs', 'xs', ({ op, of: [xs], f }) =>
  op === 'map' && f!.body === f!.parameters[0] && f!.parameters.length === 1 ? xs : undefined,
);

const mapTranspose: Rule = {
  name: 'mapTranspose',
  left: 'map(map(f)) <<: transpose <<: xs',
  right: 'transpose <<: map(map(f)) <<: xs',
  where: 'f is the same for all rows',
  apply({ op, of: [inner], f }) {
    const [row] = f?.parameters ?? [];
    const body = f?.body;
    if (op !== 'map' || inner!.op !== 'transpose' || body?.op !== 'map' || body.of[0] !== row) return undefined;
    if (freeInFunction(body).includes(row!)) return undefined;
    const each = (...symbols: Value[]) => applied(body.f!, symbols);
    return patterns.transpose!(patterns.map!((own: Value) => patterns.map!(each, own), inner!.of[0]));
  },
};

/** @param m length of the chunks, each of which an inner map handles @throws FftError `invalid-size` */
function splitMap(m: Length): Rule {
  const size = sizeOfLength('splitMap', m);
  return {
    name: `splitMap(${size})`,
    left: 'map(f) <<: xs',
    right: `join <<: map(map(f)) <<: split(${size}) <<: xs`,
    where: `${size} divides the length of xs`,
    apply({ op, type, of: [xs], f }) {
      if (op !== 'map' || type.kind !== 'array') return undefined;
      if (!Number.isInteger(type.length.over(size).known ?? 1)) return undefined;
      const each = (...symbols: Value[]) => applied(f!, symbols);
      return patterns.join!(patterns.map!((chunk: Value) => patterns.map!(each, chunk), patterns.split!(size, xs)));
    },
  };
}

function slideTiling(m: Length): Rule {
  const count = sizeOfLength('slideTiling', m);
  return {
    name: `slideTiling(${count})`,
    left: 'map(f) <<: slide(k, 1) <<: xs',
    right: `join <<: map(map(f) o slide(k, 1)) <<: slide(k - 1 + ${count}, ${count}) <<: xs`,
    where: `${count} divides the number of windows`,
    apply({ op, type, of: [windows], f }) {
      if (op !== 'map' || windows!.op !== 'slide' || type.kind !== 'array') return undefined;
      const [k, step] = windows!.details.lengths as [Size, Size];
      if (step.known !== 1 || !Number.isInteger(type.length.over(count).known ?? 1)) return undefined;
      const each = (...symbols: Value[]) => applied(f!, symbols);
      const tiles = patterns.slide!(k.minus(1).plus(count), count, windows!.of[0]);
      return patterns.join!(patterns.map!((tile: Value) => patterns.map!(each, patterns.slide!(k, 1, tile)), tiles));
    },
  };
}

function splitTranspose(m: Length): Rule {
  const size = sizeOfLength('splitTranspose', m);
  return {
    name: `splitTranspose(${size})`,
    left: 'transpose <<: xs',
    right: `join <<: map(transpose) <<: transpose <<: map(split(${size})) <<: xs`,
    where: `${size} divides the length of rows`,
    apply({ op, type, of: [xs] }) {
      if (op !== 'transpose' || type.kind !== 'array') return undefined;
      if (!Number.isInteger(type.length.over(size).known ?? 1)) return undefined;
      const blocks = patterns.transpose!(patterns.map!((row: Value) => patterns.split!(size, row), xs));
      return patterns.join!(patterns.map!((block: Value) => patterns.transpose!(block), blocks));
    },
  };
}

const mapFission: Rule = {
  name: 'mapFission',
  left: 'map(f o g) <<: xs',
  right: 'map(f) <<: map(g) <<: xs',
  where: 'f takes one argument, and nothing of xs but what g makes of it',
  apply({ op, type, of: [xs], f }) {
    if (op !== 'map' || xs!.type.kind !== 'array') return undefined;
    const { parameters, body } = f!;
    const uses = (value: Value) => parameters.some((parameter) => freeOf(value).has(parameter));
    const [inner, ...others] = new Set(body.of.filter(uses));
    const isWhole = !inner || others.length > 0 || parameters.includes(inner) || (body.f && uses(body.f.body));
    if (isWhole || inner.type.kind === 'tuple' || inner.type.kind === 'condition') return undefined;
    const made = new Value(
      'map',
      arrayOf(inner.type, xs!.type.length),
      [xs!],
      {},
      lambdaWith(parameters, (symbols) => applied({ parameters, body: inner }, symbols)),
    );
    const rest = lambdaWith([inner], ([symbol]) => replaced(body, inner, symbol!));
    return new Value('map', type, [made], {}, rest);
  },
};

/** The most steps of an unrolled `iterate`. */
const MOST_STEPS = 16;

const unroll: Rule = {
  name: 'unroll',
  left: 'iterate(k, f) <<: x',
  right: 'f o … o f <<: x',
  where: `k is at most ${MOST_STEPS}`,
  apply({ op, of: [start], f, details: { times } }) {
    if (op !== 'iterate' || times! > MOST_STEPS) return undefined;
    return Array.from({ length: times! }).reduce<Value>((value) => applied(f!, [value]), start!);
  },
};

const toPrivate: Rule = {
  name: 'toPrivate',
  left: 'mapSeq(f) <<: xs',
  right: 'toPrivate(mapSeq(f)) <<: xs',
  where: `it makes at most ${MOST_ELEMENTS} numbers, and is in the function of no toPrivate already`,
  apply(value, around) {
    const count = lengthsOfType(value.type).reduce(
      (product, { known = Number.POSITIVE_INFINITY }) => product * known,
      1,
    );
    if (value.op !== 'mapSeq' || count > MOST_ELEMENTS || around.at(-1) === 'toPrivate') return undefined;
    return mapInMemory('toPrivate', value);
  },
};

/** A map whose result is placed in a memory. */
function mapInMemory(op: MemoryOp, { op: map, type, of, f }: Value): Value {
  const own = lambdaWith(of, (symbols) => new Value(map, type, symbols, {}, f));
  return new Value(op, type, of, {}, own);
}

function lowered(op: MapOp, where?: string): Rule {
  return {
    name: op,
    left: 'map(f) <<: xs',
    right: `${op}(f) <<: xs`,
    ...(where ? { where } : {}),
    apply(value, around) {
      if (value.op !== 'map') return undefined;
      const made = mapOf(op, value, value.f!);
      return nestingProblemIn(made, around) ? undefined : made;
    },
  };
}

const reduceSeq: Rule = {
  name: 'reduceSeq',
  left: 'reduce(f, first) <<: xs',
  right: 'reduceSeq(f, first) <<: xs',
  apply: ({ op, type, of, f }) => (op === 'reduce' ? new Value('reduceSeq', type, of, {}, f) : undefined),
};

/** Neutral elements, which partial results begin with; a minimum or maximum may begin with the same value several times. */
const NEUTRAL: Readonly<Record<string, number | undefined>> = { add: 0, mul: 1 };

/** @param m elements of each partial result @throws FftError `invalid-size` */
function splitReduce(m: Length): Rule {
  const size = sizeOfLength('splitReduce', m);
  return {
    name: `splitReduce(${size})`,
    left: 'reduce(f, first) <<: xs',
    right: `reduce(f, first) <<: map(reduce(f, neutral)) <<: split(${size}) <<: xs`,
    where: `f is +, *, min or max, and ${size} divides the length of xs`,
    apply({ op, of: [first, xs], f }) {
      if (op !== 'reduce' || xs!.type.kind !== 'array') return undefined;
      const name = ['add', 'mul', 'min', 'max'].find((each) => isJust(each, f!));
      if (!name || !Number.isInteger(xs!.type.length.over(size).known ?? 1)) return undefined;
      const each = (...symbols: Value[]) => applied(f!, symbols);
      const begin = NEUTRAL[name] ?? first;
      const parts = patterns.map!((chunk: Value) => patterns.reduce!(each, begin, chunk), patterns.split!(size, xs));
      return patterns.reduce!(each, first, parts);
    },
  };
}

const toLocal: Rule = {
  name: 'toLocal',
  left: 'mapLocal(f) <<: xs',
  right: 'toLocal(mapLocal(f)) <<: xs',
  where: 'it is in the function of no toLocal or toGlobal already',
  apply(value, around) {
    if (value.op !== 'mapLocal' || around.at(-1) === 'toLocal' || around.at(-1) === 'toGlobal') return undefined;
    return mapInMemory('toLocal', value);
  },
};

/** The rules by name. A rule that splits or tiles is a function of the chunk length. */
export const rules = {
  mapFusion,
  reduceFusion,
  flatten,
  joinSplit,
  splitJoin,
  transposeTranspose,
  mapTranspose,
  mapIdentity,
  mapFission,
  splitMap,
  splitTranspose,
  slideTiling,
  unroll,
  mapGlobal: lowered(
    'mapGlobal',
    'it is in the function of no low-level map, and has no mapGlobal or mapWorkgroup inside',
  ),
  mapWorkgroup: lowered(
    'mapWorkgroup',
    'it is in the function of no low-level map, and has no mapGlobal or mapWorkgroup inside',
  ),
  mapLocal: lowered(
    'mapLocal',
    'it is in the function of a mapWorkgroup and of no mapLocal, and has no mapLocal inside',
  ),
  mapSeq: lowered('mapSeq', 'it has no mapGlobal or mapWorkgroup inside'),
  reduceSeq,
  splitReduce,
  toLocal,
  toPrivate,
  stencilToFft,
} as const;
