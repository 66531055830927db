/**
 * Runs kernels of the IR one item after another, in plain JavaScript: what every emitter has to agree with exactly. Each
 * phase becomes the text of a function with its loops in it, which says in order what an item loads, computes and stores.
 */
import {
  type ArrayRef,
  type ElementType,
  elementTypeOf,
  evaluate,
  type FoldNode,
  type Guard,
  type Index,
  type Kernel,
  type Phase,
  type Real,
  reachable,
  type StorageType,
  slicedPhases,
  type Var,
} from '../../src/ir/index.ts';
import * as exact from '../../src/numeric/exact.ts';
import { fromHalf, toHalf } from './halves.ts';

export type RealArray = Float32Array | Float64Array | Uint16Array | Uint32Array;
/** What a place in the text knows: the names of variables, and of values that were computed there. */
interface Scope {
  readonly variables: ReadonlyMap<Var, string>;
  readonly values: Map<Real, string>;
  /** The place around a loop. */
  readonly outer?: Scope;
}

/** Everything that the text of a phase uses by name. */
interface Environment {
  readonly memory: Readonly<Record<string, RealArray>>;
  /** The shared arrays of each block, in the order of the kernel. */
  readonly blocks: readonly (readonly RealArray[])[];
  /** Stores that wait for the loads of others: array, place and value, one after another. */
  readonly late: (RealArray | number)[];
  readonly group: number;
  readonly rank: number;
  /** The value of the outermost variable, where only its items are to run. */
  readonly slice: number | undefined;
}

/** What the text needs besides: tables of integers, and arithmetic that JavaScript has no operator for. */
const LIBRARY = {
  fromHalf,
  toHalf,
  /** a·b + c, rounded once: exactly in fixed point, for numbers that are neither huge nor tiny. */
  fma(a: number, b: number, c: number): number {
    if (!Number.isFinite(a * b + c)) return Number.NaN;
    return exact.toNumber(exact.add(exact.mul(exact.exact(a), exact.exact(b)), exact.exact(c)));
  },
  fmaSingle(a: number, b: number, c: number): number {
    if (!Number.isFinite(a * b + c)) return Number.NaN;
    return exact.toSingle(exact.add(exact.mul(exact.exact(a), exact.exact(b)), exact.exact(c)));
  },
};

/** Writes one phase of a kernel. */
class Writer {
  readonly tables: ArrayLike<number>[] = [];
  private readonly kernel: Kernel;
  private readonly phase: Phase;
  private readonly single: boolean;
  private lines: string[] = [];
  private count = 0;

  constructor(kernel: Kernel, phase: Phase, precision: ElementType) {
    this.kernel = kernel;
    this.phase = phase;
    this.single = precision === 'f32';
  }

  /** The body of a function of an `Environment`. */
  text(): string {
    const { kernel, phase } = this;
    const arrays = [...kernel.globals, ...kernel.tables].map(
      ({ name }, n) => `m${n} = memory[${JSON.stringify(name)}]`,
    );
    arrays.push(...kernel.shared.map((_, n) => `s${n} = blocks[rank][${n}]`));
    const lines = [
      'const { memory, blocks, late, group, rank, slice } = environment;',
      ...(arrays.length > 0 ? [`const ${arrays.join(', ')};`] : []),
    ];
    const variables = new Map<Var, string>([[kernel.group, 'group']]);
    if (kernel.cluster) variables.set(kernel.cluster.rank, 'rank');
    for (const [depth, { variable, limit }] of phase.loops.entries()) {
      const name = `i${depth}`;
      const end = limit ? `Math.min(${variable.count}, ${this.index(limit, variables)})` : `${variable.count}`;
      const [first, last] = depth === 0 ? ['slice ?? 0', `slice === undefined ? ${end} : slice + 1`] : ['0', end];
      lines.push(`for (let ${name} = ${first}, end${depth} = ${last}; ${name} < end${depth}; ${name}++) {`);
      variables.set(variable, name);
    }
    lines.push(...this.items(variables), ...phase.loops.map(() => '}'));
    return lines.join('\n');
  }

  /** One item; or, when the first one's turn comes, all that load before any of them stores. */
  private items(variables: ReadonlyMap<Var, string>): string[] {
    const { lanes, inPlace: together = 1, readsFirst } = this.phase;
    const first = variables.get(lanes)!;
    if (together === 1) return this.item(variables, readsFirst === true);
    return [
      `if (${first} % ${together} === 0) {`,
      `for (let lane = ${first}; lane < ${first} + ${together}; lane++) {`,
      ...this.item(new Map(variables).set(lanes, 'lane'), true),
      '}',
      ...(readsFirst ? [] : ['flush(late);']),
      '}',
    ];
  }

