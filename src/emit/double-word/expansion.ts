/**
 * A pass Kernel → Kernel that replaces numbers of a type that the device lacks by double-words of a type that it has: a double-double by two
 * doubles; a double, on a device without doubles, by two singles.
 *
 * In arrays of such numbers, in global memory, tables and shared memory, hi and lo of each number are neighbours. Arrays of other types do
 * not change: a number loaded from them has lo = 0, and hi is stored to them.
 */
import {
  type ArrayRef,
  add,
  type ElementType,
  Expressions,
  elementTypeOf,
  type Kernel,
  type NumberType,
  type Phase,
  type Real,
  reachable,
  type Store,
  scale,
  storageBytes,
  type Table,
} from '../../ir/index.ts';
import { withoutShortFolds } from '../folds.ts';
import { type DoubleWord, DoubleWordArithmetic, type DoubleWordForm } from './arithmetic.ts';

/**
 * A kernel with every number as hi and lo.
 * @param part type of hi and lo
 * @throws RangeError for exact operations, which double-words do not have
 */
export function inDoubleWords(kernel: Kernel, part: ElementType, form: DoubleWordForm): Kernel {
  const written = withoutShortFolds(kernel);
  const expansion = new Expansion(written, part, form);
  const { globals, tables, shared, phases, reverse } = written;
  return {
    ...written,
    precision: part,
    globals: globals.map((array) => expansion.array(array)),
    tables: tables.map((table) => expansion.array(table) as Table),
    shared: shared.map((array) => expansion.array(array)),
    phases: phases.map((phase) => expansion.phase(phase)),
    ...(reverse ? { reverse: reverse.map((phase) => expansion.phase(phase)) } : {}),
  };
}

class Expansion {
  private readonly wide: NumberType;
  private readonly part: ElementType;
  private readonly form: DoubleWordForm;
  private readonly arrays = new Map<ArrayRef, ArrayRef>();
  /** Phases already expanded, so that a phase shared by both directions stays shared. */
  private readonly phases = new Map<Phase, Phase>();

  constructor({ precision }: Kernel, part: ElementType, form: DoubleWordForm) {
    this.wide = precision;
    this.part = part;
    this.form = form;
    if (2 * storageBytes(part) !== storageBytes(precision)) {
      throw new RangeError(`two ${part} are no ${precision}`);
    }
  }

  array(array: ArrayRef): ArrayRef {
    if (array.type !== this.wide) return array;
    let made = this.arrays.get(array);
    if (!made) this.arrays.set(array, (made = this.paired(array)));
    return made;
  }

  private paired(array: ArrayRef): ArrayRef {
    // hi and lo of a number are neighbours, so planes can also be read in pairs.
    const { plane: _, length, partLength, ...rest } = array;
    const { key } = array as Partial<Table>;
    return {
      ...rest,
      type: this.part,
      ...(length === undefined ? {} : { length: 2 * length }),
      ...(partLength === undefined ? {} : { partLength: 2 * partLength }),
      ...(key === undefined ? {} : { key: `two ${this.part} ${key}`, pairs: true }),
    } as ArrayRef;
  }

  phase(phase: Phase): Phase {
    let made = this.phases.get(phase);
    if (!made) this.phases.set(phase, (made = this.expanded(phase)));
    return made;
  }

  private expanded(phase: Phase): Phase {
    const x = new Expressions();
    const pairs = new DoubleWordArithmetic(x, elementTypeOf(this.part), this.form);
    const made = new Map<Real, DoubleWord>();
    for (const node of reachable(phase.stores.map(({ value }) => value))) {
      made.set(
        node,
        this.value(node, x, pairs, (operand) => made.get(operand)!),
      );
    }
    return {
      ...phase,
      stores: phase.stores.flatMap((store) => this.stores(store, pairs.shaped(made.get(store.value)!))),
      ...(phase.steps
        ? { steps: phase.steps.map((step) => step.flatMap((value) => wordsOfValue(made.get(value)))) }
        : {}),
    };
  }

  private stores(store: Store, { hi, lo }: DoubleWord): Store[] {
    const array = this.array(store.array);
    if (array === store.array) return [{ ...store, value: hi }];
    const at = scale(store.index, 2);
    return [
      { ...store, array, index: at, value: hi },
      { ...store, array, index: add(at, 1), value: lo },
    ];
  }

  private value(
    node: Real,
    x: Expressions,
    pairs: DoubleWordArithmetic,
    of: (operand: Real) => DoubleWord,
  ): DoubleWord {
    switch (node.op) {
      case 'const':
        return pairs.constant(node.value);
      case 'conj':
        return pairs.each((part) => x.conj(part), pairs.constant(node.value));
      case 'load': {
        const array = this.array(node.array);
        if (array === node.array) return pairs.of(x.load(array, node.index, node.guard));
        const at = scale(node.index, 2);
        return { hi: x.load(array, at, node.guard), lo: x.load(array, add(at, 1), node.guard) };
      }
      case 'swap':
        return pairs.each((part) => x.swap(part), of(node.a));
      case 'neg':
      case 'abs':
      case 'sqrt':
        return pairs[node.op](of(node.a));
      // The lower word changes the exponent of powers of two only, whose upper word is then just as good.
      case 'exponent':
      case 'inversePower':
        return pairs.of(x[node.op](pairs.shaped(of(node.a)).hi));
      case 'add':
      case 'sub':
      case 'mul':
      case 'div':
      case 'min':
      case 'max':
        return pairs[node.op](of(node.a), of(node.b));
      case 'select':
        return pairs.choose(node.comparison, of(node.left), of(node.right), of(node.a), of(node.b));
      case 'where':
        return pairs.where(node.guard, of(node.a), of(node.b));
      case 'carried':
        return { hi: x.carried(node.over, 2 * node.slot), lo: x.carried(node.over, 2 * node.slot + 1) };
      case 'fold': {
        const { over, first, next } = node.loop;
        const parts = (values: readonly Real[]) => values.flatMap((value) => wordsOfValue(pairs.shaped(of(value))));
        const ends = x.folded(over, parts(first), parts(next));
        return { hi: ends[2 * node.slot]!, lo: ends[2 * node.slot + 1]! };
      }
      default:
        throw new RangeError(`there is no '${node.op}' of pairs`);
    }
  }
}

/** Hi and lo of a number; none for a value that no store needs. */
function wordsOfValue(pair: DoubleWord | undefined): Real[] {
  return pair ? [pair.hi, pair.lo] : [];
}
