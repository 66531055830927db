/** Reductions in a kernel: written out, as loops, over partial results, or over the band in which they have terms. */
import { type Index, index, variable } from '../../ir/index.ts';
import { isNumber, type Type } from '../../patterns/types.ts';
import { unsupported, type Value } from '../../patterns/values.ts';
import { numberOf } from './arithmetic.ts';
import { type Band, bandOf, inBand } from './bands.ts';
import { Environment } from './environment.ts';
import { Pull } from './pull.ts';
import type { NumberExpression, Pulled } from './pulled.ts';
import { combinationOf, shorter } from './reductions.ts';

/** Terms of a sum that are written one after another. */
const MOST_TERMS = 64;
/** Operations of all of them. */
const MOST_WRITTEN = 2048;
/** Numbers that are few for a device of threads, and sums that are long for one of its threads. */
const FEW_RESULTS = 4096;
const LONG_SUM = 1024;
/** Terms of a sum in which a band is looked for. */
const SHORTEST_BANDED = 8;

export abstract class Reductions extends Pull {
  protected reduced(value: Value, env: Environment): Pulled {
    const [first, source] = value.of as [Value, Value];
    const f = value.f!;
    const count = this.lengthOf(source);
    const work = 1 + this.plan.workOf(f.body);
    const banded = count >= SHORTEST_BANDED && this.bandedSum(value, work, env);
    if (banded) return banded;
    if (count > MOST_TERMS || count * work > MOST_WRITTEN) {
      const long = this.longReduction(value, count, work, env);
      if (long) return long;
    }
    const [sumParameter, ...parameters] = f.parameters;
    let total = this.coerced(this.pull(first, env), value.type, env);
    for (let n = 0; n < count; n++) {
      const state = new Environment(env, { kind: 'sum' }, [[sumParameter!, total]]);
      const row = this.within(value, source, { parameters }, index(n), state);
      total = this.coerced(this.pull(f.body, row), value.type, row);
    }
    return total;
  }

  /** A reduction of many elements: a loop that adds up, or one of partial results; undefined where neither is possible and it may be written out. */
  private longReduction(value: Value, count: number, work: number, env: Environment): Pulled | undefined {
    const combination = combinationOf(value);
    if (combination) {
      // A program with few results keeps few threads busy, so that threads share the terms of each sum.
      const isFew = this.open < FEW_RESULTS && count > LONG_SUM;
      const isSum = combination.op === 'add' && isNumber(value.type);
      if (isSum && this.plan.hasLoops && !isFew) return this.summed(value, combination.term, env);
      const terms = Math.max(2, Math.min(MOST_TERMS, Math.floor(MOST_WRITTEN / work)));
      let split = this.plan.shorter.get(value);
      if (!split) this.plan.shorter.set(value, (split = shorter(value, combination, count, terms)));
      if (this.plan.canStore(split.parts, env)) return this.pull(split.whole, env);
      if (isSum && this.plan.hasLoops) return this.summed(value, combination.term, env);
    }
    if (count * work <= this.plan.mostOperations) return undefined;
    const takes =
      'adds, multiplies or takes the minimum or maximum of its first parameter and what it makes of the others';
    return unsupported(
      value.op,
      `many elements can be reduced where the function ${takes}; here are ${count}, and some ${work} operations for each.`,
    );
  }

  /** Numbers are computed where they are made; a real one that is to be complex is. */
  private coerced(value: Pulled, type: Type, env: Environment): Pulled {
    if (!isNumber(type)) return value;
    const { re, im } = this.numberAt(value, env.guard);
    return numberOf(re, type.kind === 'complex' ? (im ?? this.x.constant(0)) : undefined);
  }

  /** A loop that adds up. @param band the terms that are not zero, where it is known which these are */
  private summed(value: Value, term: Value, env: Environment, band?: Band): NumberExpression {
    const { x } = this;
    const over = variable(`sum${this.plan.nextNumber()}`, band?.length ?? this.lengthOf(value.of[1]!));
    this.open *= over.count;
    const { re, im } = this.termAt(value, term, band ? inBand(band, index(over)) : index(over), env);
    this.open /= over.count;
    const whole = numberOf(x.sum(over, re), im && x.sum(over, im));
    return this.coerced(this.plus(this.number(value.of[0]!, env), whole), value.type, env) as NumberExpression;
  }

  private termAt(value: Value, term: Value, at: Index, env: Environment): NumberExpression {
    const parameters = value.f!.parameters.slice(1);
    return this.number(term, this.within(value, value.of[1]!, { parameters }, at, env));
  }

  /** A sum of products with known numbers that are zero but in a band of each row; undefined where it is none. */
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
    if (this.plan.hasLoops && band.length > MOST_TERMS) return this.summed(value, term, env, band);
    if (band.length * work > this.plan.mostOperations) return undefined;
    let total = this.number(value.of[0]!, env);
    for (let n = 0; n < band.length; n++) {
      total = this.plus(total, this.termAt(value, term, inBand(band, n), env));
    }
    return total;
  }
}
