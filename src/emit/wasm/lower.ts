/**
 * Lowers a kernel to WebAssembly: one function `run(first, last, shared, …globals, …tables)` that executes groups first … last − 1.
 *
 * Items in lockstep are the lanes of a vector; all other items become iterations of loops. The loops of a phase are complete before the next
 * phase begins, so exchanges need no code.
 */
import {
  type ArrayRef,
  elementTypeOf,
  type Index,
  type Kernel,
  type Phase,
  range,
  slicedPhases,
  storageBytes,
  type Var,
  variable,
} from '../../ir/index.ts';
import { withoutShortFolds } from '../folds.ts';
import { itemwise } from '../lanes.ts';
import type { Base } from './accesses.ts';
import { Addresses } from './addresses.ts';
import { type BodyCode, loadKey, prepareBody } from './bodies.ts';
import { BodyWriter } from './body-writer.ts';
import { encodeModule, FunctionAssembler, type MemoryLimits, type ModuleFunction, repetition } from './encoder.ts';
import { advance, beginWalking, endLoop, type LoopScope, type Prefix, prefixesOf } from './loops.ts';
import type { VectorArithmetic } from './multiply-adds.ts';
import { type Body, type LoopNode, schedule } from './schedule.ts';

/** Bytes of a vector register. */
const VECTOR_BYTES = 16;

export interface WasmKernel {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes of shared memory that a run needs at its `shared` argument, 64-byte aligned. */
  readonly sharedBytes: number;
  /** Names of the pointer parameters after (first, last, shared), in order. */
  readonly parameters: readonly string[];
}

export type { MemoryLimits } from './encoder.ts';

/** A kernel as a module of its own, which exports it as `run`, and `repeat` beside it. */
export function emitWasm(kernel: Kernel, memory: MemoryLimits, vectors: VectorArithmetic = {}): WasmKernel {
  const { run, sharedBytes } = loweredKernel('run', withoutShortFolds(kernel), vectors);
  return { bytes: encodeModule([run, repetition(run)], memory), sharedBytes, parameters: parameterNames(kernel) };
}

/** Several kernels as one module, which exports each by its name. Phases that are equal in two kernels become functions that both call. */
export function emitWasmModule(
  kernels: ReadonlyMap<string, Kernel>,
  memory: MemoryLimits,
  vectors: VectorArithmetic = {},
): Pick<WasmKernel, 'bytes' | 'sharedBytes'> {
  const prepared = new Map([...kernels].map(([name, kernel]) => [name, withoutShortFolds(kernel)]));
  const { parts, numbers } = commonParts([...prepared.values()], vectors);
  const functions = [...prepared].map(([name, kernel]) =>
    loweredKernel(name, kernel, vectors, phaseCalls(kernel, numbers)),
  );
  return {
    bytes: encodeModule([...functions.map(({ run }) => run), ...parts], memory),
    sharedBytes: Math.max(0, ...functions.map(({ sharedBytes }) => sharedBytes)),
  };
}

/** Writes a phase in another way; false if it does not. @param group the local with the number of the group */
type PhaseWriter = (asm: FunctionAssembler, phase: Phase, group: number) => boolean;

function loweredKernel(name: string, kernel: Kernel, vectors: VectorArithmetic, otherwise?: PhaseWriter) {
  const lowering = new WasmLowering(kernel, vectors);
  const run: ModuleFunction = { name, parameters: parameterCount(kernel), body: lowering.run(otherwise) };
  return { run, sharedBytes: lowering.sharedBytes };
}

/** A writer that calls the function of a phase for one group, if the phase has one. */
function phaseCalls(kernel: Kernel, numbers: ReadonlyMap<Phase, number>): PhaseWriter {
  return (asm, phase, group) => {
    const number = numbers.get(phase);
    if (number === undefined) return false;
    asm.get(group);
    asm.get(group);
    asm.i32(1);
    asm.op('i32.add');
    for (let n = SHARED_POINTER; n < parameterCount(kernel); n++) asm.get(n);
    asm.call(number);
    return true;
  };
}

/** The shortest code of a phase that becomes a function: shorter code takes no more room than its calls. */
const SHORTEST_PART = 100;

/** Functions for phases with the same code in two kernels, numbered after the kernels. Each is its kernel with that phase alone. */
function commonParts(
  kernels: readonly Kernel[],
  vectors: VectorArithmetic,
): { readonly parts: ModuleFunction[]; readonly numbers: ReadonlyMap<Phase, number> } {
  const known = new Map<string, { readonly part: ModuleFunction; readonly phases: Phase[] }>();
  for (const kernel of kernels.length > 1 ? kernels : []) {
    for (const phase of phasesAlone(kernel)) {
      const parameters = parameterCount(kernel);
      const alone = { ...kernel, phases: [phase], ...(kernel.reverse ? { reverse: [phase] } : {}) };
      const body = new WasmLowering(alone, vectors).run();
      if (body.length < SHORTEST_PART) continue;
      const key = `${parameters} ${body}`;
      const same = known.get(key) ?? { part: { parameters, body }, phases: [] };
      known.set(key, { ...same, phases: [...same.phases, phase] });
    }
  }
  const common = [...known.values()].filter(({ phases }) => phases.length > 1);
  return {
    parts: common.map(({ part }) => part),
    numbers: new Map(common.flatMap(({ phases }, n) => phases.map((phase) => [phase, kernels.length + n] as const))),
  };
}

