/**
 * One kernel of a program. What it stores is pushed: from the result inwards, patterns turn the place where an element goes, and maps become
 * loops. What that needs is pulled (pull.ts).
 */
import { type Index, index, type Real, type Store, scale, add as sum, type Var, variable } from '../../ir/index.ts';
import * as layouts from '../../layout/index.ts';
import { numberOf as lengthIn } from '../../patterns/sizing.ts';
import type { Type } from '../../patterns/types.ts';
import { type Lambda, MOST_ELEMENTS, type Value } from '../../patterns/values.ts';
import { memoryAccessesOf } from '../layouts.ts';
import { type Binding, Environment } from './environment.ts';
import type { Source } from './pull.ts';
import { elementOf, type Leaf, type NumberExpression, type Pulled, rearranged } from './pulled.ts';
import { Reductions } from './sums.ts';

/** Stores that stand in the same loops. */
export interface LoopNest {
  readonly loops: readonly Var[];
  readonly stores: Store[];
}

export class KernelBuilder extends Reductions {
  readonly nests: LoopNest[] = [];
  protected readonly around: Var[] = [];

  /** Stores a value. @param to where it goes, of its shape */
  push(value: Value, env: Environment, to: Leaf): void {
    const { op, of, f } = value;
    const [source] = of;
    const place = (change: (layout: layouts.Layout, d: number) => layouts.Layout) => rearranged(to, change) as Leaf;
    const isTaken = env.homeOf(value).known.has(value) || this.plan.isStored(value, env);
    switch (isTaken ? 'taken' : op) {
      case 'join':
        return this.push(
          source!,
          env,
          place((layout, d) => layouts.split(layout, d, this.innerLength(source!))),
        );
      case 'split':
        return this.push(
          source!,
          env,
          place((layout, d) => layouts.join(layout, d)),
        );
      case 'transpose':
        return this.push(
          source!,
          env,
          place((layout, d) => layouts.transpose(layout, d, d + 1)),
        );
      case 'map':
      case 'mapGlobal':
      case 'mapWorkgroup':
      case 'mapLocal':
      case 'mapSeq':
        return this.looped(this.lengthOf(source!), this.isAtHand(source!), (at) =>
          this.push(f!.body, this.within(value, source!, f!, at, env), elementOf(to, at) as Leaf),
        );
      case 'toLocal':
      case 'toGlobal':
      case 'toPrivate':
        return this.push(f!.body, this.applied(value, env), to);
      case 'list':
        return of.forEach((part, n) => {
          this.push(part, env, elementOf(to, index(n)) as Leaf);
        });
      default:
        return this.pushPulled(this.pull(value, env), value, env, to);
    }
  }

  private innerLength({ type }: Value): number {
    return type.kind === 'array' && type.of.kind === 'array' ? lengthIn(type.of.length, this.plan.sizes) : 1;
  }

  /** Whether all elements of an array are computed together, so that no loop may run over them. */
  private isAtHand(value: Value): boolean {
    if (this.lengthOf(value) > MOST_ELEMENTS) return false;
    if (value.op === 'dft' || value.op === 'idft' || value.op === 'list') return true;
    return value.op === 'map' && this.isAtHand(value.of[0]!);
  }

  private pushPulled(whole: Pulled, value: Value, env: Environment, to: Leaf): void {
    const next = (of: Pulled, type: Type, place: Leaf): void => {
      if (type.kind !== 'array') return this.store(this.numberAt(of, env.guard), place);
      const count = lengthIn(type.length, this.plan.sizes);
      this.looped(count, type === value.type && this.isAtHand(value), (at) =>
        next(elementOf(of, at), type.of, elementOf(place, at) as Leaf),
      );
    };
    next(whole, value.type, to);
  }

  private looped(count: number, isUnrolled: boolean, body: (at: Index) => void): void {
    if (isUnrolled || count === 1) {
      for (let n = 0; n < count; n++) body(index(n));
      return;
    }
    const loop = variable(`l${this.plan.nextNumber()}`, count);
    this.around.push(loop);
    this.open *= count;
    body(index(loop));
    this.open /= count;
    this.around.pop();
  }

  /** Runs `body` inside a loop of its own, as for a symbol whose enclosing map is computed once more in this kernel. */
  inLoop(count: number, body: (at: Index) => void): void {
    this.looped(count, false, body);
  }

  private store({ re, im }: NumberExpression, to: Leaf): void {
    for (const { array, index: place, guard } of memoryAccessesOf(to.layout, to.at)) {
      const source = this.sources.get(array)! as Extract<Source, { kind: 'memory' }>;
      const at = sum(source.begin, scale(place, source.words));
      const write = (part: number, value: Real): Store => ({
        array: source.array,
        index: sum(at, part),
        value,
        ...(guard.length > 0 ? { guard } : {}),
      });
      const imaginary = source.words === 2 ? [write(1, im ?? this.x.constant(0))] : [];
      this.nestOf(this.around).stores.push(write(0, re), ...imaginary);
    }
  }

  private nestOf(loops: readonly Var[]): LoopNest {
    const known = this.nests.find(
      (nest) => nest.loops.length === loops.length && nest.loops.every((v, n) => v === loops[n]),
    );
    if (known) return known;
    const nest: LoopNest = { loops: [...loops], stores: [] };
    this.nests.push(nest);
    return nest;
  }

  /** The environment of the function of an `iterate`, whose state is in a buffer. */
  inState(value: Value, buffer: string, env: Environment): Environment {
    const [parameter] = value.f!.parameters;
    const state = this.plan.stateLeaf(this, value, buffer, env);
    return new Environment(env, { kind: 'state', of: value, buffer }, [[parameter!, state]]);
  }

  /** An environment like another one, in loops of this kernel; `body` is called inside of them. */
  again(needed: readonly Environment[], body: (env: Environment, indices: readonly Index[]) => void): void {
    const next = (n: number, env: Environment, indices: readonly Index[]): void => {
      const old = needed[n];
      if (!old) return body(env, indices);
      const binding = old.binding as Exclude<Binding, { kind: 'sum' }>;
      const f = { parameters: old.bound } as Pick<Lambda, 'parameters'>;
      if (binding.kind === 'element') {
        return this.inLoop(binding.count, (at) =>
          next(n + 1, this.within(binding.of, binding.source, f, at, env), [...indices, at]),
        );
      }
      if (binding.kind === 'argument') return next(n + 1, this.applied(binding.of, env), indices);
      next(n + 1, this.inState(binding.of, binding.buffer, env), indices);
    };
    next(0, this.root, []);
  }
}
