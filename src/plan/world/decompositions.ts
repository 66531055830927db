/**
 * Decompositions: the order in which the axes are transformed, and how the tensor is shared out meanwhile. In every stage, ranks hold some axes
 * whole and transform these; between two stages is a reshape.
 */
import { FftError } from '../../problem/index.ts';
import { type Cut, type Grid, type SharedTensor, sharedShape, type WorldProblem } from '../../problem/world/index.ts';

export interface Stage {
  /** The sharing of the tensor among the ranks. */
  readonly grid: Grid;
  /** Axes that are whole on each rank, and transformed. */
  readonly axes: readonly number[];
}

export interface Decomposition {
  /**
   * The kind of the decomposition. `none`: batches are shared out, or one rank has everything; `slab`: one axis is cut at a time; `pencils`:
   * two are.
   */
  readonly kind: 'none' | 'slab' | 'pencils';
  /** The numbers of ranks along the two cuts of pencils; for slabs [ranks, 1]. */
  readonly ranks: readonly [rows: number, columns: number];
  /** The stages in the order of the forward direction. */
  readonly stages: readonly Stage[];
}

/** The tensor at the beginning or the end of a stage. */
export function stageTensor({ whole }: WorldProblem, { grid, axes }: Stage, end: 'before' | 'after'): SharedTensor {
  // The stage that transforms the first axis of reals reads reals; ranks never share out that axis before it.
  const isReal = end === 'before' && whole.transform[0] === 'r2c' && axes.includes(0);
  const shape = sharedShape(whole, isReal ? 'input' : 'output');
  return { shape, elements: isReal ? 'real' : 'complex', sharing: { by: 'grid', grid } };
}

/**
 * All decompositions that a problem allows.
 * @throws FftError `too-few-points` where the decomposition that was asked for leaves ranks without points; `unsupported-feature` where
 * there is no such decomposition of so few axes
 */
export function decompositionsOf(problem: WorldProblem): Decomposition[] {
  const { decomposition: requested, ranks } = problem;
  const all = [
    ...undivided(problem),
    ...slabs(problem),
    ...rowsAndColumns(ranks).flatMap((pair) => pencils(problem, pair)),
  ];
  // One rank has nothing to share, whatever was asked for.
  if (requested === 'auto' || ranks === 1) return all;
  const pair = requested === 'slab' ? [ranks, 1] : requested[0] === 1 ? [requested[1], 1] : requested;
  const kind = pair[1] === 1 ? 'slab' : 'pencils';
  const fit = all.filter((one) => one.kind === kind && one.ranks[0] === pair[0] && one.ranks[1] === pair[1]);
  const word = kind === 'slab' ? "'slab'" : `[${pair.join(', ')}]`;
  if (fit.length === 0) {
    const needed = kind === 'slab' ? 2 : 3;
    const message = `decomposition ${word} takes ${needed} axes; size has ${problem.whole.size.length}. Use 'auto'.`;
    throw new FftError('unsupported-feature', message, { path: 'decomposition' });
  }
  const filled = fit.filter(({ stages }) =>
    stages.every((stage) => stage.grid.every((cut) => hasPoints(problem, cut))),
  );
  if (filled.length > 0) return filled;
  const message = `decomposition ${word} leaves ranks without points: the axes of [${problem.whole.size.join(', ')}] are too short to be cut so. Use 'auto', or fewer ranks.`;
  throw new FftError('too-few-points', message, { path: 'decomposition' });
}

function hasPoints({ whole }: WorldProblem, { dimension, parts }: Cut): boolean {
  return sharedShape(whole, 'output')[dimension]! >= parts;
}

/** Decompositions without an exchange: ranks share out batches, or one rank computes a single transform. */
function undivided({ whole, ranks }: WorldProblem): Decomposition[] {
  const axes = [...whole.size.keys()];
  const parts = Math.min(ranks, whole.batches);
  const grid = parts > 1 ? [{ dimension: axes.length, parts }] : [];
  return [{ kind: 'none', ranks: [parts, 1], stages: [{ grid, axes }] }];
}

/** Axes that may be cut before the first exchange. The first axis of reals may not, as its lines are transformed first. */
function mayBeCutFirst({ whole }: WorldProblem): number[] {
  return [...whole.size.keys()].filter((axis) => axis > 0 || whole.transform[0] !== 'r2c');
}

function slabs(problem: WorldProblem): Decomposition[] {
  const { ranks, whole } = problem;
  const axes = [...whole.size.keys()];
  if (ranks === 1) return [];
  return mayBeCutFirst(problem).flatMap((first) =>
    axes
      .filter((second) => second !== first)
      .map((second): Decomposition => {
        const others = axes.filter((axis) => axis !== first);
        const stages = [
          { grid: [{ dimension: first, parts: ranks }], axes: others },
          { grid: [{ dimension: second, parts: ranks }], axes: [first] },
        ];
        return { kind: 'slab', ranks: [ranks, 1], stages };
      }),
  );
}

function rowsAndColumns(ranks: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let rows = 2; rows < ranks; rows++) if (ranks % rows === 0) pairs.push([rows, ranks / rows]);
  return pairs;
}

/**
 * Decompositions that cut two axes. One of them is gathered while a third axis is cut; then the other one is gathered while a fourth axis, or
 * the first one, is cut.
 */
function pencils(problem: WorldProblem, [rows, columns]: readonly [number, number]): Decomposition[] {
  const axes = [...problem.whole.size.keys()];
  const made: Decomposition[] = [];
  for (const a of mayBeCutFirst(problem)) {
    for (const b of mayBeCutFirst(problem)) {
      if (a === b) continue;
      for (const c of axes) {
        if (c === a || c === b) continue;
        for (const d of axes) {
          if (d === b || d === c) continue;
          const cut = (row: number, column: number): Grid => [
            { dimension: row, parts: rows },
            { dimension: column, parts: columns },
          ];
          const stages = [
            { grid: cut(a, b), axes: axes.filter((axis) => axis !== a && axis !== b) },
            { grid: cut(c, b), axes: [a] },
            { grid: cut(c, d), axes: [b] },
          ];
          made.push({ kind: 'pencils', ranks: [rows, columns], stages });
        }
      }
    }
  }
  return made;
}
