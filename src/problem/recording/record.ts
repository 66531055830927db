/**
 * The recorder of callbacks: it calls a callback with symbols and writes down the expressions that it builds. All arguments are checked as they
 * come in, so that the result is plain data that every device can run.
 */
import type {
  BuiltCallback,
  CallbackArray,
  CallbackBuilder,
  CallbackCondition,
  CallbackIndex,
  CallbackNode,
  CallbackPlace,
  CallbackReal,
  CallbackValue,
  NumberKind,
  RealBinary,
  RealUnary,
} from '../callbacks.ts';
import { FftError, reasonOf, show } from '../errors.ts';
import { isRecord, type RawRecord } from '../input/snapshot.ts';

/** The arguments and limits of a callback. */
export interface CallbackSetting {
  /** The shape of the tensor that the element lies in: [left, axis 0 …, coordinate, batch]. */
  readonly shape: readonly number[];
  readonly takes: NumberKind;
  /** The kinds of number that it may return. */
  readonly gives: readonly NumberKind[];
  readonly precision: 'single' | 'double' | 'double-double';
  readonly arrays: { readonly [name: string]: CallbackArray };
}

/** The most steps of a callback: far more than any device has registers for. */
const MOST_NODES = 4096;

/** The range of constants' magnitudes: smaller numbers have fewer digits, larger ones are no numbers of the precision. */
const CONSTANTS = {
  single: { least: 2 ** -126, most: (2 - 2 ** -23) * 2 ** 127 },
  double: { least: 2 ** -200, most: Number.MAX_VALUE },
  'double-double': { least: 2 ** -200, most: Number.MAX_VALUE },
} as const;

/** The meaning of a symbol. */
type Meaning =
  | { readonly kind: 'real'; readonly node: number }
  | { readonly kind: 'condition'; readonly less: readonly [number, number] }
  /** All values are between `low` and `high`. */
  | { readonly kind: 'index'; readonly node: number; readonly low: number; readonly high: number };

type Of<K extends Meaning['kind']> = Extract<Meaning, { kind: K }>;

/** All symbols that any callback was given or has built. */
const allSymbols = new WeakSet<object>();

/**
 * Records a callback, which is called once.
 * @returns the steps that it has built, or what is wrong with it, as the end of a sentence that begins with its name
 */
export function record(given: unknown, recording: CallbackSetting): BuiltCallback | string {
  const recorder = new Recorder(recording);
  const callback = isRecord(given) ? replayed(given, recorder) : given;
  if (typeof callback !== 'function') return `is ${show(given)}, but must be a function (x, value, at) => value.`;
  try {
    return recorder.built(callback(recorder.builder(), recorder.value(), recorder.place()));
  } catch (cause) {
    // A fault remains a fault even if the callback caught its error.
    return recorder.fault ?? `has thrown an exception: ${reasonOf(cause)}.`;
  } finally {
    recorder.close();
  }
}

/** Runs the steps of a built callback again, as its function did, so that they are checked like any other. */
function replayed({ nodes, result }: RawRecord, recorder: Recorder): unknown {
  if (!Array.isArray(nodes) || !Array.isArray(result)) return undefined;
  return (x: CallbackBuilder, value: CallbackValue, at: CallbackPlace) => {
    const made: unknown[] = [];
    const dimensions = [at.left, ...at.axis, at.coordinate, at.batch];
    for (const node of nodes) {
      const { op, a, b, by, less = [], index, array, value: number, dimension, from, to } = isRecord(node) ? node : {};
      const of = (n: unknown) => made[n as number] as never;
      const [one, other] = Array.isArray(less) ? less : [];
      const again: Readonly<Record<string, () => unknown>> = {
        re: () => (recordedReal(value) ? value : value.re),
        im: () => value.im,
        constant: () => x.constant(number as number),
        select: () => x.select(x.less(of(one), of(other)), of(a), of(b)),
        load: () => x.load(array as string, of(index)),
        where: () => recorder.where(of(index), [from, to], of(a), of(b)),
        place: () => dimensions[dimension as number],
        // An integer is no symbol by itself, but an operand of others.
        integer: () => number,
        'index-add': () => x.index.add(of(a), of(b)),
        'index-mul': () => x.index.mul(of(a), by as number),
        'index-div': () => x.index.div(of(a), by as number),
        'index-mod': () => x.index.mod(of(a), by as number),
        ...Object.fromEntries(UNARY.map((name) => [name, () => x[name](of(a))])),
        ...Object.fromEntries(BINARY.map((name) => [name, () => x[name](of(a), of(b))])),
      };
      made.push(typeof op === 'string' && Object.hasOwn(again, op) ? again[op]!() : undefined);
    }
    const parts = result.map((n) => made[n as number]);
    return parts.length === 2 ? { re: parts[0], im: parts[1] } : parts[0];
  };
}

