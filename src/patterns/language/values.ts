/**
 * Values of a program, and the functions between them.
 *
 * A value is a node of a graph: an operation, the values that it is computed from, and its type. Functions are called once, with
 * symbols in the place of what they will be called with, and what they give is their body; it may hold values from around it. So the
 * types of all arguments are known when a value is made, and what does not fit is refused there.
 *
 * Values are shared by identity, and one that is used twice at every step of a long program stands in exponentially many places. All walks over
 * values therefore remember the nodes they have seen.
 */
import { FftError, show } from '../../problem/errors.ts';
import { Size } from './sizes.ts';
import { arrayOf, COMPLEX, isNumber, isSameType, REAL, type Type } from './types.ts';

/** Operations on numbers; the names are those of the functions that users call. */
export const scalarOps = [
  ...(['add', 'sub', 'mul', 'div', 'neg', 'min', 'max', 'abs', 'sqrt', 'log', 'exp', 'less', 'select'] as const),
  ...(['re', 'im', 'conj', 'norm2', 'complexOf'] as const),
] as const;
export type ScalarOp = (typeof scalarOps)[number];
/** Maps, and where their iterations run. */
export const maps = ['map', 'mapGlobal', 'mapWorkgroup', 'mapLocal', 'mapSeq'] as const;
export type MapOp = (typeof maps)[number];
export const isMap = ({ op }: { readonly op: Op }): boolean => (maps as readonly string[]).includes(op);
export type ReduceOp = 'reduce' | 'reduceSeq';
export type MemoryOp = 'toLocal' | 'toGlobal' | 'toPrivate';
export type TransformOp = 'dft' | 'idft' | 'fft' | 'ifft' | 'rfft' | 'irfft';
export type LayoutOp = 'zip' | 'split' | 'join' | 'transpose' | 'pad' | 'slide';

export type Op =
  /** The argument of a program or of a function. */
  | 'input'
  | 'symbol'
  /** Known numbers. */
  | 'constant'
  | 'omega'
  | ScalarOp
  /** Taking apart and putting together. */
  | 'at'
  | 'list'
  | 'tuple'
  | LayoutOp
  | 'array'
  | MapOp
  | ReduceOp
  | 'iterate'
  | MemoryOp
  | TransformOp;

/** The continuation of an array beyond its ends: see `pad`. */
export type Boundary = 'wrap' | 'clamp' | 'mirror' | number;

/** Parameters of an operation other than its operands. */
export interface Details {
  /** The name of an input. */
  readonly name?: string;
  /** The value of a constant. */
  readonly value?: number;
  /** The root of unity of `omega`: e^(−2πi·k/n). */
  readonly k?: number;
  readonly n?: number;
  /** The index of an element that is taken out of an array or a tuple. */
  readonly index?: number;
  /** Lengths: the chunks of `split`; left and right of `pad`; size and step of `slide`; the shape of `array`. */
  readonly lengths?: readonly Size[];
  readonly boundary?: Boundary;
  readonly times?: number;
  /** The function of an `array`, which gives the number at an index. */
  readonly make?: (...numbers: number[]) => unknown;
}

/** A function of a program. */
export interface Lambda {
  readonly parameters: readonly Value[];
  readonly body: Value;
}

/** The most elements of an array that can be destructured or be the input of `dft`. */
export const MOST_ELEMENTS = 64;

const parts = new WeakMap<Value, (Value | undefined)[]>();

export class Value {
  readonly op: Op;
  readonly type: Type;
  readonly of: readonly Value[];
  readonly f: Lambda | undefined;
  readonly details: Details;

  constructor(op: Op, type: Type, of: readonly Value[] = [], details: Details = {}, f?: Lambda) {
    this.op = op;
    this.type = type;
    this.of = Object.freeze(of);
    this.details = details;
    this.f = f;
    Object.freeze(this);
  }

  get length(): number {
    return elementCountOf(this);
  }

  *[Symbol.iterator](): Generator<Value> {
    const count = elementCountOf(this);
    for (let n = 0; n < count; n++) yield elementValue(this, n);
  }

  [Symbol.toPrimitive](): never {
    return refuseProgram('numbers', 'a value of a program is no number yet; add, mul, less … compute with them.');
  }
}

// `row[0]` is what `[first] = row` takes.
for (let n = 0; n < MOST_ELEMENTS; n++) {
  Object.defineProperty(Value.prototype, n, {
    get(this: Value) {
      return n < elementCountOf(this) ? elementValue(this, n) : undefined;
    },
  });
}