  /** Loads and computes, then stores. @param waiting what is to be stored waits in `late` */
  private item(variables: ReadonlyMap<Var, string>, waiting: boolean): string[] {
    this.lines = [];
    const scope: Scope = { variables, values: new Map() };
    const stores = this.phase.stores.map(({ array, index, value, block, guard = [] }) => {
      const result = this.value(value, scope);
      const stored = array.type === 'f16' ? `toHalf(${result})` : result;
      const owner = block && `blocks[${this.index(block, variables)}][${this.kernel.shared.indexOf(array)}]`;
      const [target, place] = [owner ?? this.array(array), this.index(index, variables)];
      const store = waiting ? `late.push(${target}, ${place}, ${stored});` : `${target}[${place}] = ${stored};`;
      return `if (${this.guard(guard, variables)}) ${store}`;
    });
    return [...this.lines, ...stores];
  }

  private array(array: ArrayRef): string {
    const shared = this.kernel.shared.indexOf(array);
    if (shared >= 0) return `s${shared}`;
    const named = [...this.kernel.globals, ...this.kernel.tables].findIndex(({ name }) => name === array.name);
    return `m${named}`;
  }

  private index({ constant, terms }: Index, variables: ReadonlyMap<Var, string>): string {
    const products = terms.map(({ atom, factor }) => {
      if (atom.kind === 'var') return `${factor} * ${variables.get(atom) ?? 0}`;
      const of = this.index(atom.argument, variables);
      if (atom.kind === 'lookup') {
        this.tables.push(atom.table.entries);
        return `${factor} * tables[${this.tables.length - 1}][${of}]`;
      }
      const quotient = `Math.floor(${of} / ${atom.by})`;
      return `${factor} * ${atom.kind === 'div' ? quotient : `(${of} - ${quotient} * ${atom.by})`}`;
    });
    return `(${[constant, ...products].join(' + ')})`;
  }

  private guard(guard: Guard, variables: ReadonlyMap<Var, string>): string {
    const bounds = guard.map(({ index, from, to, outside }) => {
      const value = this.index(index, variables);
      return `${outside ? '!' : ''}(${value} >= ${from} && ${value} < ${to})`;
    });
    return bounds.length > 0 ? bounds.join(' && ') : 'true';
  }

  /** The name of a value, computed once in each scope. */
  private value(node: Real, scope: Scope): string {
    if (node.op === 'carried' && scope.outer && !scope.values.has(node)) return this.value(node, scope.outer);
    let name = scope.values.get(node);
    if (name === undefined) {
      const text = this.expression(node, scope);
      name = `v${this.count++}`;
      this.lines.push(`const ${name} = ${text};`);
      scope.values.set(node, name);
    }
    return name;
  }

  /** Rounded once to the precision of the kernel. */
  private rounded(text: string): string {
    return this.single ? `Math.fround(${text})` : text;
  }

  private constant(value: exact.Exact): string {
    return `(${this.single ? exact.toSingle(value) : exact.toNumber(value)})`;
  }

  private expression(node: Real, scope: Scope): string {
    const of = (operand: Real) => this.value(operand, scope);
    switch (node.op) {
      case 'const':
        return this.constant(node.value);
      case 'conj': {
        const value = this.constant(node.value);
        return `${scope.variables.get(this.phase.lanes)} % 2 === 0 ? ${value} : -${value}`;
      }
      case 'load': {
        const raw = `${this.array(node.array)}[${this.index(node.index, scope.variables)}]`;
        const value = this.rounded(node.array.type === 'f16' ? `fromHalf(${raw})` : raw);
        return node.guard ? `${this.guard(node.guard, scope.variables)} ? ${value} : 0` : value;
      }
      case 'neg':
        return `-${of(node.a)}`;
      case 'abs':
        return `Math.abs(${of(node.a)})`;
      case 'sqrt':
        return this.rounded(`Math.sqrt(${of(node.a)})`);
      case 'exponent':
        return `Math.floor(Math.log2(${of(node.a)}))`;
      case 'inversePower':
        return `2 ** -Math.floor(Math.log2(${of(node.a)}))`;
      case 'swap':
        return this.value(node.a, this.neighbour(scope));
      case 'add':
      case 'exactAdd':
        return this.rounded(`${of(node.a)} + ${of(node.b)}`);
      case 'sub':
      case 'exactSub':
        return this.rounded(`${of(node.a)} - ${of(node.b)}`);
      case 'mul':
      case 'exactMul':
        return this.rounded(`${of(node.a)} * ${of(node.b)}`);
      case 'div':
        return this.rounded(`${of(node.a)} / ${of(node.b)}`);
      case 'min':
        return `Math.min(${of(node.a)}, ${of(node.b)})`;
      case 'max':
        return `Math.max(${of(node.a)}, ${of(node.b)})`;
      case 'exactFma':
        return `${this.single ? 'fmaSingle' : 'fma'}(${of(node.a)}, ${of(node.b)}, ${of(node.c)})`;
      case 'select': {
        const comparison = { less: '<', equal: '===', lessEqual: '<=' }[node.comparison];
        return `${of(node.left)} ${comparison} ${of(node.right)} ? ${of(node.a)} : ${of(node.b)}`;
      }
      case 'where':
        return `${this.guard(node.guard, scope.variables)} ? ${of(node.a)} : ${of(node.b)}`;
      case 'carried':
        throw new RangeError(`${node.over.name} carries a value out of its fold`);
      case 'fold':
        return this.fold(node, scope);
    }
  }

