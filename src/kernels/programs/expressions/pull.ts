/** The values of a program inside one kernel. Values are pulled: each number asks for its operands, until the operands are arrays in memory. */
import {
  type ArrayRef,
  coordinates,
  type ElementType,
  EVERYWHERE,
  Expressions,
  type Guard,
  guardKey,
  type Index,
  index,
  indexKey,
  type Real,
  scale,
  simplified,
  add as sum,
  TableBuilder,
  type Var,
  variable,
} from '../../../ir/index.ts';
import * as layouts from '../../../layout/index.ts';
import { lengthValue as lengthIn, numbersOf } from '../../../patterns/language/sizing.ts';
import { isOfNumbers, scalarOf, type Type } from '../../../patterns/language/types.ts';
import { isMap, MOST_ELEMENTS, refusePattern, type ScalarOp, type Value } from '../../../patterns/language/values.ts';
import { dft } from '../../passes/butterfly.ts';
import { type MemoryAccess, memoryAccessesOf } from '../../views/layout-accesses.ts';
import { knownScalar, numberExpression, scalarResult } from './arithmetic.ts';
import { Environment, type WorkGroup } from './environment.ts';
import type { Planning } from './planning.ts';
import {
  asDimension,
  elementOf,
  type KnownNumbers,
  type Leaf,
  type NumberExpression,
  type Pulled,
  packedLayout,
  paddedLayout,
  withLayouts,
} from './pulled.ts';

/** The source of an array that layouts refer to. */
export type Source =
  | { readonly kind: 'memory'; readonly array: ArrayRef; readonly words: 1 | 2; readonly begin: number }
  /** The source's elements are computed when they are read. */
  | {
      readonly kind: 'computed';
      readonly shape: readonly number[];
      element(at: readonly Index[], guard: Guard): NumberExpression;
    };

export abstract class Pull {
  readonly x = new Expressions();
  readonly tables: TableBuilder;
  readonly root: Environment;
  /** Arrays in memory by the names of their buffers; the kernel's result is `out`. */
  readonly memory = new Map<string, ArrayRef>();
  readonly plan: Planning;
  protected readonly precision: ElementType;
  protected readonly sources = new Map<string, Source>();
  /** Known numbers in the table, by their first place there. */
  readonly tabled = new Map<number, KnownNumbers>();
  /** Iterations of all surrounding loops, loops of sums included. */
  open = 1;
  /** The loops over outputs that surround a value, outermost first. Loops of reductions are not among them. */
  abstract readonly around: readonly Var[];
  /** Operations on numbers so far, equal operations counted separately. */
  private operations = 0;

  constructor(plan: Planning) {
    this.plan = plan;
    this.precision = plan.precision;
    this.tables = new TableBuilder(plan.precision);
    const inputs = plan.program.parameters.map((input) => {
      const { name } = input.details;
      return [input, this.leafOf(`input ${name}`, input.type)] as const;
    });
    this.root = new Environment(undefined, undefined, inputs);
  }

  protected abstract reduced(value: Value, env: Environment): Pulled;
  /** The result of an `iterate` whose state is in registers. */
  protected abstract repeated(value: Value, env: Environment): Pulled;
  /** An array in the memory of the work-group, which an earlier phase stores there. */
  protected abstract shared(value: Value, env: Environment): Leaf;

  // Arrays.

  /** An array in a buffer. @param outer lengths of the surrounding maps, which are dimensions in front of the array's own */
  leafOf(buffer: string, type: Type, outer: readonly number[] = [], at: readonly Index[] = []): Leaf {
    const words = scalarOf(type).kind === 'complex' ? 2 : 1;
    const name = `${buffer} by ${words}`;
    if (!this.sources.has(name)) {
      this.sources.set(name, { kind: 'memory', array: this.arrayOf(buffer), words, begin: 0 });
    }
    return { kind: 'leaf', layout: packedLayout(name, [...outer, ...numbersOf(type, this.plan.sizes)]), at };
  }

  /** A new array in the memory of a work-group, without elements yet. */
  protected sharedLeaf(type: Type, outer: readonly number[]): Leaf {
    const words = scalarOf(type).kind === 'complex' ? 2 : 1;
    const name = `shared${this.sources.size}`;
    const shape = [...outer, ...numbersOf(type, this.plan.sizes)];
    const length = shape.reduce((product, count) => product * count, words);
    const array: ArrayRef = { name, space: 'shared', type: this.precision, guarded: true, length };
    this.sources.set(name, { kind: 'memory', array, words, begin: 0 });
    return { kind: 'leaf', layout: packedLayout(name, shape), at: [] };
  }

  /** Reals per number of an array: 1 or 2. */
  wordsOf(array: ArrayRef): number {
    for (const source of this.sources.values())
      if (source.kind === 'memory' && source.array === array) return source.words;
    return 1;
  }

