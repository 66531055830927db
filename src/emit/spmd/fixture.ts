/** A fixture for tests: random kernels with every feature but tables, and ways to place their globals in memory. */
import {
  type ArrayRef,
  add,
  blocked,
  type Complex,
  type ComplexView,
  coordinates,
  div,
  type ElementType,
  Expressions,
  type Format,
  formatView,
  type Index,
  interleaved,
  type Kernel,
  type Loop,
  mod,
  type Phase,
  planar,
  scale,
  stackedPlanes,
  strided,
  sub,
  type Var,
  variable,
} from '../../ir/index.ts';
import type { Arrangement, Piece } from './tree/program.ts';

type AnyNumbers = Float32Array | Float64Array | Uint16Array | Uint32Array;
/** Uniform integers, both ends included. */
type Pick = (low: number, high: number) => number;

export interface Sample {
  readonly kernel: Kernel;
  /** The number of elements of each global. */
  readonly lengths: Readonly<Record<string, number>>;
}

/**
 * A kernel that permutes numbers, combines them in place and writes them permuted again. It has limits known only to a group, loops in any
 * order, quotients of negative numbers, and repeated loads of input and output.
 * @param type of the arrays; halves are computed in single precision
 */
export function sampleKernel(pick: Pick, type: ElementType | 'f16'): Sample {
  const tile = pick(1, 4);
  const batch = pick(1, 9);
  const counts = [pick(1, 6), pick(1, 9)];
  const points = counts[0]! * counts[1]!;
  const group = variable('group', Math.ceil(batch / tile));
  const first = scale(group, tile);
  const limit = batch % tile === 0 ? undefined : sub(batch, first);
  const globals: ArrayRef[] = [];
  const lengths: Record<string, number> = {};
  const declare = (name: string, length: number): ArrayRef => {
    const array: ArrayRef = { name, space: 'global', type };
    globals.push(array);
    lengths[name] = length;
    return array;
  };
  const side = (name: string, planes: boolean): ComplexView => {
    const all = points * batch + 3;
    const format = planes
      ? planar(declare(`${name}.re`, all), declare(`${name}.im`, all))
      : interleaved(declare(name, 2 * all));
    return formatView(format, ([n, c]) => add(n!, scale(add(first, c!), points), 3));
  };
  const input = side('input', pick(0, 1) === 0);
  const output = side('output', pick(0, 1) === 0);
  const length = 8 * Math.ceil((2 * points * tile) / 8);
  const shared: ArrayRef = { name: 'shared', space: 'shared', type, length };
  const formats: Format[] = [interleaved(shared), stackedPlanes(shared, length / 2), blocked(shared, 4)];
  const inside = strided(formats[pick(0, 2)]!, [1, points]);
  const phases = samplePhases(pick, { counts, tile, limit, input, output, inside });
  const kernel: Kernel = {
    name: 'sample',
    precision: type === 'f16' ? 'f32' : type,
    group,
    threads: pick(1, 16),
    globals,
    tables: [],
    shared: [shared],
    phases,
  };
  return { kernel, lengths };
}

/** The inputs of the phases of a kernel. */
interface PhaseInputs {
  /** The digits of a point, the number of transforms in a tile, and their number in a partial tile. */
  readonly counts: readonly number[];
  readonly tile: number;
  readonly limit: Index | undefined;
  /** Views at coordinates [point, transform]. */
  readonly input: ComplexView;
  readonly output: ComplexView;
  readonly inside: ComplexView;
}

function samplePhases(pick: Pick, { counts, tile, limit, input, output, inside }: PhaseInputs): Phase[] {
  const points = counts[0]! * counts[1]!;
  const shift = pick(0, points - 1);
  /** The loops over the digits of a point and over the transforms, in random order. */
  const nest = (limited: boolean): { loops: Loop[]; lanes: Var; digits: Var[]; c: Var } => {
    const digits = counts.map((count, d) => variable(`d${d}`, count));
    const c = variable('c', tile);
    const column: Loop = { variable: c, ...(limited && limit ? { limit } : {}) };
    const [a, b] = digits as [Var, Var];
    const orders: Loop[][] = [
      [{ variable: a }, { variable: b }, column],
      [column, { variable: b }, { variable: a }],
      [{ variable: b }, column, { variable: a }],
    ];
    const loops = orders[pick(0, 2)]!;
    return { loops, lanes: loops[pick(0, 2)]!.variable, digits, c };
  };
  const flat = ([a, b]: Var[]): Index => add(a!, scale(b!, counts[0]!));
  const reversed = ([a, b]: Var[]): Index => add(scale(a!, counts[1]!), b!);
  const phase = (
    limited: boolean,
    body: (x: Expressions, digits: Var[], c: Var) => [view: ComplexView, at: Index, value: Complex],
    more: Partial<Phase> = {},
  ): Phase => {
    const x = new Expressions();
    const { loops, lanes, digits, c } = nest(limited);
    const [view, at, value] = body(x, digits, c);
    return { loops, lanes, stores: view.store(x, [at, c], value), repeatable: false, exchange: 'group', ...more };
  };
  const number = (x: Expressions) => x.constant(pick(-999, 999) / 1000);
  return [
    phase(true, (x, digits, c) => [inside, reversed(digits), input.load(x, [flat(digits), c])]),
    phase(
      pick(0, 1) === 0,
      (x, digits, c) => {
        const at = flat(digits);
        // A distance that becomes negative, and its quotient.
        const rotated = mod(sub(at, shift), points);
        const under = add(div(sub(at, shift), points), 1);
        const value = x.cadd(inside.load(x, [at, c]), x.cscale(inside.load(x, [rotated, c]), number(x)));
        const weight = inside.load(x, [scale(under, points - 1), c]);
        return [inside, sub(points - 1, at), x.cadd(x.quarter(value), x.cscale(weight, number(x)))];
      },
      { readsFirst: true },
    ),
    phase(true, (x, digits, c) => {
      const [outer, inner] = coordinates(flat(digits), [...counts].reverse());
      const value = inside.load(x, [add(scale(outer!, counts[0]!), inner!), c]);
      return [output, flat(digits), x.csub(value, x.cscale(input.load(x, [reversed(digits), c]), number(x)))];
    }),
    phase(true, (x, digits, c) => [inside, flat(digits), output.load(x, [reversed(digits), c])]),
    phase(true, (x, digits, c) => [inside, reversed(digits), inside.load(x, [flat(digits), c])], { readsFirst: true }),
    phase(true, (x, digits, c) => [output, reversed(digits), output.load(x, [flat(digits), c])], { readsFirst: true }),
    phase(true, (x, digits, c) => [output, flat(digits), x.cscale(inside.load(x, [flat(digits), c]), number(x))]),
  ];
}