  /** A loop that carries values, each fold's its own. */
  private fold({ loop: { over, first, next }, slot }: FoldNode, scope: Scope): string {
    const begin = first.map((value) => this.value(value, scope));
    const name = `n${this.count++}`;
    const totals = begin.map((value) => {
      this.lines.push(`let t${this.count} = ${value};`);
      return `t${this.count++}`;
    });
    this.lines.push(`for (let ${name} = 0; ${name} < ${over.count}; ${name}++) {`);
    const values = new Map(carriedIn(next, over).map((node) => [node as Real, totals[node.slot]!]));
    const within: Scope = { variables: new Map(scope.variables).set(over, name), values, outer: scope };
    const made = next.map((value) => this.value(value, within));
    this.lines.push(`[${totals}] = [${made}];`, '}');
    return totals[slot]!;
  }

  private readonly neighbours = new WeakMap<Scope, Scope>();

  private neighbour(scope: Scope): Scope {
    let other = this.neighbours.get(scope);
    if (!other) {
      const { lanes } = this.phase;
      const variables = new Map(scope.variables).set(lanes, `(${scope.variables.get(lanes)} ^ 1)`);
      this.neighbours.set(scope, (other = { variables, values: new Map() }));
    }
    return other;
  }
}

type CarriedNode = Extract<Real, { op: 'carried' }>;

function carriedIn(values: readonly Real[], over: Var): CarriedNode[] {
  return reachable(values).filter((node): node is CarriedNode => node.op === 'carried' && node.over === over);
}

/** Stores what waits. */
function flush(late: (RealArray | number)[]): void {
  for (let n = 0; n < late.length; n += 3) (late[n] as RealArray)[late[n + 1] as number] = late[n + 2] as number;
  late.length = 0;
}

const written = new WeakMap<Kernel, Map<Phase, (environment: Environment) => void>>();

/** A phase as a function; kernels run often. */
function compiled(kernel: Kernel, phase: Phase): (environment: Environment) => void {
  const known = written.get(kernel) ?? new Map<Phase, (environment: Environment) => void>();
  written.set(kernel, known);
  let run = known.get(phase);
  if (!run) {
    const writer = new Writer(kernel, phase, elementTypeOf(kernel.precision));
    const text = `'use strict';\nreturn (environment) => {\n${writer.text()}\n};`;
    const library = { ...LIBRARY, flush, tables: writer.tables };
    run = new Function(...Object.keys(library), text)(...Object.values(library)) as typeof run & {};
    known.set(phase, run);
  }
  return run;
}

function poisoned(type: StorageType, length: number): RealArray {
  if (type === 'f16') return new Uint16Array(length).fill(0x7e00);
  return (type === 'f32' ? new Float32Array(length) : new Float64Array(length)).fill(Number.NaN);
}

/**
 * @param memory one array for each of the kernel's globals and tables, by name; those that are stored to change.
 * @param phases those of the way to run.
 */
export function interpret(
  kernel: Kernel,
  memory: Readonly<Record<string, RealArray>>,
  phases: readonly Phase[] = kernel.phases,
): void {
  const count = kernel.cluster?.blocks ?? 1;
  for (let group = 0; group < kernel.group.count; group++) {
    const blocks = Array.from({ length: count }, () =>
      kernel.shared.map((array) => poisoned(array.type, array.length as number)),
    );
    const run = (phase: Phase, slice?: number): void => {
      const late: Environment['late'] = [];
      const each = compiled(kernel, phase);
      for (let rank = 0; rank < count; rank++) each({ memory, blocks, late, group, rank, slice });
      flush(late);
    };
    for (const together of slicedPhases(phases)) {
      if (together.length === 1) {
        run(together[0]!);
        continue;
      }
      const { variable, limit } = together[0]!.loops[0]!;
      const slices = limit
        ? Math.min(variable.count, evaluate(limit, new Map([[kernel.group, group]])))
        : variable.count;
      for (let slice = 0; slice < slices; slice++) for (const phase of together) run(phase, slice);
    }
  }
}
