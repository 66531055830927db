/**
 * A builder of callbacks for the library itself, as plain data. It folds constants: factors of 1, sums with 0.
 */
import type { CallbackNode, NumberKind } from '../callbacks.ts';

/** The number of a step. */
export type Step = number;

/** A callback before it is in the normal form of a problem, where it is called and steps without effect are left out. */
export interface DraftCallback {
  readonly takes: NumberKind;
  readonly gives: NumberKind;
  readonly nodes: readonly CallbackNode[];
  readonly result: readonly Step[];
}

export class Steps {
  readonly nodes: CallbackNode[] = [];
  private readonly constants = new Map<number, Step>();

  append(node: CallbackNode): Step {
    return this.nodes.push(node) - 1;
  }

  constant(value: number): Step {
    let step = this.constants.get(value);
    if (step === undefined) this.constants.set(value, (step = this.append({ op: 'constant', value })));
    return step;
  }

  /** Whether a step is the constant `value`. */
  is(step: Step, value: number): boolean {
    return this.constants.get(value) === step;
  }

  neg(a: Step): Step {
    const node = this.nodes[a]!;
    if (node.op === 'constant') return this.constant(node.value === 0 ? 0 : -node.value);
    return this.append({ op: 'neg', a });
  }

  mul(a: Step, b: Step): Step {
    if (this.is(a, 0) || this.is(b, 1)) return a;
    if (this.is(b, 0) || this.is(a, 1)) return b;
    if (this.is(a, -1)) return this.neg(b);
    if (this.is(b, -1)) return this.neg(a);
    return this.append({ op: 'mul', a, b });
  }

  add(a: Step, b: Step): Step {
    if (this.is(a, 0)) return b;
    return this.is(b, 0) ? a : this.append({ op: 'add', a, b });
  }
}