const UNARY = ['neg', 'sqrt', 'abs', 'log', 'exp'] as const satisfies readonly RealUnary[];
const BINARY = ['add', 'sub', 'mul', 'div', 'min', 'max'] as const satisfies readonly RealBinary[];

/** Whether an element is a single real; only complex numbers have parts. */
function recordedReal(value: CallbackValue): boolean {
  return !('re' in value);
}

class Recorder {
  /** The first thing that was wrong. */
  fault: string | undefined;
  private readonly recording: CallbackSetting;
  private readonly nodes: CallbackNode[] = [];
  private readonly meanings = new WeakMap<object, Meaning>();
  /** Methods by which JavaScript's own arithmetic converts all symbols; they report a fault. */
  private readonly symbols = Object.freeze({
    __proto__: null,
    [Symbol.toPrimitive]: () => this.fail('takes a symbol for a number; x.mul, x.add, x.less … compute with symbols.'),
  });
  private closed = false;

  constructor(recording: CallbackSetting) {
    this.recording = recording;
  }

  close(): void {
    this.closed = true;
  }

  builder(): CallbackBuilder {
    const unary = (op: RealUnary) => (a: CallbackReal) => this.real({ op, a: this.of('real', a, op) });
    const binary = (op: RealBinary) => (a: CallbackReal, b: CallbackReal) =>
      this.real({ op, a: this.of('real', a, op), b: this.of('real', b, op) });
    return Object.freeze({
      constant: (value: number) => this.constant(value),
      add: binary('add'),
      sub: binary('sub'),
      mul: binary('mul'),
      div: binary('div'),
      neg: unary('neg'),
      sqrt: unary('sqrt'),
      abs: unary('abs'),
      log: (a: CallbackReal) => this.series('log', a),
      exp: (a: CallbackReal) => this.series('exp', a),
      min: binary('min'),
      max: binary('max'),
      less: (a: CallbackReal, b: CallbackReal) => {
        const less = [this.of('real', a, 'less'), this.of('real', b, 'less')] as const;
        return this.symbol<CallbackCondition>({ kind: 'condition', less });
      },
      select: (condition: CallbackCondition, a: CallbackReal, b: CallbackReal) => {
        const { less } = this.meaning('condition', condition, 'select');
        return this.real({ op: 'select', less, a: this.of('real', a, 'select'), b: this.of('real', b, 'select') });
      },
      load: (name: string, index: CallbackIndex | number) => this.load(name, index),
      index: Object.freeze({
        add: (a: CallbackIndex | number, b: CallbackIndex | number) => {
          const [one, other] = [this.index(a, 'index.add'), this.index(b, 'index.add')];
          const range = { low: one.low + other.low, high: one.high + other.high };
          return this.integer({ op: 'index-add', a: one.node, b: other.node }, range);
        },
        mul: (a: CallbackIndex, by: number) => this.times(a, by),
        div: (a: CallbackIndex, by: number) => {
          const { node, low, high } = this.index(a, 'index.div');
          this.divisor(by, 'index.div');
          return this.integer(
            { op: 'index-div', a: node, by },
            { low: Math.floor(low / by), high: Math.floor(high / by) },
          );
        },
        mod: (a: CallbackIndex, by: number) => {
          const { node, low, high } = this.index(a, 'index.mod');
          this.divisor(by, 'index.mod');
          const within = low >= 0 && high < by;
          return this.integer({ op: 'index-mod', a: node, by }, within ? { low, high } : { low: 0, high: by - 1 });
        },
      }),
    });
  }

  /** `a` where an index is in a range, otherwise `b`. */
  where(at: CallbackIndex, [from, to]: readonly unknown[], a: CallbackReal, b: CallbackReal): CallbackReal {
    const { node } = this.index(at, 'where');
    const ends = [from, to].every((end) => Number.isSafeInteger(end) && Math.abs(end as number) <= MOST_INDEX);
    if (!ends) this.fail(`has given where ${this.named(from)} and ${this.named(to)}; it takes two integers.`);
    const range = { from: from as number, to: to as number };
    return this.real({
      op: 'where',
      index: node,
      ...range,
      a: this.of('real', a, 'where'),
      b: this.of('real', b, 'where'),
    });
  }

  value(): CallbackValue {
    const re = this.real({ op: 're' });
    if (this.recording.takes === 'real') return re as CallbackValue;
    return Object.freeze({ re, im: this.real({ op: 'im' }) }) as unknown as CallbackValue;
  }

