/**
 * Lowers layouts to memory accesses: the loads or stores of the element at some coordinates.
 *
 * An element is one number in memory, or zero. Which one it is can depend on coordinates that are known at run time only, so an element
 * has several accesses, with guards of which at most one holds. A load adds up all accesses, because an access whose guard fails gives 0;
 * a store executes all of them.
 */
import {
  add,
  coefficient,
  div,
  type Guard,
  type Index,
  type IndexLike,
  type IntegerTable,
  index,
  lookup,
  mod,
  scale,
  simplified,
  sub,
  variable,
} from '../../ir/index.ts';
import { rangeWithin } from '../../ir/within.ts';
import type { Layout, Mapped, Order, Row, RowBound } from '../../layout/index.ts';

interface Signed {
  /** The number is negated when it is loaded or stored. */
  readonly negated?: true;
  /** The number is negated once more if this index is odd. */
  readonly parity?: Index;
  /** Condition under which the access takes place. */
  readonly guard: Guard;
}

/** One number in memory. */
export interface MemoryAccess extends Signed {
  readonly array: string;
  readonly index: Index;
}

/** A call of a function for an element. It takes place under the guard, even for a zero that has no memory. */
export interface CallAccess extends Signed {
  readonly by: string;
  /** The coordinates that the function asks for. */
  readonly at: readonly Index[];
  /** The accesses of the function's value: of one real, or of both parts of a complex number. */
  readonly parts: readonly (readonly Access[])[];
  /** The part of the function's result that this element is. */
  readonly part: number;
}

export type Access = MemoryAccess | CallAccess;

/**
 * The accesses of an element of a layout without functions and orders.
 * @param jumps whether parts of a concat that lie in one array may become one access, whose address jumps; otherwise each part has an access of its own
 */
export function memoryAccessesOf(layout: Layout, at: readonly IndexLike[], jumps = false): MemoryAccess[] {
  const all = accessesOf(layout, at, jumps ? 0 : at.length, () => {
    throw new RangeError('This layout has an order, which needs a table.');
  });
  return all.map((access) => {
    if ('array' in access) return access;
    throw new RangeError('This layout calls a function.');
  });
}

/** A coordinate, and whether it depends on batch coordinates only. An address may jump as such a coordinate grows. */
interface Coordinate {
  readonly index: Index;
  readonly jumps: boolean;
}

/** The conditions and signs collected on the path from the outermost node of a layout to memory. */
interface Path {
  readonly guard: Guard;
  readonly parity?: Index;
}

/**
 * The accesses of an element.
 * @param at coordinates of the element
 * @param batch number of the first batch dimension. Lanes never walk along batch dimensions, so parts of a concat along them may become one
 * access whose address jumps from part to part. A vector could not load across such a jump, so along other dimensions each part has an
 * access of its own.
 * @param table makes the table of integers of an order
 */
export function accessesOf(
  layout: Layout,
  at: readonly IndexLike[],
  batch: number,
  table: (order: Order) => IntegerTable,
): Access[] {
  const found: Access[] = [];
  const coordinates = at.map((value, d): Coordinate => ({ index: index(value), jumps: d >= batch }));
  new LayoutWalk(table, found).into(layout, coordinates, { guard: [] });
  return found;
}

class LayoutWalk {
  private readonly table: (order: Order) => IntegerTable;
  private readonly found: Access[];

  constructor(table: (order: Order) => IntegerTable, found: Access[]) {
    this.table = table;
    this.found = found;
  }

