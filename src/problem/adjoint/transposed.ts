/**
 * The transpose of a callback. A callback that is linear in its value multiplies the vector (re, im) by a real matrix, of at most two rows
 * and columns, whose entries do not depend on the value. That matrix is read off the steps of the callback; the transposed callback
 * multiplies by the matrix with rows and columns exchanged.
 */
import type { BuiltCallback, CallbackNode, NumberKind } from '../callbacks.ts';
import { type DraftCallback, type Step, Steps } from './steps.ts';

/** A factor that depends on the place along one dimension of the tensor: `inside` from `from` to `to` (not included), else `outside`. */
export interface Weight {
  readonly dimension: number;
  readonly from: number;
  readonly to: number;
  readonly inside: number;
  readonly outside: number;
}

/** The factors of results. */
export interface Factors {
  readonly weights: readonly Weight[];
  /** The number that results are divided by. */
  readonly divisor: number;
}

/** A real that is linear in the value: the coefficients of the two parts of the value, and the rest. Missing terms are 0. */
interface Sum {
  readonly re?: Step | undefined;
  readonly im?: Step | undefined;
  readonly free?: Step | undefined;
}

type Part = 're' | 'im';

const PARTS = ['re', 'im', 'free'] as const;

/** The reason why a callback is not linear in its value, as the end of a sentence about it. */
export class NotLinear {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/**
 * @param built null: numbers of a kind stay as they are.
 * @param factors of the results of the transposed callback.
 * @returns null where the transposed callback leaves everything as it is.
 */
export function transposed(
  built: BuiltCallback | null,
  kind: NumberKind,
  factors: Factors,
): DraftCallback | null | NotLinear {
  const steps = new Steps();
  const { takes, gives } = built ?? { takes: kind, gives: kind };
  try {
    const rows = built ? new Matrix(built, steps).rows() : identity(steps, kind);
    const isIdentity = takes === gives && rows.every((row, n) => isUnitRow(steps, row, n, gives));
    if (isIdentity && factors.weights.length === 0 && factors.divisor === 1) return null;
    return { takes: gives, gives: takes, ...timesTransposedMatrix(steps, rows, { takes, gives, factors }) };
  } catch (cause) {
    if (cause instanceof NotLinear) return cause;
    throw cause;
  }
}

function identity(steps: Steps, kind: NumberKind): Sum[] {
  const one = steps.constant(1);
  return kind === 'real' ? [{ re: one }] : [{ re: one }, { im: one }];
}

function partsOfKind(kind: NumberKind): readonly Part[] {
  return kind === 'real' ? ['re'] : ['re', 'im'];
}

function isUnitRow(steps: Steps, row: Sum, n: number, kind: NumberKind): boolean {
  return partsOfKind(kind).every((part, column) => {
    const entry = row[part];
    return column === n ? entry !== undefined && steps.is(entry, 1) : entry === undefined;
  });
}

/** The steps that multiply the value by the transposed matrix. */
function timesTransposedMatrix(
  steps: Steps,
  rows: readonly Sum[],
  { takes, gives, factors }: { readonly takes: NumberKind; readonly gives: NumberKind; readonly factors: Factors },
): Pick<DraftCallback, 'nodes' | 'result'> {
  const value = partsOfKind(gives).map((part) => steps.append({ op: part }));
  const factor = factorStep(steps, factors);
  const result = partsOfKind(takes).map((part) => {
    const products = rows.flatMap((row, n) => (row[part] === undefined ? [] : [steps.mul(row[part], value[n]!)]));
    const sum = products.reduce((total, product) => steps.add(total, product), steps.constant(0));
    return steps.mul(sum, factor);
  });
  return { nodes: steps.nodes, result };
}

function factorStep(steps: Steps, { weights, divisor }: Factors): Step {
  const one = steps.constant(1);
  // A quotient of constants is exact until it is rounded to the precision of the plan.
  const scale = divisor === 1 ? one : steps.append({ op: 'div', a: one, b: steps.constant(divisor) });
  return weights.reduce((product, { dimension, from, to, inside, outside }) => {
    const [a, b] = [steps.constant(inside), steps.constant(outside)];
    const place = steps.append({ op: 'place', dimension });
    return steps.mul(product, steps.append({ op: 'where', index: place, from, to, a, b }));
  }, scale);
}

/** Reads the matrix off the steps of a callback. */
class Matrix {
  private readonly built: BuiltCallback;
  private readonly steps: Steps;
  private readonly sums: Sum[] = [];
  /** Steps that are indices, by their numbers in the callback. */
  private readonly indices = new Map<number, Step>();

  constructor(built: BuiltCallback, steps: Steps) {
    this.built = built;
    this.steps = steps;
  }

