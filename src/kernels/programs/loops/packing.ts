/**
 * Matrices packed for vectors. A tile reads a column of vectors of a matrix row by row, and where rows lie far apart each row is on a page of its own
 * and many rows compete for the same cache sets. A kernel before it copies such a matrix into panels that are one vector wide, which are read from
 * front to back.
 */
import {
  type ArrayRef,
  add,
  dependencesOf,
  div,
  Expressions,
  type FoldNode,
  type Index,
  index,
  type LoadNode,
  mod,
  type Real,
  reachable,
  type Store,
  Substitution,
  scale,
  type Var,
  variable,
} from '../../../ir/index.ts';

/** A copy of a matrix in panels, and the kernel that makes it. */
export interface Packing {
  readonly source: ArrayRef;
  readonly target: ArrayRef;
  /** Reals in the copy. */
  readonly length: number;
  readonly loops: readonly Var[];
  readonly stores: readonly Store[];
}

/** The least row pitch, in reals, at which a matrix is packed, and the least number of times that each of its numbers is read. */
const LEAST_STEP = 384;
const LEAST_READS = 32;

/** A matrix that a loop walks down, row by row, with lanes along the rows. */
interface Walked {
  readonly load: LoadNode;
  readonly over: Var;
  readonly step: number;
}

/**
 * The same stores with packed matrices.
 * @param reads times that each number of a matrix is read
 * @param name of a packed matrix that is to be made
 */
export function packedStores(
  stores: readonly Store[],
  along: Var,
  width: number,
  reads: number,
  name: () => string,
): { readonly stores: readonly Store[]; readonly packings: readonly Packing[] } {
  const walked = reads < LEAST_READS ? [] : walkedIn(stores, along);
  if (walked.length === 0) return { stores, packings: [] };
  const x = new Expressions();
  const packings = new Map<string, Packing>();
  const packedLoad = ({ load, over, step }: Walked): Real => {
    const { constant } = load.index;
    const key = `${load.array.name} ${constant} ${step} ${over.id}`;
    let packing = packings.get(key);
    if (!packing) packings.set(key, (packing = packingOf({ load, over, step }, along, width, name())));
    const panel = scale(div(index(along), width), over.count * width);
    return x.load(packing.target, add(panel, scale(over, width), mod(index(along), width)));
  };
  const nowhere = new Substitution(new Map());
  const made = new Map<Real, Real>();
  const make = (node: Real): Real => {
    let value = made.get(node);
    if (!value) {
      const own = walked.find(({ load }) => load === node);
      made.set(node, (value = own ? packedLoad(own) : x.rebuilt(node, make, nowhere)));
    }
    return value;
  };
  return { stores: stores.map((store) => ({ ...store, value: make(store.value) })), packings: [...packings.values()] };
}

function walkedIn(stores: readonly Store[], along: Var): Walked[] {
  const nodes = reachable(stores.map(({ value }) => value));
  const dependences = dependencesOf(nodes);
  const overs = nodes.filter((node): node is FoldNode => node.op === 'fold').map(({ loop }) => loop.over);
  return nodes.flatMap((node): Walked[] => {
    if (node.op !== 'load' || node.guard || node.array.space !== 'global' || !dependences.has(node)) return [];
    const { terms } = node.index;
    const own = terms.find(({ atom }) => atom === along);
    const other = terms.find(({ atom }) => overs.includes(atom as Var));
    if (terms.length !== 2 || own?.factor !== 1 || !other || other.factor < LEAST_STEP) return [];
    return [{ load: node, over: other.atom as Var, step: other.factor }];
  });
}

function packingOf({ load, over, step }: Walked, along: Var, width: number, name: string): Packing {
  const panels = Math.ceil(along.count / width);
  const [panel, row, lane] = [variable('panel', panels), variable('row', over.count), variable('column', width)];
  const column = add(scale(panel, width), lane);
  const guard = along.count % width === 0 ? [] : [{ index: column, from: 0, to: along.count }];
  const target: ArrayRef = { name, space: 'global', type: load.array.type };
  const value = new Expressions().load(load.array, add(column, scale(row, step), load.index.constant), guard);
  const place: Index = add(scale(panel, over.count * width), scale(row, width), lane);
  return {
    source: load.array,
    target: { ...target, operand: true },
    length: panels * width * over.count,
    loops: [panel, row, lane],
    stores: [{ array: target, index: place, value }],
  };
}