  place(): CallbackPlace {
    const { shape } = this.recording;
    const along = (dimension: number) =>
      this.integer({ op: 'place', dimension }, { low: 0, high: shape[dimension]! - 1 });
    const axis = Object.freeze(shape.slice(1, -2).map((_, d) => along(d + 1)));
    return Object.freeze({
      axis,
      coordinate: along(shape.length - 2),
      batch: along(shape.length - 1),
      left: along(0),
    });
  }

  /** The built callback: the steps of the returned value with all that these depend on, and nothing else. */
  built(returned: unknown): BuiltCallback {
    if (this.fault !== undefined) this.fail(this.fault);
    const { takes, gives: allowed } = this.recording;
    const parts = this.parts(returned, allowed);
    const gives = parts.length === 2 ? 'complex' : 'real';
    const numbers = new Map<number, number>();
    const nodes: CallbackNode[] = [];
    const needed = new Set<number>();
    const visit = (n: number): void => {
      if (needed.has(n)) return;
      needed.add(n);
      for (const operand of nodeOperands(this.nodes[n]!)) visit(operand);
    };
    parts.forEach(visit);
    this.nodes.forEach((node, n) => {
      if (!needed.has(n)) return;
      numbers.set(n, nodes.length);
      nodes.push(Object.freeze(renumbered(node, numbers)));
    });
    const result = Object.freeze(parts.map((n) => numbers.get(n)!));
    return Object.freeze({ takes, gives, nodes: Object.freeze(nodes), result });
  }

  private parts(returned: unknown, allowed: readonly NumberKind[]): number[] {
    if (isThenable(returned)) {
      // A promise is refused; further calls to the builder fail, and its rejection has no other handler.
      returned.then(undefined, () => undefined);
      return this.fail('has returned a promise, but must return the value itself.');
    }
    const known = this.meanings.get(returned as object);
    if (known?.kind === 'real') {
      if (allowed.includes('real')) return [known.node];
      return this.fail('has returned a real, but must return a complex number, { re, im }.');
    }
    const isPair = !known && typeof returned === 'object' && returned !== null && 're' in returned && 'im' in returned;
    if (!isPair) return this.fail(`has returned ${this.named(returned)}, but must return ${KINDS[allowed.join()]}.`);
    const { re, im } = returned as { readonly re: unknown; readonly im: unknown };
    if (!allowed.includes('complex')) {
      return this.fail('has returned a complex number, { re, im }, but must return a real.');
    }
    return [re, im].map((part, n) => {
      const meaning = this.meanings.get(part as object);
      if (meaning?.kind === 'real') return meaning.node;
      return this.fail(`has returned ${this.named(part)} as ${n === 0 ? 're' : 'im'}, but must return a value there.`);
    });
  }

  /** A function that is computed by a series, whose terms are enough for doubles. */
  private series(op: 'log' | 'exp', a: CallbackReal): CallbackReal {
    if (this.recording.precision !== 'double-double') return this.real({ op, a: this.of('real', a, op) });
    return this.fail(`calls x.${op}, which is computed in single and double precision only; plan in one of them.`);
  }