  /** @throws NotLinear */
  rows(): readonly Sum[] {
    this.built.nodes.forEach((node, n) => {
      if (isIndex(node)) {
        this.sums.push({});
        this.indices.set(n, this.indexOf(node));
      } else this.sums.push(this.sumOf(node));
    });
    return this.built.result.map((n) => {
      const { free, ...linear } = this.sums[n]!;
      if (free !== undefined) throw new NotLinear('adds something that does not depend on its value');
      return linear;
    });
  }

  private sumOf(node: CallbackNode): Sum {
    const of = (n: number) => this.sums[n]!;
    switch (node.op) {
      case 're':
      case 'im':
        return { [node.op]: this.steps.constant(1) };
      case 'constant':
        return node.value === 0 ? {} : { free: this.steps.constant(node.value) };
      case 'load':
        return { free: this.steps.append({ ...node, index: this.indices.get(node.index)! }) };
      case 'neg':
        return eachStep(of(node.a), (a) => this.steps.neg(a));
      case 'add':
        return this.added(of(node.a), of(node.b));
      case 'sub':
        return this.added(
          of(node.a),
          eachStep(of(node.b), (b) => this.steps.neg(b)),
        );
      case 'mul':
        return this.product(of(node.a), of(node.b));
      case 'div': {
        const b = this.freeOf(of(node.b), 'divides by its value');
        return eachStep(of(node.a), (a) => this.steps.append({ op: 'div', a, b }));
      }
      case 'select': {
        const why = 'selects by its value';
        const less = [this.freeOf(of(node.less[0]), why), this.freeOf(of(node.less[1]), why)] as const;
        return this.chosen(of(node.a), of(node.b), (a, b) => ({ op: 'select', less, a, b }));
      }
      case 'where': {
        const index = this.indices.get(node.index)!;
        return this.chosen(of(node.a), of(node.b), (a, b) => ({ ...node, index, a, b }));
      }
      case 'sqrt':
      case 'log':
      case 'exp':
      case 'abs': {
        const a = this.freeOf(of(node.a), `takes ${node.op} of its value`);
        return { free: this.steps.append({ op: node.op, a }) };
      }
      case 'min':
      case 'max': {
        const why = `takes the ${node.op} of its value`;
        const [a, b] = [this.freeOf(of(node.a), why), this.freeOf(of(node.b), why)];
        return { free: this.steps.append({ op: node.op, a, b }) };
      }
      default:
        throw new RangeError(`'${node.op}' is no step of reals.`);
    }
  }

  private indexOf(node: CallbackNode): Step {
    const of = (n: number) => this.indices.get(n)!;
    if (node.op === 'index-add') return this.steps.append({ ...node, a: of(node.a), b: of(node.b) });
    if (node.op === 'index-mul' || node.op === 'index-div' || node.op === 'index-mod')
      return this.steps.append({ ...node, a: of(node.a) });
    return this.steps.append(node);
  }

  private added(a: Sum, b: Sum): Sum {
    return merged(a, b, (one, other) =>
      one === undefined ? other : other === undefined ? one : this.steps.add(one, other),
    );
  }

  private product(a: Sum, b: Sum): Sum {
    if (hasLinearPart(a) && hasLinearPart(b)) throw new NotLinear('multiplies its value by itself');
    const [sum, { free }] = hasLinearPart(b) ? [b, a] : [a, b];
    return free === undefined ? {} : eachStep(sum, (one) => this.steps.mul(one, free));
  }

  private chosen(a: Sum, b: Sum, node: (a: Step, b: Step) => CallbackNode): Sum {
    return merged(a, b, (one, other) => {
      if (one === other) return one;
      const zero = this.steps.constant(0);
      return this.steps.append(node(one ?? zero, other ?? zero));
    });
  }

  /** A real that does not depend on the value. @throws NotLinear */
  private freeOf(sum: Sum, why: string): Step {
    if (hasLinearPart(sum)) throw new NotLinear(why);
    return sum.free ?? this.steps.constant(0);
  }
}

function isIndex({ op }: CallbackNode): boolean {
  return op === 'place' || op === 'integer' || op.startsWith('index-');
}

function hasLinearPart({ re, im }: Sum): boolean {
  return re !== undefined || im !== undefined;
}

function eachStep(sum: Sum, map: (step: Step) => Step): Sum {
  return merged(sum, sum, (step) => (step === undefined ? undefined : map(step)));
}

function merged(a: Sum, b: Sum, map: (a: Step | undefined, b: Step | undefined) => Step | undefined): Sum {
  return Object.fromEntries(
    PARTS.flatMap((part) => {
      const step = map(a[part], b[part]);
      return step === undefined ? [] : [[part, step]];
    }),
  );
}