/** @throws FftError `invalid-program` */
export function refuseProgram(pattern: string, text: string): never {
  throw new FftError('invalid-program', `${pattern}: ${text}`, { path: pattern });
}

/** @throws FftError `unsupported-feature` */
export function refusePattern(pattern: string, text: string): never {
  throw new FftError('unsupported-feature', `${pattern}: ${text}`, { path: pattern });
}

/** @throws FftError `device-limit` */
export function beyondDevice(pattern: string, text: string): never {
  throw new FftError('device-limit', `${pattern}: ${text}`, { path: pattern });
}

/** A description of a given argument, for messages. */
export function describedValue(given: unknown): string {
  if (given instanceof Value) return given.type.text;
  if (Array.isArray(given) && given.length <= 4) return `[${given.map(describedValue).join(', ')}]`;
  return show(given);
}

function elementCountOf({ type }: Value): number {
  if (type.kind === 'tuple') return type.of.length;
  const known = type.kind === 'array' ? type.length.known : undefined;
  if (known !== undefined && known <= MOST_ELEMENTS) return known;
  return refuseProgram(
    'elements',
    `tuples can be taken apart, and arrays whose length is known and at most ${MOST_ELEMENTS}; it was given ${type.text}.`,
  );
}

/** Element `n` of a tuple or an array of known length. */
export function elementValue(value: Value, n: number): Value {
  if (value.op === 'list' || value.op === 'tuple') return value.of[n]!;
  let known = parts.get(value);
  if (!known) parts.set(value, (known = []));
  const { type } = value;
  const of = type.kind === 'tuple' ? type.of[n]! : (type as Extract<Type, { kind: 'array' }>).of;
  return (known[n] ??= new Value('at', of, [value], { index: n }));
}

/** The smallest type that holds the values of two types: complex where one is real and the other complex; undefined where there is none. */
export function widened(a: Type, b: Type): Type | undefined {
  if (isSameType(a, b)) return a;
  if (isNumber(a) && isNumber(b)) return COMPLEX;
  if (a.kind !== 'array' || b.kind !== 'array' || `${a.length}` !== `${b.length}`) return undefined;
  const of = widened(a.of, b.of);
  return of && arrayOf(of, a.length);
}

export function constantValue(value: number): Value {
  return new Value('constant', REAL, [], { value: value === 0 ? 0 : value });
}

/** A given argument as a value: a number, the two parts of a number, or a list; undefined for anything else. */
export function asValue(given: unknown): Value | undefined {
  if (given instanceof Value) return given;
  if (typeof given === 'number') return Number.isFinite(given) ? constantValue(given) : undefined;
  if (Array.isArray(given)) return listValue(given.map(asValue));
  if (typeof given !== 'object' || given === null || !('re' in given && 'im' in given)) return undefined;
  const [re, im] = [asValue(given.re), asValue(given.im)];
  const both = re?.type.kind === 'real' && im?.type.kind === 'real';
  return both ? new Value('complexOf', COMPLEX, [re, im]) : undefined;
}

function listValue(elements: readonly (Value | undefined)[]): Value | undefined {
  let type: Type | undefined = elements[0]?.type;
  for (const element of elements) type = element && type && widened(type, element.type);
  if (!type || type.kind === 'condition') return undefined;
  const of = type;
  const promoted = elements.map((element) => (isSameType(element!.type, of) ? element! : promote(element!)));
  return new Value('list', arrayOf(of, Size.of(elements.length)), promoted);
}

/** A value with all of its real numbers made complex. */
function promote(value: Value): Value {
  if (value.type.kind === 'real') return new Value('complexOf', COMPLEX, [value, constantValue(0)]);
  if (value.op === 'list') return listValue(value.of.map(promote))!;
  return value.type.kind === 'array' ? listValue([...value].map(promote))! : value;
}

/** Low-level patterns around the function that is being called, outermost first. */
const around: string[] = [];

export function patternsAround(): readonly string[] {
  return around;
}

/** The types of a function's arguments for an element: the parts of a tuple, or the element's own type. */
export function argumentTypes(type: Type): readonly Type[] {
  return type.kind === 'tuple' ? type.of : [type];
}

/**
 * Calls a function with symbols and takes its result as the body.
 * @param types types of the parameters
 * @throws FftError `invalid-program` for a result that is not a value; and any error that the function throws
 */