/** The phases that are not in slices and are equal in both directions of a kernel. */
function phasesAlone({ phases, reverse = phases }: Kernel): Phase[] {
  const opposite = slicedPhases(reverse);
  return slicedPhases(phases).flatMap((run, n) => (run.length === 1 && run[0] === opposite[n]![0] ? run : []));
}

function parameterCount(kernel: Kernel): number {
  return FIXED_PARAMETERS + parameterNames(kernel).length;
}

/** Names of the arguments after (first, last, shared). */
function parameterNames({ globals, tables, reverse }: Kernel): string[] {
  return [...(reverse ? ['reverse'] : []), ...[...globals, ...tables].map((array) => array.name)];
}

/** Numbers of the function's parameters. */
const FIRST_GROUP = 0;
const END_GROUP = 1;
const SHARED_POINTER = 2;
const FIXED_PARAMETERS = 3;
/** The parameter that selects the direction, if a kernel can run in both. */
const DIRECTION = FIXED_PARAMETERS;

/** A loop around phases: the loop over groups, or the loop over the slices of a group. */
interface EnclosingLoop {
  readonly level: number;
  readonly counter: number;
  readonly slice?: Var;
}

class WasmLowering {
  private readonly kernel: Kernel;
  private readonly vectors: VectorArithmetic;
  private readonly asm: FunctionAssembler;
  private readonly lanes: number;
  private readonly addresses: Addresses;
  private readonly bodies: BodyWriter;
  private readonly group: number;
  /** The code of the bodies of the current phase. */
  private readonly code = new Map<Body, BodyCode>();
  private current: Phase;
  readonly sharedBytes: number;

  constructor(kernel: Kernel, vectors: VectorArithmetic) {
    this.kernel = kernel;
    this.vectors = vectors;
    this.lanes = VECTOR_BYTES / storageBytes(kernel.precision);
    const pointers = [...kernel.globals, ...kernel.tables];
    const parameters = parameterCount(kernel);
    this.asm = new FunctionAssembler(parameters);
    const first = parameters - pointers.length;
    const bases = new Map(pointers.map((array, n) => [array as ArrayRef, { local: first + n, offset: 0 }]));
    let offset = 0;
    for (const array of kernel.shared) {
      bases.set(array, { local: SHARED_POINTER, offset });
      offset += Math.ceil((array.length! * storageBytes(array.type)) / 64) * 64;
    }
    this.sharedBytes = offset;
    this.addresses = new Addresses(this.asm, bases);
    this.bodies = new BodyWriter(this.asm, this.addresses, elementTypeOf(kernel.precision), this.lanes);
    this.group = this.asm.local('i32');
    this.addresses.enter(kernel.group, 0, this.group);
    this.current = kernel.phases[0]!;
  }

  run(otherwise?: PhaseWriter): Uint8Array {
    const { asm, group, kernel } = this;
    asm.block();
    asm.get(FIRST_GROUP);
    asm.get(END_GROUP);
    asm.op('i32.ge_s');
    asm.branchIf(0);
    asm.get(FIRST_GROUP);
    asm.set(group);
    asm.loop();
    const around = { level: 0, counter: group };
    const reverse = slicedPhases(kernel.reverse ?? kernel.phases);
    slicedPhases(kernel.phases).forEach((phases, n) => {
      if (otherwise?.(asm, phases[0]!, group)) return;
      if (phases.length === 1) this.either(phases[0]!, reverse[n]![0]!, around);
      else this.slices(phases, reverse[n]!);
    });
    endLoop(asm, group, { local: END_GROUP });
    asm.end();
    return asm.finish();
  }

  /** Slices one after another, each through all the phases. */
  private slices(phases: readonly Phase[], reverse: readonly Phase[]): void {
    const { asm } = this;
    const { variable: like, limit } = phases[0]!.loops[0]!;
    const mark = asm.mark();
    const around = { level: 1, counter: asm.local('i32'), slice: variable(like.name, like.count) };
    this.addresses.enter(around.slice, around.level, around.counter);
    const end = limit ? { local: this.least(limit, like.count) } : like.count;
    const mayBeNone = limit !== undefined && range(limit)[0] < 1;
    if (mayBeNone) {
      asm.get((end as { local: number }).local);
      asm.if();
    }
    asm.i32(0);
    asm.set(around.counter);
    asm.loop();
    phases.forEach((phase, n) => this.either(phase, reverse[n]!, around));
    endLoop(asm, around.counter, end);
    if (mayBeNone) asm.end();
    asm.release(mark);
  }