/** The placement of the globals of a kernel. */
export interface Lay {
  readonly arrangement?: Arrangement;
  /** The element of its memory at which each global begins. */
  readonly starts: readonly number[];
  /** The number of elements in each binding. */
  readonly sizes: readonly number[];
}

/** Places each global in its own memory, all globals in one memory, or each global in pieces. @param offsets are given at launch */
export function lay(pick: Pick, { kernel, lengths }: Sample, kind: 'own' | 'one' | 'pieces', offsets: boolean): Lay {
  const totals = kernel.globals.map(({ name }) => lengths[name]!);
  const gap = () => (offsets ? 2 * pick(0, 4) : 0);
  if (kind === 'own' && !offsets) return { starts: totals.map(() => 0), sizes: totals };
  if (kind === 'one') {
    const starts: number[] = [];
    let size = 0;
    for (const total of totals) {
      size += gap();
      starts.push(size);
      size += 2 * Math.ceil(total / 2);
    }
    const globals = totals.map(() => ({ pieces: [{ binding: 0 }] }));
    return { arrangement: { globals, bindings: 1, offsets: true }, starts, sizes: [size] };
  }
  const sizes: number[] = [];
  const starts = totals.map(gap);
  const globals = totals.map((total, n) => {
    const pieces: Piece[] = [];
    // WebGPU guarantees eight bindings.
    const free = () => 8 - (totals.length - n) - sizes.length;
    let left = total + starts[n]!;
    while (kind === 'pieces' && left > 4 && pieces.length < 3 && free() > 0) {
      const elements = 2 * pick(1, Math.floor(left / 2) - 1);
      pieces.push({ binding: sizes.push(elements) - 1, elements });
      left -= elements;
    }
    pieces.push({ binding: sizes.push(left) - 1 });
    return { pieces };
  });
  return { arrangement: { globals, bindings: sizes.length, offsets }, starts, sizes };
}

/** The memory of each binding with the globals in it, and a function that reads them back. */
export function placeGlobals(
  kernel: Kernel,
  { arrangement, starts, sizes }: Lay,
  memory: Readonly<Record<string, AnyNumbers>>,
): { readonly bindings: AnyNumbers[]; collect(): Record<string, AnyNumbers> } {
  const type = { f16: Uint16Array, f32: Float32Array, f64: Float64Array, dd: Float64Array, u32: Uint32Array }[
    kernel.globals[0]!.type
  ];
  const bindings = sizes.map((size) => new type(size).fill(7));
  const visit = (n: number, at: (binding: AnyNumbers, place: number, element: number) => void): void => {
    const pieces: readonly Piece[] = arrangement ? arrangement.globals[n]!.pieces : [{ binding: n }];
    for (let element = 0; element < memory[kernel.globals[n]!.name]!.length; element++) {
      let where = element + starts[n]!;
      const piece = pieces.find(({ elements }) => {
        if (elements === undefined || where < elements) return true;
        where -= elements;
        return false;
      });
      at(bindings[piece!.binding]!, where, element);
    }
  };
  kernel.globals.forEach(({ name }, n) => {
    visit(n, (binding, at, element) => {
      binding[at] = memory[name]![element]!;
    });
  });
  return {
    bindings,
    collect() {
      return Object.fromEntries(
        kernel.globals.map(({ name }, n) => {
          const values = new type(memory[name]!.length);
          visit(n, (binding, at, element) => {
            values[element] = binding[at]!;
          });
          return [name, values];
        }),
      );
    },
  };
}
