/**
 * Register tiles: an item computes several outputs that read the same numbers, so that each number is loaded once for all of them. In a
 * matrix product, outputs of one row share a row of the left matrix, and outputs of one column share a column of the right matrix. In a
 * stencil over an image, outputs below one another share rows of their windows.
 */
import {
  add,
  dependencesOf,
  dependsOn,
  div,
  type Index,
  index,
  indexKey,
  type LoadNode,
  type Real,
  reachable,
  type Store,
  Substitution,
  scale,
  sub,
  type Var,
  variable,
} from '../../../ir/index.ts';
import type { LoopProfile } from '../expressions/loop-profile.ts';

/** The size of a register tile: outputs of an item along the loop of the lanes and along another loop. */
export interface RegisterTile {
  readonly along: number;
  /** The other loop; missing where no second loop shares operands. */
  readonly row?: Var;
  readonly rows: number;
  /** Whether outputs of neighbouring rows read overlapping windows. */
  readonly overlaps: boolean;
}

/** The most reals that the loops of an item carry, and the most operations in all its outputs. */
const MOST_SUMS = { vector: 8, threads: 32 } as const;
const MOST_OPERATIONS = 2048;
/** The least number of items along a loop at which the last item may overlap the one before and compute some outputs again. */
const LEAST_ITEMS = 8;
/** Items that keep a multiprocessor busy, in vectors or threads. */
const BUSY_ITEMS = { vector: 1, threads: 512 } as const;
/** Tile shapes as outputs along the two loops, largest first; lanes of vectors read numbers that lie side by side, so these tiles are wide. */
const SHAPES = {
  vector: [4, 2, 1].flatMap((rows) => [2, 1].map((along) => ({ rows, along }))),
  threads: [8, 7, 6, 5, 4, 3, 2, 1].flatMap((rows) => [4, 3, 2, 1].map((along) => ({ rows, along }))),
} as const;

interface TiledLoops {
  readonly stores: readonly Store[];
  readonly along: Var;
  /** The remaining loops, outermost first. */
  readonly others: readonly Var[];
}

/** The largest tile that divides the loops and leaves work for all multiprocessors; undefined where outputs share no operands. */
export function tileOf({ stores, along, others }: TiledLoops, profile: LoopProfile): RegisterTile | undefined {
  const { lockstep, lanes, multiprocessors } = profile;
  const nodes = reachable(stores.map(({ value }) => value));
  const dependences = dependencesOf(nodes);
  const loads = nodes.filter((node): node is LoadNode => node.op === 'load' && dependences.has(node));
  const isShared = (loop: Var) =>
    loads.some(({ index }) => !dependsOn(index, loop)) && loads.some(({ index }) => dependsOn(index, loop));
  const shared = others.findLast((loop) => loop.count > 1 && isShared(loop));
  const row = shared ?? others.findLast((loop) => loop.count > 1 && readsNextOf(loop, nodes));
  const results = others.reduce((product, { count }) => product * count, along.count);
  const vectors = lockstep === 'vector' ? lanes : 1;
  const fits = ({ rows, along: columns }: { readonly rows: number; readonly along: number }) => {
    const outputs = rows * columns;
    if (outputs * stores.length > MOST_SUMS[lockstep] || outputs * nodes.length > MOST_OPERATIONS) return false;
    if (rows > 1 && (!row || (row.count % rows !== 0 && row.count < LEAST_ITEMS * rows))) return false;
    // Lanes of vectors take their outputs side by side, and fewer outputs at the end of the loop.
    const step = lockstep === 'vector' ? 1 : columns;
    if (columns > 1 && (!isShared(along) || along.count % step !== 0 || along.count < columns * lanes)) return false;
    return results >= outputs * vectors * BUSY_ITEMS[lockstep] * multiprocessors;
  };
  const found = SHAPES[lockstep].filter(fits).reduce<RegisterTile | undefined>((best, { rows, along: columns }) => {
    if (best && best.rows * best.along >= rows * columns) return best;
    return { along: columns, rows, ...(row ? { row } : {}), overlaps: row !== shared };
  }, undefined);
  return found && found.rows * found.along > 1 ? found : undefined;
}

/** Whether outputs read numbers that their neighbours along a loop also read, as overlapping windows do. */
function readsNextOf(loop: Var, nodes: readonly Real[]): boolean {
  const loads = nodes.filter((node): node is LoadNode => node.op === 'load' && dependsOn(node.index, loop));
  const keyOf = ({ array }: LoadNode, at: Index) => `${array.name} ${indexKey(at)}`;
  const read = new Set(loads.map((load) => keyOf(load, load.index)));
  const next = new Substitution(new Map([[loop, add(loop, 1)]]));
  return loads.some((load) => read.has(keyOf(load, next.apply(load.index))));
}

/** The loops of a tiled nest, and the values of the original loops in each output of an item. */
export interface TileCopies {
  readonly along: Var;
  readonly others: readonly Var[];
  readonly copies: readonly ReadonlyMap<Var, Index>[];
}

/** @param isSideBySide whether lanes of vectors take the outputs along their loop side by side, so that these are no copies */
export function tileCopies({ along, others }: TiledLoops, tile: RegisterTile, isSideBySide: boolean): TileCopies {
  const columns = isSideBySide ? 1 : tile.along;
  const ownAlong = columns > 1 ? variable(along.name, along.count / columns) : along;
  const items = tile.row ? Math.ceil(tile.row.count / tile.rows) : 1;
  const ownRow = tile.row && tile.rows > 1 ? variable(tile.row.name, items) : tile.row;
  const copies: Map<Var, Index>[] = [];
  for (let r = 0; r < tile.rows; r++) {
    for (let c = 0; c < columns; c++) {
      const at = new Map<Var, Index>();
      // Neighbouring threads read neighbouring numbers in each column.
      if (ownAlong !== along) at.set(along, add(ownAlong, c * ownAlong.count));
      if (tile.row && ownRow && ownRow !== tile.row) at.set(tile.row, add(firstRowOf(ownRow, tile.row, tile.rows), r));
      copies.push(at);
    }
  }
  const own = others.map((loop) => (loop === tile.row ? ownRow! : loop));
  // Rows are the innermost loop of a group, which shares their operands.
  return { along: ownAlong, others: [...own.filter((loop) => loop !== ownRow), ...(ownRow ? [ownRow] : [])], copies };
}

/** The first row of an item. Where items do not divide the rows evenly, the last item ends with the last row and overlaps the one before. */
function firstRowOf(item: Var, row: Var, rows: number): Index {
  const shared = item.count * rows - row.count;
  return shared === 0 ? scale(item, rows) : sub(scale(item, rows), scale(div(index(item), item.count - 1), shared));
}