  /** A phase, or its counterpart if the kernel runs in the reverse direction. */
  private either(phase: Phase, reverse: Phase, around: EnclosingLoop): void {
    if (phase === reverse) return this.phase(phase, around);
    const { asm } = this;
    asm.get(DIRECTION);
    asm.if();
    this.phase(reverse, around);
    asm.else();
    this.phase(phase, around);
    asm.end();
  }

  private phase(given: Phase, { level, counter, slice }: EnclosingLoop): void {
    // If the lanes do not fill a vector, each item computes its neighbour's values itself.
    const phase = given.lanes.count < this.lanes ? itemwise(given) : given;
    this.current = phase;
    this.code.clear();
    const nodes = schedule(phase, this.lanes, slice);
    const mark = this.asm.mark();
    const pointers = new Map<string, number>();
    for (let outer = 0; outer <= level; outer++) {
      for (const { array, index } of this.prefixes(nodes, outer)) {
        if (this.addresses.levelOf(index) === outer) this.addresses.computed(pointers, array, index, outer);
      }
    }
    this.nodes(nodes, { level, counter, pointers, values: new Map() });
    this.asm.release(mark);
  }

  private nodes(nodes: readonly LoopNode[], scope: LoopScope): void {
    for (const node of nodes) {
      const mark = this.asm.mark();
      if (node.kind === 'body') this.bodies.write(node, this.codeOf(node), this.current, scope);
      else this.inner(node, scope);
      this.asm.release(mark);
    }
  }

  /** A loop, or a clip: both bring a new variable into scope. */
  private inner(node: Exclude<LoopNode, Body>, outer: LoopScope): void {
    const { asm } = this;
    const level = outer.level + 1;
    const counter = asm.local('i32');
    this.addresses.enter(node.variable, level, counter);
    const pointers = new Map(outer.pointers);
    const needed = this.prefixes(node.children, level).filter(({ index }) => this.addresses.levelOf(index) === level);
    if (node.kind === 'clip') {
      this.least(node.value, node.most, counter);
      for (const { array, index } of needed) this.addresses.computed(pointers, array, index, level);
      this.nodes(node.children, { level, counter, pointers, values: outer.values });
      return;
    }
    const own = { variable: node.variable, level };
    const { walking, jumping } = beginWalking(asm, this.addresses, pointers, needed, own);
    const dynamic = typeof node.trips !== 'number';
    const end = dynamic ? asm.local('i32') : undefined;
    asm.i32(0);
    asm.set(counter);
    if (dynamic) {
      this.addresses.index(node.trips as Index);
      asm.set(end!);
      asm.block();
      asm.get(end!);
      asm.op('i32.eqz');
      asm.branchIf(0);
    }
    asm.loop();
    for (const { array, index } of jumping) this.addresses.computed(pointers, array, index, level);
    const values = new Map(outer.values);
    this.hoist(node.children, { level, counter, pointers, values }, values);
    this.nodes(node.children, { level, counter, pointers, values });
    advance(asm, walking);
    endLoop(asm, counter, end === undefined ? (node.trips as number) : { local: end });
    if (dynamic) asm.end();
  }

  /** A local with the minimum of an index and a number. */
  private least(value: Index, most: number, local = this.asm.local('i32')): number {
    const { asm } = this;
    this.addresses.index(value);
    asm.tee(local);
    asm.i32(most);
    asm.get(local);
    asm.i32(most);
    asm.op('i32.lt_s');
    asm.op('select');
    asm.set(local);
    return local;
  }

  /** Executes loads of inner loops that do not depend on these loops once, outside of them. */
  private hoist(children: readonly LoopNode[], scope: LoopScope, values: Map<string, number>): void {
    if (children.every((child) => child.kind === 'body')) return;
    const visit = (node: LoopNode): void => {
      if (node.kind !== 'body') return node.children.forEach(visit);
      const unit = this.bodies.unit(node);
      for (const group of new Set(this.codeOf(node).accesses.loads.values())) {
        const { access } = group;
        if (access.bases || access.guard || access.repeat !== 0 || this.addresses.levelOf(access.base) > scope.level)
          continue;
        const keys = group.members.map((member) => loadKey(member, node, access.stride));
        if (keys.every((key) => values.has(key))) continue;
        const locals = unit.load(group, this.addresses.of(group, scope.pointers, 0, unit.lanes));
        keys.forEach((key, n) => values.set(key, locals[n]!));
      }
    };
    // Only loads that at least one inner loop repeats: bodies directly in this loop load for themselves.
    for (const child of children) if (child.kind !== 'body') visit(child);
  }

  private codeOf(body: Body): BodyCode {
    let known = this.code.get(body);
    if (!known) this.code.set(body, (known = prepareBody(body, this.current, this.lanes, this.vectors)));
    return known;
  }

  /** The base addresses of all bodies under some nodes, with their terms up to a level of the loop tree. */
  private prefixes(nodes: readonly LoopNode[], level: number): Prefix[] {
    const bases: Base[] = [];
    const visit = (node: LoopNode): void => {
      if (node.kind !== 'body') return node.children.forEach(visit);
      bases.push(...this.codeOf(node).bases);
    };
    nodes.forEach(visit);
    return prefixesOf(bases, this.addresses, level);
  }
}