  private arrayOf(buffer: string): ArrayRef {
    let array = this.memory.get(buffer);
    if (!array) {
      const written = buffer === this.plan.target;
      const name = written ? 'out' : `in${this.memory.size}`;
      const base: ArrayRef = { name, space: 'global', type: this.precision };
      this.memory.set(buffer, (array = written ? base : { ...base, operand: true }));
    }
    return array;
  }

  /** An array whose elements are computed on reading. */
  private computedLeaf(
    shape: readonly number[],
    element: (at: readonly Index[], guard: Guard) => NumberExpression,
  ): Leaf {
    const name = `computed ${this.sources.size}`;
    this.sources.set(name, { kind: 'computed', shape, element });
    return { kind: 'leaf', layout: packedLayout(name, shape), at: [] };
  }

  /** The value of a number, loaded from memory if it lies there. */
  numberAt(value: Pulled, guard: Guard): NumberExpression {
    if (value.kind === 'number') return value;
    if (value.kind !== 'leaf') throw new Error(`a ${value.kind} was taken for a number`);
    const { x } = this;
    let total: NumberExpression | undefined;
    for (const { array, index: place, guard: own } of this.accessesOf(value)) {
      const needed = simplified([...guard, ...own]);
      if (!needed) continue;
      const term = this.elementOfSource(this.sources.get(array)!, place, needed, own);
      total = total ? this.plus(total, term) : term;
    }
    return total ?? numberExpression(x.constant(0));
  }

  /** The accesses of a number. A thread can load from either side of a jump, but numbers that are computed would take the address apart again. */
  private accessesOf({ layout, at }: Leaf): readonly MemoryAccess[] {
    const plain = memoryAccessesOf(layout, at);
    if (plain.length === 1 || this.plan.device.lockstep === 'vector') return plain;
    const isComputed = plain.some(({ array }) => this.sources.get(array)!.kind === 'computed');
    return isComputed ? plain : memoryAccessesOf(layout, at, true);
  }

  plus(a: NumberExpression, b: NumberExpression): NumberExpression {
    return scalarResult(this.x, 'add', [a, b], Boolean(a.im ?? b.im), this.precision) as NumberExpression;
  }

  /** @param guard the condition under which the value is used @param own the condition under which this element is read; elsewhere the value is 0 */
  private elementOfSource(source: Source, place: Index, guard: Guard, own: Guard): NumberExpression {
    const { x } = this;
    if (source.kind === 'memory') {
      const { array, words, begin } = source;
      const at = sum(begin, scale(place, words));
      const part = (n: number) => x.load(array, sum(at, n), guard);
      return numberExpression(part(0), words === 2 ? part(1) : undefined);
    }
    const counts = [...source.shape].reverse();
    const at = coordinates(place, counts).reverse();
    const { re, im } = source.element(at, guard);
    if (own.length === 0) return numberExpression(re, im);
    const zero = x.constant(0);
    return numberExpression(x.where(own, re, zero), im && x.where(own, im, zero));
  }

  // Pull.

  pull(value: Value, env: Environment): Pulled {
    const home = env.homeOf(value);
    let known = home.known.get(value);
    if (!known) home.known.set(value, (known = this.pulled(value, home)));
    return known;
  }

  number(value: Value, env: Environment): NumberExpression {
    return this.numberAt(this.pull(value, env), env.guard);
  }

  protected lengths({ details }: Value): number[] {
    return details.lengths!.map((length) => lengthIn(length, this.plan.sizes));
  }

  lengthOf({ type }: Value): number {
    return type.kind === 'array' ? lengthIn(type.length, this.plan.sizes) : 1;
  }

  private pulled(value: Value, env: Environment): Pulled {
    const { op, of, details, type } = value;
    const operand = () => this.pull(of[0]!, env);
    if (this.plan.isShared(value, env)) return this.shared(value, env);
    const isWanted =
      (op === 'toGlobal' || op === 'mapWorkgroup') && type.kind === 'array' && this.plan.canStore(value, env);
    if (isWanted || this.plan.isStored(value, env)) return this.plan.stored(this, value, env);
    switch (op) {
      case 'constant':
      case 'omega':
        return knownScalar(this.x, value);
      case 'array':
        return this.known(value);
      case 'at': {
        const whole = operand();
        return whole.kind === 'tuple' && of[0]!.type.kind === 'tuple'
          ? whole.parts[details.index!]!
          : elementOf(whole, index(details.index!));
      }
      case 'tuple':
      case 'zip':
        return { kind: 'tuple', parts: of.map((part) => this.pull(part, env)) };
      case 'list':
        return this.listed(value, env);
      case 'split':
      case 'join':
      case 'transpose':
      case 'slide':
      case 'pad':
        return this.rearrangedValue(value, operand());
      case 'map':
      case 'mapGlobal':
      case 'mapWorkgroup':
      case 'mapLocal':
      case 'mapSeq':
        return this.mapped(value, env);
      case 'reduce':
      case 'reduceSeq':
        return this.reduced(value, env);
      case 'iterate':
        return this.iterated(value, env);
      case 'toLocal':
      case 'toGlobal':
        return operand();
      case 'toPrivate':
        return this.inRegisters(value, operand());
      case 'dft':
      case 'idft':
        return this.transformed(value, env);
      case 'fft':
      case 'ifft':
      case 'rfft':
      case 'irfft':
        return this.plan.transformed(this, value, env);
      case 'input':
      case 'symbol':
        throw new Error('a symbol has no value');
      default:
        return this.arithmetic(value, env);
    }
  }

