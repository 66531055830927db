/**
 * One kernel of a program. Results are pushed: from the result inwards, patterns transform the place where an element goes, and maps become loops.
 * Operands are pulled (pull.ts).
 */
import { type Index, index, type Real, type Store, scale, add as sum, type Var, variable } from '../../../ir/index.ts';
import type { Layout } from '../../../layout/index.ts';
import * as layouts from '../../../layout/index.ts';
import { lengthValue as lengthIn } from '../../../patterns/language/sizing.ts';
import type { Type } from '../../../patterns/language/types.ts';
import { freeOf, type Lambda, MOST_ELEMENTS, type Value } from '../../../patterns/language/values.ts';
import { memoryAccessesOf } from '../../views/layout-accesses.ts';
import { type Binding, Environment, nestedIndices, nestedLengths, type WorkGroup } from '../expressions/environment.ts';
import { Pull, type Source } from '../expressions/pull.ts';
import { elementOf, type Leaf, type NumberExpression, type Pulled, withLayouts } from '../expressions/pulled.ts';
import { pulledIteration, pulledReduction } from '../expressions/sums.ts';

/** Stores that share the same loops. */
export interface LoopNest {
  readonly loops: readonly Var[];
  readonly stores: Store[];
  /** The work-group that this nest is a phase of; the group's loops come first. */
  readonly group?: WorkGroup;
}

/** The most operations of unrolled iterations of a `mapSeq`. */
const MOST_WRITTEN = 256;

export class KernelBuilder extends Pull {
  readonly nests: LoopNest[] = [];
  around: Var[] = [];
  /** Loops whose iterations run one after another in one item. */
  readonly sequential = new Set<Var>();
  private group: WorkGroup | undefined;
  /** The number of nests that belong to completed phases. */
  private begun = 0;

  /** Stores a value. @param to the destination, an array or element of the value's shape */
  push(value: Value, env: Environment, to: Leaf): void {
    const { plan } = this;
    const isKnown = env.homeOf(value).known.has(value);
    // A `toGlobal` outside of work-groups is stored by a launch of its own; inside it marks where the group stores its result.
    const isCut = value.op === 'toGlobal' && !this.group && plan.canStore(value, env);
    const isTaken = isKnown || isCut || plan.isShared(value, env) || plan.isStored(value, env);
    if (isTaken) this.pushPulled(this.pull(value, env), value, env, to);
    else this.pushItself(value, env, to);
  }

  /** Stores the value that the whole kernel is for. */
  pushWhole(value: Value, env: Environment, to: Leaf): void {
    if (value.op === 'toGlobal') this.push(value.of[0]!, env, to);
    else this.push(value, env, to);
  }

  /** Stores a value that may itself have a place in memory, without reading it from there. */
  pushItself(value: Value, env: Environment, to: Leaf): void {
    const { op, of, f } = value;
    const [source] = of;
    const place = (change: (layout: Layout, d: number) => Layout) => withLayouts(to, change) as Leaf;
    switch (op) {
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
      case 'mapLocal':
      case 'mapSeq': {
        const turned = this.turned(f!.body, f!.parameters, to.layout, to.at.length + 1);
        if (turned) return this.push(source!, env, { ...to, layout: turned });
        return this.looped(
          this.lengthOf(source!),
          this.isAtHand(source!) || (op === 'mapSeq' && this.isShort(value)),
          (at) => this.push(f!.body, this.within(value, source!, f!, at, env), elementOf(to, at) as Leaf),
          op === 'mapSeq',
        );
      }
      case 'mapWorkgroup':
        return this.looped(this.lengthOf(source!), false, (at) =>
          this.asGroup((group) => {
            const inside = this.within(value, source!, f!, at, env, env.guard, group);
            this.push(f!.body, inside, elementOf(to, at) as Leaf);
          }),
        );
      case 'toLocal':
      case 'toGlobal':
        return this.push(source!, env, to);
      case 'list':
        return of.forEach((part, n) => {
          this.push(part, env, elementOf(to, index(n)) as Leaf);
        });
      default:
        return this.pushPulled(this.pull(value, env), value, env, to);
    }
  }

  /**
   * The layout of the elements that a function is given, from the layout of its results; for functions that only rearrange numbers.
   * @param d the first dimension of a result in the layout
   */
  private turned(body: Value, parameters: readonly Value[], layout: Layout, d: number): Layout | undefined {
    const { op, of, f } = body;
    if (parameters.length > 1) return undefined;
    if (body === parameters[0]) return layout;
    const next = (own: Layout) => this.turned(of[0]!, parameters, own, d);
    if (op === 'join') return next(layouts.split(layout, d, this.innerLength(of[0]!)));
    if (op === 'split') return next(layouts.join(layout, d));
    if (op === 'transpose') return next(layouts.transpose(layout, d, d + 1));
    const inner = op === 'map' ? this.turned(f!.body, f!.parameters, layout, d + 1) : undefined;
    return inner && next(inner);
  }

  private innerLength({ type }: Value): number {
    return type.kind === 'array' && type.of.kind === 'array' ? lengthIn(type.of.length, this.plan.sizes) : 1;
  }