  private constant(value: number): CallbackReal {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      this.fail(`has made a constant of ${this.named(value)}, but it takes a finite number.`);
    }
    const { precision } = this.recording;
    const { least, most } = CONSTANTS[precision];
    const size = Math.abs(value);
    if (size > most || (size < least && size > 0)) {
      const range = `0 or ${least.toPrecision(2)} to ${most.toPrecision(2)} in magnitude`;
      this.fail(
        `has made a constant of ${value}, but in ${precision === 'single' ? precision : 'double'} precision it may be ${range}.`,
      );
    }
    return this.real({ op: 'constant', value: value === 0 ? 0 : value });
  }

  private load(name: string, at: CallbackIndex | number): CallbackReal {
    const { arrays } = this.recording;
    if (typeof name !== 'string' || !Object.hasOwn(arrays, name)) {
      const known = Object.keys(arrays);
      const accepted = known.length > 0 ? `callbacks.arrays has ${known.join(', ')}` : 'callbacks.arrays has none';
      this.fail(`loads from ${show(name)}, but ${accepted}.`);
    }
    const { node, low, high } = this.index(at, 'load');
    const { length } = arrays[name]!;
    if (low < 0 || high >= length) {
      const range = low === high ? `${low}` : `${low} to ${high}`;
      this.fail(
        `loads ${name}[${range}], but the array has elements 0 to ${length - 1}; index.mod keeps indices in it.`,
      );
    }
    return this.real({ op: 'load', array: name, index: node });
  }

  private times(a: CallbackIndex, by: number): CallbackIndex {
    const { node, low, high } = this.index(a, 'index.mul');
    if (!Number.isSafeInteger(by))
      this.fail(`has given index.mul ${this.named(by)} to multiply by; it takes an integer.`);
    const ends = [low * by, high * by];
    return this.integer(
      { op: 'index-mul', a: node, by: by === 0 ? 0 : by },
      { low: Math.min(...ends) + 0, high: Math.max(...ends) + 0 },
    );
  }

  private divisor(by: number, what: string): void {
    if (Number.isSafeInteger(by) && by >= 1 && by <= MOST_INDEX) return;
    this.fail(`has given ${what} ${this.named(by)} to divide by; it takes a positive integer.`);
  }

  private index(value: unknown, what: string): Of<'index'> {
    if (typeof value !== 'number') return this.meaning('index', value, what);
    if (!Number.isSafeInteger(value)) this.fail(`has given ${what} ${value}, but indices are integers.`);
    return this.meaning('index', this.integer({ op: 'integer', value }, { low: value, high: value }), what);
  }

  private of(kind: 'real', value: unknown, what: string): number {
    return this.meaning(kind, value, what).node;
  }

  private meaning<K extends Meaning['kind']>(kind: K, value: unknown, what: string): Of<K> {
    this.requireOpen();
    const meaning = this.meanings.get(value as object);
    if (meaning?.kind === kind) return meaning as Of<K>;
    const hint = typeof value === 'number' && kind === 'real' ? '; x.constant makes a value of a number' : '';
    return this.fail(`has given ${what} ${this.named(value)}, but it takes ${NAMES[kind]}${hint}.`);
  }

  private real(node: CallbackNode): CallbackReal {
    return this.symbol({ kind: 'real', node: this.append(node) });
  }

  private integer(node: CallbackNode, { low, high }: { readonly low: number; readonly high: number }): CallbackIndex {
    if (Math.max(-low, high) > MOST_INDEX) this.fail(`has an index from ${low} to ${high}; ${MOST_INDEX} is the most.`);
    return this.symbol({ kind: 'index', node: this.append(node), low, high });
  }

  private append(node: CallbackNode): number {
    this.requireOpen();
    if (this.nodes.length >= MOST_NODES) this.fail(`takes more than ${MOST_NODES} steps.`);
    return this.nodes.push(node) - 1;
  }

  private symbol<S extends object>(meaning: Meaning): S {
    const symbol = Object.freeze(Object.create(this.symbols)) as S;
    this.meanings.set(symbol, meaning);
    allSymbols.add(symbol);
    return symbol;
  }

  /** @throws FftError `destroyed` where the callback has returned */
  private requireOpen(): void {
    if (!this.closed) return;
    throw new FftError(
      'destroyed',
      'A callback builds its value while it is called: this one has returned, and what it was given builds nothing any more.',
    );
  }

  /** A value that a callback gave in place of an expected one, in words. */
  private named(value: unknown): string {
    const meaning = this.meanings.get(value as object);
    if (meaning) return NAMES[meaning.kind];
    if (allSymbols.has(value as object)) return 'what belongs to another callback';
    const isPair = typeof value === 'object' && value !== null && this.meanings.has((value as { re: object }).re);
    if (isPair) return 'a complex number, { re, im }';
    return typeof value === 'number' ? `the number ${value}` : show(value);
  }

  /** @param fault the end of a sentence that begins with the name of the callback. */
  private fail(fault: string): never {
    this.requireOpen();
    this.fault ??= fault;
    throw new FftError('invalid-field', `The callback ${fault}`);
  }
}

const NAMES = { real: 'a value', condition: 'a condition', index: 'an index' } as const;

const KINDS: Readonly<Record<string, string>> = {
  real: 'a real',
  complex: 'a complex number, { re, im }',
  'complex,real': 'a complex number, { re, im }, or a real',
};

/** The largest magnitude of an index, even of an intermediate one: 32 bits with a sign. */
const MOST_INDEX = 2 ** 31 - 1;

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function nodeOperands(node: CallbackNode): number[] {
  const { a, b, less = [], index } = node as { a?: number; b?: number; less?: readonly number[]; index?: number };
  return [a, b, ...less, index].filter((operand) => operand !== undefined);
}

function renumbered(node: CallbackNode, numbers: ReadonlyMap<number, number>): CallbackNode {
  const made = { ...node } as Record<string, unknown>;
  for (const field of ['a', 'b', 'index']) if (field in made) made[field] = numbers.get(made[field] as number)!;
  if (node.op === 'select') made.less = Object.freeze(node.less.map((n) => numbers.get(n)!));
  return made as unknown as CallbackNode;
}