  private arithmetic({ op, of, type }: Value, env: Environment): Pulled {
    if (++this.operations > 4 * this.plan.mostOperations) {
      return refusePattern(
        'program',
        `a kernel of it would have more than ${this.plan.mostOperations} operations; toGlobal stores arrays between.`,
      );
    }
    const given = of.map((each) => (each.type.kind === 'condition' ? this.pull(each, env) : this.number(each, env)));
    return scalarResult(this.x, op as ScalarOp, given, type.kind === 'complex', this.precision);
  }

  private rearrangedValue(value: Value, whole: Pulled): Pulled {
    switch (value.op) {
      case 'split':
        return withLayouts(whole, (layout, d) => layouts.split(layout, d, this.lengths(value)[0]!));
      case 'join':
        return withLayouts(whole, (layout, d) => layouts.join(layout, d));
      case 'transpose':
        return withLayouts(whole, (layout, d) => layouts.transpose(layout, d, d + 1));
      case 'slide': {
        const [size, step] = this.lengths(value) as [number, number];
        return withLayouts(whole, (layout, d) => layouts.slide(layout, d, size, step));
      }
      default:
        return this.padded(value, whole);
    }
  }

  private known(value: Value): Leaf {
    const numbers = this.plan.numbersOf(value);
    const words = numbers.isComplex ? 2 : 1;
    return this.computedLeaf(numbers.shape, (at, guard) => {
      if (at.every(({ terms }) => terms.length === 0)) return numbers.constant(this.x, at);
      const begin = numbers.place(this.tables);
      this.tabled.set(begin, numbers);
      const place = at.reduce((whole, own, d) => sum(scale(whole, numbers.shape[d]!), own), index(0));
      return this.elementOfSource({ kind: 'memory', array: this.tables.ref, words, begin }, place, guard, EVERYWHERE);
    });
  }

  /** A list whose element is chosen by an index that is known when the kernel runs. */
  private listed({ of, type }: Value, env: Environment): Pulled {
    return this.listOf(
      type,
      of.map((part) => this.pull(part, env)),
    );
  }

  listOf(type: Type, parts: readonly Pulled[]): Pulled {
    return this.chosen(type, (n, rest, guard) => {
      const part = rest.reduce<Pulled>((each, at) => elementOf(each, at), parts[n]!);
      return this.numberAt(part, guard);
    });
  }

  /** An array whose elements one item holds in registers. */
  private inRegisters({ type, op }: Value, whole: Pulled): Pulled {
    if (type.kind !== 'array' || scalarOf(type).kind === 'tuple') return whole;
    const count = numbersOf(type, this.plan.sizes).reduce((product, length) => product * length, 1);
    if (count > MOST_ELEMENTS) {
      refusePattern(
        op,
        `registers of a thread hold up to ${MOST_ELEMENTS} numbers, and ${type.text} has ${count}; toLocal holds more.`,
      );
    }
    const elements = Array.from({ length: lengthIn(type.length, this.plan.sizes) }, (_, n) =>
      elementOf(whole, index(n)),
    );
    return this.listOf(type, elements);
  }

  /** An array of few elements, all of them in registers. */
  private chosen(type: Type, element: (n: number, rest: readonly Index[], guard: Guard) => NumberExpression): Leaf {
    const shape = numbersOf(type, this.plan.sizes);
    return this.computedLeaf(shape, ([first, ...rest], guard) => {
      if (first!.terms.length === 0) return element(first!.constant, rest, guard);
      const { x } = this;
      let all: NumberExpression | undefined;
      for (let n = shape[0]! - 1; n >= 0; n--) {
        const here: Guard = [{ index: first!, from: n, to: n + 1 }];
        const needed = simplified([...guard, ...here]);
        if (!needed) continue;
        const { re, im } = element(n, rest, needed);
        all = all
          ? numberExpression(x.where(here, re, all.re), im && x.where(here, im, all.im ?? x.constant(0)))
          : numberExpression(re, im);
      }
      return all!;
    });
  }

