/** Reductions in a kernel: unrolled, as loops, over partial results, or over the band in which their terms are not zero. */
import { type Guard, type Index, index, type Real, type Var, variable } from '../../../ir/index.ts';
import { lengthValue as lengthIn } from '../../../patterns/language/sizing.ts';
import { type ArrayType, isNumber, scalarOf, type Type } from '../../../patterns/language/types.ts';
import { refusePattern, type Value } from '../../../patterns/language/values.ts';
import { numberExpression } from './arithmetic.ts';
import { bandOf, inBand } from './bands.ts';
import { Environment } from './environment.ts';
import type { Pull } from './pull.ts';
import { elementOf, type NumberExpression, type Pulled } from './pulled.ts';
import { combinationOf, interchanged, isPartial, shorter } from './reductions.ts';
import { reductionShares } from './shares.ts';

/** The most terms of an unrolled sum. */
const MOST_TERMS = 64;
/** The most operations of all terms of an unrolled sum. */
const MOST_WRITTEN = 2048;
/** The least number of terms of a sum that is searched for a band. */
const SHORTEST_BANDED = 8;
/** The most reals that a loop carries. */
const MOST_CARRIED = 64;

/** The value of a reduction. */
export function pulledReduction(builder: Pull, value: Value, env: Environment): Pulled {
  return new Reductions(builder).reduced(value, env);
}

/** The result of an `iterate` whose state is in registers. */
export function pulledIteration(builder: Pull, value: Value, env: Environment): Pulled {
  return new Reductions(builder).repeated(value, env);
}

class Reductions {
  private readonly builder: Pull;

  constructor(builder: Pull) {
    this.builder = builder;
  }

  reduced(value: Value, env: Environment): Pulled {
    const [first, source] = value.of as [Value, Value];
    const f = value.f!;
    const count = this.builder.lengthOf(source);
    const work = 1 + this.builder.plan.workOf(f.body);
    const banded = count >= SHORTEST_BANDED && this.bandedSum(value, work, env);
    if (banded) return banded;
    const held = this.heldIn(value);
    if (count > MOST_TERMS || count * work * held > MOST_WRITTEN) return this.longReduction(value, count, env);
    const [sumParameter, ...parameters] = f.parameters;
    const isHeld = held > 1 || isNumber(value.type);
    const begin = this.builder.pull(first, env);
    let total = isHeld ? this.computed(begin, value.type, env.guard) : begin;
    for (let n = 0; n < count; n++) {
      const state = new Environment(env, { kind: 'sum' }, [[sumParameter!, total]]);
      const row = this.builder.within(value, source, { parameters }, index(n), state);
      const next = this.builder.pull(f.body, row);
      total = isHeld ? this.computed(next, value.type, row.guard) : next;
    }
    return total;
  }

  /**
   * The number of reals of a partial result that is computed as a whole, because each of its elements takes several elements of the one before;
   * 1 for numbers, and for arrays that are reduced element by element.
   */
  private heldIn(value: Value): number {
    const carried = isNumber(value.type) || interchanged(value) ? 1 : (this.partsIn(value.type) ?? 1);
    return carried > MOST_CARRIED ? 1 : carried;
  }

  repeated(value: Value, env: Environment): Pulled {
    const { type, f } = value;
    const times = value.details.times!;
    const carried = this.partsIn(type);
    if (carried === undefined || carried > MOST_CARRIED) {
      return refusePattern(
        'iterate',
        `in a reduction it may have ${MOST_CARRIED} numbers, and ${type.text} has more; toGlobal stores arrays outside.`,
      );
    }
    const begin = this.partsOf(this.builder.pull(value.of[0]!, env), type, env.guard);
    const round = (now: readonly Real[]): Real[] => {
      const state = new Environment(env, { kind: 'sum' }, [[f!.parameters[0]!, this.wholeOf(type, [...now])]]);
      return this.partsOf(this.builder.pull(f!.body, state), type, env.guard);
    };
    if (times * carried * this.builder.plan.workOf(f!.body) <= MOST_WRITTEN) {
      return this.wholeOf(type, Array.from({ length: times }).reduce<Real[]>(round, begin));
    }
    return this.looped(times, type, begin, round);
  }

  /** A loop that carries a value. */
  private looped(
    count: number,
    type: Type,
    begin: readonly Real[],
    round: (now: readonly Real[], over: Var) => Real[],
  ): Pulled {
    const { builder } = this;
    const over = variable(`fold${builder.plan.nextNumber()}`, count);
    builder.open *= count;
    const ends = builder.x.fold(over, begin, (now) => round(now, over));
    builder.open /= count;
    return this.wholeOf(type, [...ends]);
  }

  /** A reduction of many elements: a loop, or one over partial results. */
  private longReduction(value: Value, count: number, env: Environment): Pulled {
    const combination = isNumber(value.type) ? combinationOf(value) : undefined;
    if (!combination) return this.folded(value, env);
    const known = this.builder.plan.shorter.get(value);
    if (known && this.builder.plan.canStore(known.parts, env)) return this.builder.pull(known.whole, env);
    const over = variable(`sum${this.builder.plan.nextNumber()}`, count);
    this.builder.open *= count;
    const term = this.termAt(value, combination.term, index(over), env);
    this.builder.open /= count;
    const shares = isPartial(value)
      ? undefined
      : reductionShares(this.builder.plan.device, term, over, this.builder.around, this.builder.open);
    if (shares) {
      const split = shorter(value, combination, count, shares);
      if (this.builder.plan.canStore(split.parts, env)) {
        this.builder.plan.shorter.set(value, split);
        return this.builder.pull(split.whole, env);
      }
    }
    return combination.op === 'add' ? this.added(value, term, over, env) : this.folded(value, env);
  }

