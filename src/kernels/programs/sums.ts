/** Reductions in a kernel: unrolled, as loops, over partial results, or over the band in which their terms are not zero. */
import { type Guard, type Index, index, type Real, type Var, variable } from '../../ir/index.ts';
import { numberOf as lengthIn } from '../../patterns/sizing.ts';
import { type ArrayType, isNumber, scalarOf, type Type } from '../../patterns/types.ts';
import { unsupported, type Value } from '../../patterns/values.ts';
import { numberOf } from './arithmetic.ts';
import { bandOf, inBand } from './bands.ts';
import { Environment } from './environment.ts';
import { Pull } from './pull.ts';
import { elementOf, type NumberExpression, type Pulled } from './pulled.ts';
import { combinationOf, interchanged, isPartial, shorter } from './reductions.ts';
import { sharesOf } from './shares.ts';

/** The most terms of an unrolled sum. */
const MOST_TERMS = 64;
/** The most operations of all terms of an unrolled sum. */
const MOST_WRITTEN = 2048;
/** The least number of terms of a sum that is searched for a band. */
const SHORTEST_BANDED = 8;
/** The most reals that a loop carries. */
const MOST_CARRIED = 64;

export abstract class Reductions extends Pull {
  /** The loops over outputs that surround a value, outermost first. Loops of reductions are not among them. */
  protected abstract readonly around: readonly Var[];

  protected reduced(value: Value, env: Environment): Pulled {
    const [first, source] = value.of as [Value, Value];
    const f = value.f!;
    const count = this.lengthOf(source);
    const work = 1 + this.plan.workOf(f.body);
    const banded = count >= SHORTEST_BANDED && this.bandedSum(value, work, env);
    if (banded) return banded;
    if (count > MOST_TERMS || count * work > MOST_WRITTEN) return this.longReduction(value, count, env);
    const [sumParameter, ...parameters] = f.parameters;
    let total = this.coerced(this.pull(first, env), value.type, env);
    for (let n = 0; n < count; n++) {
      const state = new Environment(env, { kind: 'sum' }, [[sumParameter!, total]]);
      const row = this.within(value, source, { parameters }, index(n), state);
      total = this.coerced(this.pull(f.body, row), value.type, row);
    }
    return total;
  }

  /** A reduction of many elements: a loop, or one over partial results. */
  private longReduction(value: Value, count: number, env: Environment): Pulled {
    const combination = isNumber(value.type) ? combinationOf(value) : undefined;
    if (!combination) return this.folded(value, env);
    const known = this.plan.shorter.get(value);
    if (known && this.plan.canStore(known.parts, env)) return this.pull(known.whole, env);
    const over = variable(`sum${this.plan.nextNumber()}`, count);
    this.open *= count;
    const term = this.termAt(value, combination.term, index(over), env);
    this.open /= count;
    const shares = isPartial(value) ? undefined : sharesOf(this.plan.device, term, over, this.around, this.open);
    if (shares) {
      const split = shorter(value, combination, count, shares);
      if (this.plan.canStore(split.parts, env)) {
        this.plan.shorter.set(value, split);
        return this.pull(split.whole, env);
      }
    }
    return combination.op === 'add' ? this.added(value, term, over, env) : this.folded(value, env);
  }

  /** A value converted to a type: numbers are computed at once, and a real number becomes complex where the type is complex. */
  private coerced(value: Pulled, type: Type, env: Environment): Pulled {
    if (!isNumber(type)) return value;
    const { re, im } = this.numberAt(value, env.guard);
    return numberOf(re, type.kind === 'complex' ? (im ?? this.x.constant(0)) : undefined);
  }

  /** A loop that accumulates a term. */
  private added(value: Value, { re, im }: NumberExpression, over: Var, env: Environment): NumberExpression {
    const { x } = this;
    const whole = numberOf(x.sum(over, re), im && x.sum(over, im));
    return this.coerced(this.plus(this.number(value.of[0]!, env), whole), value.type, env) as NumberExpression;
  }

