/** Runs: pieces of one dimension of a layout, with one stride each. Fields are set only if they surely hold. */
import type { Affine, Concat, Layout, Masked } from '../layout.ts';
import { dimensionsIn } from '../normal-form/rows.ts';

/** A range of indices of a dimension with common properties, whatever the other coordinates are. */
export interface Run {
  readonly from: number;
  /** The first index after it. */
  readonly to: number;
  /** All elements are zeros, for which no function is called. */
  readonly zero?: true;
  /** The stride in reals between neighbouring elements in memory; missing if it is unknown, or if they lie in different arrays. */
  readonly step?: number;
  /** For given other coordinates, either all elements of the run are in memory or none is. */
  readonly whole?: true;
}

/** The runs of a joined dimension are listed up to this many; above, they are unknown. */
const MOST_RUNS = 64;

/** The runs of a dimension, in order; together they cover it. */
export function runs(of: Layout, d: number): readonly Run[] {
  const count = of.shape[d]!;
  if (count === 0) return [];
  switch (of.kind) {
    case 'zeros':
      return [{ from: 0, to: count, zero: true }];
    case 'memory':
      return [{ from: 0, to: count, step: of.strides[d]!, whole: true }];
    case 'alternate':
      return runs(of.of, d);
    case 'map':
      // A function may give any number for a zero.
      return runs(of.of, d).map((run) => (run.zero ? { from: run.from, to: run.to } : run));
    case 'mask':
      return runsOfMask(of, d);
    case 'concat':
      return mergedZeros(of.dimension === d ? runsOfParts(of) : commonRuns(of, d));
    case 'gather':
      return of.dimension === d ? unknownRuns(count) : runs(of.of, d);
    case 'join': {
      if (d !== of.dimension) return runs(of.of, d < of.dimension ? d : d + 1);
      const inner = runs(of.of, d + 1);
      const [a, b] = [of.of.shape[d]!, of.of.shape[d + 1]!];
      if (a * inner.length > MOST_RUNS)
        return inner.every(({ zero }) => zero) ? [{ from: 0, to: count, zero: true }] : unknownRuns(count);
      return mergedZeros(Array.from({ length: a }, (_, n) => shiftedRuns(inner, n * b)).flat());
    }
    case 'affine':
      return runsOfAffine(of, d);
  }
}

function unknownRuns(count: number): readonly Run[] {
  return [{ from: 0, to: count }];
}

function shiftedRuns(all: readonly Run[], by: number): readonly Run[] {
  return by === 0 ? all : all.map((run) => ({ ...run, from: run.from + by, to: run.to + by }));
}

function mergedZeros(all: readonly Run[]): readonly Run[] {
  const merged: Run[] = [];
  for (const run of all) {
    const last = merged.at(-1);
    if (last?.zero && run.zero) merged[merged.length - 1] = { ...last, to: run.to };
    else merged.push(run);
  }
  return merged;
}

/** The runs of a concat along its dimension: the runs of its parts, one part after another. */
function runsOfParts({ dimension, parts }: Concat): Run[] {
  let begin = 0;
  return parts.flatMap((part) => {
    const start = begin;
    begin += part.shape[dimension]!;
    return shiftedRuns(runs(part, dimension), start);
  });
}

/** The runs of a concat along another dimension: the properties that all of its parts share. */
function commonRuns({ parts }: Concat, d: number): Run[] {
  const all = parts.map((part) => runs(part, d));
  const borders = [...new Set(all.flat().map(({ to }) => to))].sort((a, b) => a - b);
  let from = 0;
  return borders.map((to): Run => {
    const there = all.map((part) => part.find((run) => run.to > from)!).filter(({ zero }) => !zero);
    const begin = from;
    from = to;
    if (there.length === 0) return { from: begin, to, zero: true };
    const { step } = there[0]!;
    const sameStep = step !== undefined && there.every((run) => run.step === step);
    return {
      from: begin,
      to,
      ...(sameStep ? { step } : {}),
      ...(there.every(({ whole }) => whole) ? { whole: true as const } : {}),
    };
  });
}

/**
 * The runs of a mask. A bound `outside` on dimension `d` alone cuts a hole; a bound on other dimensions masks whole lines; any other bound
 * may mask any element.
 */
function runsOfMask({ bounds, of }: Masked, d: number): readonly Run[] {
  let all = runs(of, d);
  for (const { row, modulo, from, to, outside } of bounds) {
    const along = dimensionsIn(row);
    if (!along.includes(d)) continue;
    if (along.length > 1 || modulo !== undefined || !outside) {
      all = all.map(({ whole: _, ...run }) => run);
      continue;
    }
    // In normal form, the row of a bound on one dimension has step 1.
    all = all.flatMap((run): Run[] => {
      const [low, high] = [Math.max(run.from, from), Math.min(run.to, to)];
      if (low >= high) return [run];
      const pieces: Run[] = [
        { ...run, to: low },
        { from: low, to: high, zero: true },
        { ...run, from: high },
      ];
      return pieces.filter((piece) => piece.from < piece.to);
    });
  }
  return mergedZeros(all);
}

function runsOfAffine({ shape, rows, of }: Affine, d: number): readonly Run[] {
  const count = shape[d]!;
  const along = rows.flatMap(({ steps }, k) => (steps[d] === 0 ? [] : [k]));
  if (along.length === 0) return [{ from: 0, to: count, step: 0, whole: true }];
  const [k] = along as [number];
  if (along.length > 1) return unknownRuns(count);
  const { first, steps } = rows[k]!;
  const inner = runs(of, k);
  const step = steps[d]!;
  const scaled = (run: Run): Omit<Run, 'from' | 'to'> => ({
    ...(run.zero ? { zero: true as const } : {}),
    ...(run.step === undefined ? {} : { step: run.step * step }),
    ...(run.whole ? { whole: true as const } : {}),
  });
  if (inner.length === 1) return [{ from: 0, to: count, ...scaled(inner[0]!) }];
  if (dimensionsIn(rows[k]!).length > 1) return unknownRuns(count);
  const found = inner.map((run): Run => {
    const [from, to] =
      step > 0
        ? [Math.ceil((run.from - first) / step), Math.ceil((run.to - first) / step)]
        : [Math.floor((first - run.to) / -step) + 1, Math.floor((first - run.from) / -step) + 1];
    return { from: Math.max(0, from), to: Math.min(count, to), ...scaled(run) };
  });
  const there = found.filter(({ from, to }) => from < to);
  return mergedZeros(step > 0 ? there : there.reverse());
}

/** The stride along a dimension between elements that are in memory; undefined if it is not the same everywhere. */
export function strideInRuns(of: Layout, d: number): number | undefined {
  const there = runs(of, d).filter(({ zero }) => !zero);
  return there.length === 1 ? there[0]!.step : undefined;
}