  private padded(value: Value, whole: Pulled): Pulled {
    const boundary = value.details.boundary!;
    const amounts = this.lengths(value) as [number, number];
    return withLayouts(whole, (layout, d) =>
      paddedLayout(layout, d, amounts, boundary, (shape) => {
        const leaf = this.computedLeaf(shape, () => numberExpression(this.x.constant(boundary as number)));
        return leaf.layout;
      }),
    );
  }

  /** The environment of a function for an element of its array. */
  within(
    of: Value,
    source: Value,
    f: { readonly parameters: readonly Value[] },
    at: Index,
    env: Environment,
    guard: Guard = env.guard,
    group?: WorkGroup,
  ): Environment {
    const element = elementOf(this.pull(source, env), at);
    const args = f.parameters.length > 1 && element.kind === 'tuple' ? element.parts : [element];
    const bound = f.parameters.map((parameter, n) => [parameter, args[n]!] as const);
    const count = this.lengthOf(source);
    const binding = { kind: 'element', of, source, index: at, count, ...(group ? { group } : {}) } as const;
    return new Environment(env, binding, bound, guard);
  }

  private mapped(value: Value, env: Environment): Pulled {
    const [source] = value.of;
    const f = value.f!;
    if (this.plan.onlyRearranges(f.body)) {
      const at = index(variable('row', Math.max(2, this.lengthOf(source!))));
      return asDimension(this.pull(f.body, this.within(value, source!, f, at, env)), at, this.lengthOf(source!));
    }
    const rows = new Map<string, Environment>();
    const bodyAt = (at: Index, guard: Guard): readonly [Value, Environment] => {
      const key = `${indexKey(at)}?${guardKey(guard)}`;
      let row = rows.get(key);
      if (!row) {
        // For nested maps the innermost one counts how often its numbers are computed.
        if (!isMap(f.body)) this.plan.noteRead(value, env, this.open);
        rows.set(key, (row = this.within(value, source!, f, at, env, guard)));
      }
      return [f.body, row];
    };
    return this.perElement(value.type, bodyAt);
  }

  /** Arrays of a function's result for each element: one array, or one array for each part of a tuple. */
  private perElement(type: Type, bodyAt: (at: Index, guard: Guard) => readonly [Value, Environment]): Pulled {
    const { sizes } = this.plan;
    /** @param steps the path from an element of the outer array: indices of inner arrays, and parts of tuples */
    const make = (of: Type, shape: readonly number[], steps: readonly ('index' | number)[]): Pulled => {
      if (of.kind === 'array') return make(of.of, [...shape, lengthIn(of.length, sizes)], [...steps, 'index']);
      if (of.kind === 'tuple') {
        return { kind: 'tuple', parts: of.of.map((part, n) => make(part, shape, [...steps, n])) };
      }
      return this.computedLeaf(shape, ([first, ...rest], guard) => {
        const [body, row] = bodyAt(first!, guard);
        let next = 0;
        const element = steps
          .slice(1)
          .reduce<Pulled>(
            (each, step) =>
              step === 'index'
                ? elementOf(each, rest[next++]!)
                : (each as Extract<Pulled, { kind: 'tuple' }>).parts[step]!,
            this.pull(body, row),
          );
        return this.numberAt(element, guard);
      });
    };
    return make(type, [], []);
  }

  private iterated(value: Value, env: Environment): Pulled {
    if (value.details.times === 0) return this.pull(value.of[0]!, env);
    const isInRegisters = isOfNumbers(value.type) || env.dependsOnSum(value);
    return isInRegisters ? this.repeated(value, env) : this.plan.iterated(this, value, env);
  }

  private transformed({ op, of, type }: Value, env: Environment): Pulled {
    const { x } = this;
    const count = this.lengthOf(of[0]!);
    const swap = op === 'idft';
    const turned = ({ re, im }: { readonly re: Real; readonly im: Real }) => (swap ? { re: im, im: re } : { re, im });
    const made = new Map<string, readonly NumberExpression[]>();
    return this.chosen(type, (n, _, guard) => {
      const key = guardKey(guard);
      let results = made.get(key);
      if (!results) {
        const whole = this.pull(of[0]!, env);
        const inputs = Array.from({ length: count }, (_, k) => {
          const { re, im = x.constant(0) } = this.numberAt(elementOf(whole, index(k)), guard);
          return turned({ re, im });
        });
        results = dft(x, inputs).map((result) => numberExpression(turned(result).re, turned(result).im));
        made.set(key, results);
      }
      return results[n]!;
    });
  }
}