  into(of: Layout, at: readonly Coordinate[], path: Path): void {
    switch (of.kind) {
      case 'zeros':
        return;
      case 'memory':
        this.access({ array: of.array, index: memoryIndex(of, at), ...(of.negated ? { negated: true } : {}) }, path);
        return;
      case 'affine':
        return this.into(
          of.of,
          of.rows.map((row) => coordinateOf(row, at)),
          path,
        );
      case 'alternate': {
        // Arithmetic modulo 2 folds even terms and known signs.
        const parity = mod(add(rowIndex(of.row, at), path.parity ?? 0), 2);
        return this.into(of.of, at, { ...path, parity });
      }
      case 'mask':
        return this.into(of.of, at, {
          ...path,
          guard: [...path.guard, ...of.bounds.map((bound) => boundOf(bound, at))],
        });
      case 'gather': {
        const own = at[of.dimension]!;
        const entry = { index: lookup(this.table(of.order), own.index), jumps: own.jumps };
        return this.into(of.of, withCoordinates(at, of.dimension, entry), path);
      }
      case 'join': {
        const own = at[of.dimension]!;
        const by = of.of.shape[of.dimension + 1]!;
        const digits = [div(own.index, by), mod(own.index, by)].map((digit) => ({ index: digit, jumps: own.jumps }));
        return this.into(of.of, withCoordinates(at, of.dimension, ...digits), path);
      }
      case 'map':
        return this.call(of, at, path);
      case 'concat':
        return this.intoConcat(of, at, path);
    }
  }

  private intoConcat(of: Extract<Layout, { kind: 'concat' }>, at: readonly Coordinate[], path: Path): void {
    const place = onlyAddress(of, at);
    if (place) return this.access(place, path);
    const { dimension, parts } = of;
    const own = at[dimension]!;
    let begin = 0;
    for (const part of parts) {
      const end = begin + part.shape[dimension]!;
      const guard = simplified([...path.guard, { index: own.index, from: begin, to: end }]);
      const inPart = { index: sub(own.index, begin), jumps: own.jumps };
      if (guard) this.into(part, withCoordinates(at, dimension, inPart), { ...path, guard });
      begin = end;
    }
  }

  private call({ by, at: rows, of, part, negated }: Mapped, at: readonly Coordinate[], { guard, parity }: Path): void {
    const needed = neededOf(guard);
    if (!needed) return;
    const parts = Array.from({ length: part ? of.shape.at(-1)! : 1 }, (_, n) => {
      const inner: Access[] = [];
      const place = part ? [...at, { index: index(n), jumps: false }] : at;
      new LayoutWalk(this.table, inner).into(of, place, { guard: needed });
      return inner;
    });
    const which = part ? rowIndex(part, at) : index(0);
    if (which.terms.length > 0) throw new RangeError('Which part of a number is asked for has to be known.');
    const places = rows.map((row) => rowIndex(row, at));
    this.found.push({
      ...{ by, at: places, parts, part: which.constant },
      ...signOf(negated, parity),
      guard: needed,
    });
  }

  private access({ array, index, negated }: SignedPlace, { guard, parity }: Path): void {
    const needed = neededOf(guard);
    if (needed) this.found.push({ array, index, ...signOf(negated, parity), guard: needed });
  }
}

/** A place in memory, and its sign. */
type SignedPlace = Pick<MemoryAccess, 'array' | 'index' | 'negated'>;

/** The sign of an access; a parity that is known at plan time becomes part of `negated`. */
function signOf(negated: true | undefined, parity: Index | undefined): Pick<Signed, 'negated' | 'parity'> {
  const isKnown = parity?.terms.length === 0;
  const isOdd = isKnown && parity.constant === 1;
  return { ...((negated ?? false) !== isOdd ? { negated: true } : {}), ...(parity && !isKnown ? { parity } : {}) };
}

function withCoordinates(at: readonly Coordinate[], d: number, ...by: readonly Coordinate[]): Coordinate[] {
  return [...at.slice(0, d), ...by, ...at.slice(d + 1)];
}

function memoryIndex({ offset, strides }: Extract<Layout, { kind: 'memory' }>, at: readonly Coordinate[]): Index {
  let place = index(offset);
  for (let d = 0; d < strides.length; d++) if (strides[d] !== 0) place = add(place, scale(at[d]!.index, strides[d]!));
  return place;
}

function rowIndex({ first, steps }: Row, at: readonly Coordinate[]): Index {
  let sum = index(first);
  for (let d = 0; d < steps.length; d++) if (steps[d] !== 0) sum = add(sum, scale(at[d]!.index, steps[d]!));
  return sum;
}

function coordinateOf(row: Row, at: readonly Coordinate[]): Coordinate {
  return { index: rowIndex(row, at), jumps: row.steps.every((step, d) => step === 0 || at[d]!.jumps) };
}