  /** A loop that carries the partial result of a reduction, for any function. */
  private folded(value: Value, env: Environment): Pulled {
    const [first, source] = value.of as [Value, Value];
    const { parameters, body } = value.f!;
    const [state, ...others] = parameters as [Value, ...Value[]];
    const carried = this.partsIn(value.type);
    if (carried === undefined || carried > MOST_CARRIED) return this.foldedByElement(value, env);
    const over = variable(`fold${this.plan.nextNumber()}`, this.lengthOf(source));
    const begin = this.partsOf(this.pull(first, env), value.type, env.guard);
    this.open *= over.count;
    const ends = this.x.fold(over, begin, (now) => {
      const inRound = new Environment(env, { kind: 'sum' }, [[state, this.wholeOf(value.type, [...now])]]);
      const row = this.within(value, source, { parameters: others }, index(over), inRound);
      return this.partsOf(this.pull(body, row), value.type, row.guard);
    });
    this.open /= over.count;
    return this.wholeOf(value.type, [...ends]);
  }

  /** A reduction of large arrays, which is possible where its function works element by element. */
  private foldedByElement(value: Value, env: Environment): Pulled {
    const each = interchanged(value);
    if (each) return this.pull(each, env);
    return unsupported(
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
    return lengthIn(type.length, this.plan.sizes) * this.partsIn(type.of)!;
  }

  /** The reals of a value. */
  private partsOf(value: Pulled, type: Type, guard: Guard): Real[] {
    if (isNumber(type)) {
      const { re, im } = this.numberAt(value, guard);
      return type.kind === 'complex' ? [re, im ?? this.x.constant(0)] : [re];
    }
    if (type.kind === 'tuple') {
      const { parts } = value as Extract<Pulled, { kind: 'tuple' }>;
      return parts.flatMap((part, n) => this.partsOf(part, type.of[n]!, guard));
    }
    const { of, length } = type as ArrayType;
    const count = lengthIn(length, this.plan.sizes);
    return Array.from({ length: count }, (_, n) => this.partsOf(elementOf(value, index(n)), of, guard)).flat();
  }

  /** A value of a type, made of reals taken from the front of a list. */
  private wholeOf(type: Type, parts: Real[]): Pulled {
    if (isNumber(type)) return numberOf(parts.shift()!, type.kind === 'complex' ? parts.shift()! : undefined);
    if (type.kind === 'tuple') return { kind: 'tuple', parts: type.of.map((part) => this.wholeOf(part, parts)) };
    const { of, length } = type as ArrayType;
    const count = lengthIn(length, this.plan.sizes);
    const elements = Array.from({ length: count }, () => this.wholeOf(of, parts));
    return this.listOf(type, elements);
  }

  private termAt(value: Value, term: Value, at: Index, env: Environment): NumberExpression {
    const parameters = value.f!.parameters.slice(1);
    return this.number(term, this.within(value, value.of[1]!, { parameters }, at, env));
  }

  /** A sum of products with known numbers that are zero outside a band of each row; undefined for any other sum. */
  private bandedSum(value: Value, work: number, env: Environment): Pulled | undefined {
    const combination = combinationOf(value);
    if (combination?.op !== 'add' || value.type.kind !== 'real' || !this.plan.hasKnownArrays) return undefined;
    const { term } = combination;
    const over = variable(`band${this.plan.nextNumber()}`, this.lengthOf(value.of[1]!));
    const begins = () => [...this.tabled.keys()].sort((a, b) => b - a);
    const band = bandOf(this.termAt(value, term, index(over), env), over, this.tables, (element) => {
      const begin = begins().find((each) => each <= element)!;
      return this.tabled.get(begin)!.valueAt(element - begin);
    });
    if (!band) return undefined;
    if (band.length > MOST_TERMS || band.length * work > this.plan.mostOperations) {
      const inside = variable(`sum${this.plan.nextNumber()}`, band.length);
      this.open *= band.length;
      const all = this.termAt(value, term, inBand(band, index(inside)), env);
      this.open /= band.length;
      return this.added(value, all, inside, env);
    }
    let total = this.number(value.of[0]!, env);
    for (let n = 0; n < band.length; n++) {
      total = this.plus(total, this.termAt(value, term, inBand(band, n), env));
    }
    return total;
  }
}