  /** Whether all elements of an array are computed together, so that no loop may run over its elements. */
  private isAtHand(value: Value): boolean {
    if (this.lengthOf(value) > MOST_ELEMENTS) return false;
    if (['dft', 'idft', 'list', 'toPrivate'].includes(value.op)) return true;
    return value.op === 'map' && this.isAtHand(value.of[0]!);
  }

  private isShort(map: Value): boolean {
    const count = this.lengthOf(map.of[0]!);
    return count <= MOST_ELEMENTS && count * this.plan.workOf(map.f!.body) <= MOST_WRITTEN;
  }

  private pushPulled(whole: Pulled, value: Value, env: Environment, to: Leaf): void {
    const next = (of: Pulled, type: Type, place: Leaf): void => {
      if (type.kind !== 'array') return this.store(this.numberAt(of, env.guard), place);
      const count = lengthIn(type.length, this.plan.sizes);
      this.looped(count, (type === value.type || value.op === 'toPrivate') && this.isAtHand(value), (at) =>
        next(elementOf(of, at), type.of, elementOf(place, at) as Leaf),
      );
    };
    next(whole, value.type, to);
  }

  private looped(count: number, isUnrolled: boolean, body: (at: Index) => void, isSequential = false): void {
    if (isUnrolled || count === 1) {
      for (let n = 0; n < count; n++) body(index(n));
      return;
    }
    const loop = variable(`l${this.plan.nextNumber()}`, count);
    if (isSequential) this.sequential.add(loop);
    this.around.push(loop);
    this.open *= count;
    body(index(loop));
    this.open /= count;
    this.around.pop();
  }

  /** Makes each iteration of the surrounding loops a work-group, and pushes the body as its phases. */
  private asGroup(body: (group: WorkGroup) => void): void {
    const outer = this.group;
    this.group = { loops: [...this.around], iterations: this.open, arrays: new Map() };
    body(this.group);
    this.group = outer;
  }

  protected reduced(value: Value, env: Environment): Pulled {
    return pulledReduction(this, value, env);
  }

  protected repeated(value: Value, env: Environment): Pulled {
    return pulledIteration(this, value, env);
  }

  protected shared(value: Value, env: Environment): Leaf {
    const home = env.group!;
    const group = (home.binding as Extract<Binding, { kind: 'element' }>).group!;
    const all = env.neededFor(freeOf(value));
    const needed = all.filter((each) => each.isInside(home));
    const key = this.plan.keyOf(value, all);
    let whole = group.arrays.get(key);
    if (!whole) {
      const leaf = this.sharedLeaf(value.type, nestedLengths(needed));
      group.arrays.set(key, (whole = { ...leaf, isChosen: value.op !== 'toLocal' }));
      const to = whole;
      this.inPhase(group, () =>
        this.again(needed, (inside, at) => this.pushItself(value, inside, { ...to, at }), home),
      );
    }
    return { kind: 'leaf', layout: whole.layout, at: nestedIndices(needed) };
  }

  /** Pushes what `act` stores as a phase of a work-group, before the phase that is being built. */
  private inPhase(group: WorkGroup, act: () => void): void {
    const { around, open } = this;
    this.around = [...group.loops];
    this.open = group.iterations;
    this.begun = this.nests.length;
    act();
    this.begun = this.nests.length;
    this.around = around;
    this.open = open;
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
    const { group } = this;
    const known = this.nests
      .slice(this.begun)
      .find(
        (nest) =>
          nest.group === group && nest.loops.length === loops.length && nest.loops.every((v, n) => v === loops[n]),
      );
    if (known) return known;
    const nest: LoopNest = { loops: [...loops], stores: [], ...(group ? { group } : {}) };
    this.nests.push(nest);
    return nest;
  }

  /** The environment of the function of an `iterate`, whose state is in buffers. */
  inState(value: Value, buffers: readonly string[], env: Environment): Environment {
    const [parameter] = value.f!.parameters;
    const state = this.plan.stateOf(this, value, buffers, env);
    return new Environment(env, { kind: 'state', of: value, buffers }, [[parameter!, state]]);
  }

  /** A copy of an environment in loops of this kernel; `body` is called inside those loops. @param from the environment around the copied one */
  again(
    needed: readonly Environment[],
    body: (env: Environment, indices: readonly Index[]) => void,
    from: Environment = this.root,
  ): void {
    const next = (n: number, env: Environment, indices: readonly Index[]): void => {
      const old = needed[n];
      if (!old) return body(env, indices);
      const binding = old.binding as Exclude<Binding, { kind: 'sum' }>;
      const f = { parameters: old.bound } as Pick<Lambda, 'parameters'>;
      if (binding.kind === 'element') {
        const { of, source, count } = binding;
        return this.looped(count, false, (at) => {
          const inside = (group?: WorkGroup) =>
            next(n + 1, this.within(of, source, f, at, env, env.guard, group), [...indices, at]);
          if (binding.group) this.asGroup(inside);
          else inside();
        });
      }
      next(n + 1, this.inState(binding.of, binding.buffers, env), indices);
    };
    next(0, from, []);
  }
}