export function lambdaOf(pattern: string, f: unknown, types: readonly Type[]): Lambda {
  if (typeof f !== 'function') refuseProgram(pattern, `it takes a function; it was given ${describedValue(f)}.`);
  const parameters = types.map((type) => new Value('symbol', type));
  around.push(pattern);
  try {
    const given: unknown = (f as (...values: readonly Value[]) => unknown)(...parameters);
    const body = asValue(given);
    if (body && body.type.kind !== 'condition') return { parameters, body };
    return refuseProgram(
      pattern,
      `its function has to give a value, a number, { re, im } or a list of these, all of one type; it gave ${describedValue(given)}.`,
    );
  } finally {
    around.pop();
  }
}

const free = new WeakMap<Value, ReadonlySet<Value>>();
const NONE: ReadonlySet<Value> = new Set();

/** The free variables of a value: symbols and inputs that no function inside it binds. */
export function freeOf(value: Value): ReadonlySet<Value> {
  let known = free.get(value);
  if (!known) free.set(value, (known = freeIn(value)));
  return known;
}

function freeIn(value: Value): ReadonlySet<Value> {
  if (value.op === 'symbol' || value.op === 'input') return new Set([value]);
  const sets = value.of.map(freeOf);
  if (value.f) {
    const { parameters, body } = value.f;
    sets.push(new Set([...freeOf(body)].filter((symbol) => !parameters.includes(symbol))));
  }
  const some = sets.filter(({ size }) => size > 0);
  if (some.length === 0) return NONE;
  const [first, ...others] = some as [ReadonlySet<Value>, ...ReadonlySet<Value>[]];
  if (others.every((set) => [...set].every((symbol) => first.has(symbol)))) return first;
  return new Set(some.flatMap((set) => [...set]));
}

/** All values that a value is computed from, including bodies of functions; operands come before their users. */
export function reachableValues(root: Value): Value[] {
  const seen = new Set<Value>();
  const order: Value[] = [];
  const visit = (value: Value): void => {
    if (seen.has(value)) return;
    seen.add(value);
    value.of.forEach(visit);
    if (value.f) visit(value.f.body);
    order.push(value);
  };
  visit(root);
  return order;
}

/** A value in which one part is replaced by another value, in bodies of functions, too. */
export function replaced(root: Value, part: Value, by: Value): Value {
  const made = new Map([[part, by]]);
  const visit = (value: Value): Value => {
    let known = made.get(value);
    if (!known) made.set(value, (known = replaceOperands(value, visit)));
    return known;
  };
  return visit(root);
}

/** The same operation with other operands and another body; the original value if none of them has changed. */
export function replaceOperands(value: Value, of: (operand: Value) => Value, ofBody = of): Value {
  const operands = value.of.map(of);
  const body = value.f && ofBody(value.f.body);
  if (body === value.f?.body && operands.every((operand, n) => operand === value.of[n])) return value;
  if (value.op === 'at') return elementValue(operands[0]!, value.details.index!);
  const f = value.f && { parameters: value.f.parameters, body: body! };
  return new Value(value.op, value.type, operands, value.details, f);
}

/**
 * A lambda applied to arguments. Lambdas inside its body get fresh symbols, because the same lambda may occur in an argument as well.
 */
export function applied({ parameters, body }: Lambda, args: readonly Value[]): Value {
  const made = new Map(parameters.map((parameter, n) => [parameter, args[n]!]));
  const visit = (value: Value): Value => {
    let known = made.get(value);
    if (known) return known;
    if (![...freeOf(value)].some((symbol) => made.has(symbol))) return value;
    const operands = value.of.map(visit);
    const symbols = value.f?.parameters.map(({ type }) => new Value('symbol', type));
    value.f?.parameters.forEach((parameter, n) => made.set(parameter, symbols![n]!));
    const f = value.f && { parameters: symbols!, body: visit(value.f.body) };
    known =
      value.op === 'at'
        ? elementValue(operands[0]!, value.details.index!)
        : new Value(value.op, value.type, operands, value.details, f);
    made.set(value, known);
    return known;
  };
  return visit(body);
}

/** A function with fresh symbols for its parameters. */
export function lambdaWith(like: readonly Value[], body: (symbols: readonly Value[]) => Value): Lambda {
  const parameters = like.map(({ type }) => new Value('symbol', type));
  return { parameters, body: body(parameters) };
}

/** A value as the arguments of a function: the parts of a tuple, or the value itself. */
export function argumentsOf(value: Value): readonly Value[] {
  return value.type.kind === 'tuple' ? value.type.of.map((_, n) => elementValue(value, n)) : [value];
}