function boundOf({ row, modulo, from, to, outside }: RowBound, at: readonly Coordinate[]): Guard[number] {
  const value = rowIndex(row, at);
  return { index: modulo === undefined ? value : mod(value, modulo), from, to, ...(outside ? { outside } : {}) };
}

/** The most elements of a part at each of which the address jumps: beyond that, an access of its own is faster. */
const MOST_JUMPS = 16;

/** The only place of an element, whose address may jump as coordinates grow; undefined where an element has several places or none. */
function onlyAddress(of: Layout, at: readonly Coordinate[]): SignedPlace | undefined {
  switch (of.kind) {
    case 'memory':
      return { array: of.array, index: memoryIndex(of, at), ...(of.negated ? { negated: true } : {}) };
    case 'affine':
      return onlyAddress(
        of.of,
        of.rows.map((row) => coordinateOf(row, at)),
      );
    case 'concat':
      return at[of.dimension]!.jumps ? jumpOver(of.parts, of.dimension, at) : undefined;
    default:
      return undefined;
  }
}

/** A part of a concat along one dimension: the place of its first element, and the step from one element to the next. */
interface Run {
  readonly first: SignedPlace;
  readonly step: number;
  readonly begin: number;
  readonly count: number;
}

/**
 * Parts of one array as a single place. The address follows the longest part, and jumps where another part begins; within a part of another step,
 * such as the repeated edge of a clamped array or a reversed one, it jumps at each element. Undefined where the parts are not such.
 */
function jumpOver(parts: readonly Layout[], d: number, at: readonly Coordinate[]): SignedPlace | undefined {
  const runs: Run[] = [];
  let end = 0;
  for (const part of parts) {
    const run = runOf(part, d, at, end);
    if (!run) return undefined;
    runs.push(run);
    end += run.count;
  }
  const main = runs.reduce((longest, run) => (run.count > longest.count ? run : longest));
  const { array, negated, index: base } = main.first;
  const own = at[d]!.index;
  let place = add(base, scale(sub(own, main.begin), main.step));
  let before = 0;
  for (const { first, step, begin, count } of runs) {
    if (first.array !== array || first.negated !== negated) return undefined;
    const apart = add(first.index, scale(base, -1), -main.step * (begin - main.begin));
    const jumps = step === main.step ? 1 : count;
    if (apart.terms.length > 0 || jumps > MOST_JUMPS) return undefined;
    for (let n = 0; n < jumps; n++) {
      const ahead = apart.constant + n * (step - main.step);
      const jump = begin + n === 0 ? index(1) : reached(own, begin + n, end);
      place = add(place, scale(jump, ahead - before));
      before = ahead;
    }
  }
  return { array, index: place, ...(negated ? { negated } : {}) };
}

function runOf(part: Layout, d: number, at: readonly Coordinate[], begin: number): Run | undefined {
  const count = part.shape[d]!;
  const along = variable('along', Math.max(2, count));
  const placeAt = (own: IndexLike) =>
    onlyAddress(part, withCoordinates(at, d, { index: index(own), jumps: at[d]!.jumps }));
  const first = placeAt(0);
  const other = first && placeAt(along);
  const step = other && coefficient(other.index, along);
  return first && step !== undefined ? { first, step, begin, count } : undefined;
}

/** A guard without the bounds that its other bounds imply; undefined if it never holds. */
function neededOf(guard: Guard): Guard | undefined {
  const bounds = simplified(guard);
  if (!bounds || bounds.length < 2) return bounds;
  let kept = [...bounds];
  for (const bound of bounds) {
    const others = kept.filter((other) => other !== bound);
    const [low, high] = rangeWithin(bound.index, others);
    if (low > high) return undefined;
    const { from, to, outside } = bound;
    if (outside ? high < from || low >= to : low >= from && high < to) kept = others;
    else if (outside ? low >= from && high < to : high < from || low >= to) return undefined;
  }
  return kept;
}

/** 1 if an index below `count` is at least `number`, otherwise 0, as a quotient by a power of two. */
function reached(at: IndexLike, number: number, count: number): Index {
  const most = 2 ** Math.ceil(Math.log2(Math.max(number, count - number)));
  return div(add(at, most - number), most);
}