  /** A value that is computed at once, as numbers are; a real number becomes complex where the type is complex. */
  private computed(value: Pulled, type: Type, guard: Guard): Pulled {
    return this.wholeOf(type, this.partsOf(value, type, guard));
  }

  /** A loop that accumulates a term. */
  private added(value: Value, { re, im }: NumberExpression, over: Var, env: Environment): NumberExpression {
    const { x } = this.builder;
    const whole = numberExpression(x.sum(over, re), im && x.sum(over, im));
    const total = this.builder.plus(this.builder.number(value.of[0]!, env), whole);
    return this.computed(total, value.type, env.guard) as NumberExpression;
  }

  /** A loop that carries the partial result of a reduction, for any function. */
  private folded(value: Value, env: Environment): Pulled {
    const [first, source] = value.of as [Value, Value];
    const { parameters, body } = value.f!;
    const [state, ...others] = parameters as [Value, ...Value[]];
    const carried = this.partsIn(value.type);
    if (carried === undefined || carried > MOST_CARRIED) return this.foldedByElement(value, env);
    const begin = this.partsOf(this.builder.pull(first, env), value.type, env.guard);
    return this.looped(this.builder.lengthOf(source), value.type, begin, (now, over) => {
      const inRound = new Environment(env, { kind: 'sum' }, [[state, this.wholeOf(value.type, [...now])]]);
      const row = this.builder.within(value, source, { parameters: others }, index(over), inRound);
      return this.partsOf(this.builder.pull(body, row), value.type, row.guard);
    });
  }

  /** A reduction of large arrays, which is possible where its function works element by element. */
  private foldedByElement(value: Value, env: Environment): Pulled {
    const each = interchanged(value);
    if (each) return this.builder.pull(each, env);
    return refusePattern(
      value.op,
      `what it comes to has more than ${MOST_CARRIED} numbers, and its function does not make each element of that element alone, as map over a zip with its first parameter does.`,
    );
  }

  /** The number of reals in a value of a type; undefined for arrays of tuples. */
  private partsIn(type: Type): number | undefined {
    if (type.kind === 'real') return 1;
    if (type.kind === 'complex') return 2;
    if (type.kind === 'tuple') {
      const parts = type.of.map((part) => this.partsIn(part));
      return parts.includes(undefined) ? undefined : parts.reduce<number>((sum, part) => sum + part!, 0);
    }
    if (type.kind !== 'array' || scalarOf(type).kind === 'tuple') return undefined;
    return lengthIn(type.length, this.builder.plan.sizes) * this.partsIn(type.of)!;
  }

  /** The reals of a value. */
  private partsOf(value: Pulled, type: Type, guard: Guard): Real[] {
    if (isNumber(type)) {
      const { re, im } = this.builder.numberAt(value, guard);
      return type.kind === 'complex' ? [re, im ?? this.builder.x.constant(0)] : [re];
    }
    if (type.kind === 'tuple') {
      const { parts } = value as Extract<Pulled, { kind: 'tuple' }>;
      return parts.flatMap((part, n) => this.partsOf(part, type.of[n]!, guard));
    }
    const { of, length } = type as ArrayType;
    const count = lengthIn(length, this.builder.plan.sizes);
    return Array.from({ length: count }, (_, n) => this.partsOf(elementOf(value, index(n)), of, guard)).flat();
  }

  /** A value of a type, made of reals taken from the front of a list. */
  private wholeOf(type: Type, parts: Real[]): Pulled {
    if (isNumber(type)) return numberExpression(parts.shift()!, type.kind === 'complex' ? parts.shift()! : undefined);
    if (type.kind === 'tuple') return { kind: 'tuple', parts: type.of.map((part) => this.wholeOf(part, parts)) };
    const { of, length } = type as ArrayType;
    const count = lengthIn(length, this.builder.plan.sizes);
    const elements = Array.from({ length: count }, () => this.wholeOf(of, parts));
    return this.builder.listOf(type, elements);
  }

  private termAt(value: Value, term: Value, at: Index, env: Environment): NumberExpression {
    const parameters = value.f!.parameters.slice(1);
    return this.builder.number(term, this.builder.within(value, value.of[1]!, { parameters }, at, env));
  }

  /** A sum of products with known numbers that are zero outside a band of each row; undefined for any other sum. */
  private bandedSum(value: Value, work: number, env: Environment): Pulled | undefined {
    const combination = combinationOf(value);
    if (combination?.op !== 'add' || value.type.kind !== 'real' || !this.builder.plan.hasKnownArrays) return undefined;
    const { term } = combination;
    const over = variable(`band${this.builder.plan.nextNumber()}`, this.builder.lengthOf(value.of[1]!));
    const begins = () => [...this.builder.tabled.keys()].sort((a, b) => b - a);
    const band = bandOf(this.termAt(value, term, index(over), env), over, this.builder.tables, (element) => {
      const begin = begins().find((each) => each <= element)!;
      return this.builder.tabled.get(begin)!.valueAt(element - begin);
    });
    if (!band) return undefined;
    if (band.length > MOST_TERMS || band.length * work > this.builder.plan.mostOperations) {
      const inside = variable(`sum${this.builder.plan.nextNumber()}`, band.length);
      this.builder.open *= band.length;
      const all = this.termAt(value, term, inBand(band, index(inside)), env);
      this.builder.open /= band.length;
      return this.added(value, all, inside, env);
    }
    let total = this.builder.number(value.of[0]!, env);
    for (let n = 0; n < band.length; n++) {
      total = this.builder.plus(total, this.termAt(value, term, inBand(band, n), env));
    }
    return total;
  }
}
