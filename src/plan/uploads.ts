/**
 * One axis: in one upload, or by the four-step algorithm in several (VkFFT guide 2.5.2).
 *
 * With N = n₁·n₂, input index i₁·n₂ + i₂ and output index k₁ + n₁·k₂: transforms of length n₁ over i₁ for every i₂,
 * twiddles e^{−2πi·i₂·k₁/N}, transforms of length n₂ over i₂ for every k₁. The reordering is the store of the last upload,
 * or of the first of two. A length that is still too long for one upload is split again.
 */
import { divisors, primeFactors } from '../numeric/primes.ts';
import { show } from '../problem/errors.ts';
import { type Dimension, type LeafNode, leafNode, type Place, type PlanNode } from './node.ts';
import { dividingTile } from './tiling.ts';

/**
 * What one upload of a length costs per point.
 * @param columns that lie side by side: those it reads and writes, or in the last upload, which reads whole transforms,
 * those it writes.
 */
export type UploadCost = (length: number, columns: number, last: boolean) => number;

export interface AxisQuestion {
  /** Dimension of the tensor: one more than the axis of the problem. */
  readonly of: number;
  readonly length: number;
  /** Every other dimension of the tensor that has more than one element, fastest first. */
  readonly others: readonly Dimension[];
  readonly title: string;
  readonly tensor: readonly number[];
  /** Memory does not run along the axis. */
  readonly strided: boolean;
  /** Longest transform that fits one upload, alone and as one of several columns. */
  readonly capacity: { readonly whole: number; readonly columns: number };
  /** Whether a longer one fits several blocks together, alone or as one of several columns, whole or as a part. */
  readonly fusable: (length: number, columns: boolean, split: boolean) => boolean;
  /** Uploads at least, as far as the length has factors; default: as few as fit. */
  readonly uploads?: number;
  /** Neighbouring columns that one group had best take: splits of which it takes all without a tail are preferred. */
  readonly tile: number;
  /** Neighbouring columns of which a group takes multiples. */
  readonly grain: number;
  readonly cost: UploadCost;
  /** Take one more upload than needed where that costs less. */
  readonly weighed: boolean;
  /** What one upload costs that holds the whole axis, where several may be less. */
  readonly whole?: (() => number) | undefined;
  /** Of two uploads the first one reorders, so that the second may work in place. */
  readonly reorderFirst?: boolean | undefined;
  /** What the first one then costs per point, balance included; missing where it costs what others do. */
  readonly first?: ((length: number) => number) | undefined;
  /** Leave out the last reordering: bins stay where the uploads put them. */
  readonly unordered: boolean;
  /** Undo an unordered transform: the uploads in reverse, their twiddles on the way in. */
  readonly mirrored: boolean;
  /** Lengths of the uploads, where they are known already. */
  readonly given?: readonly number[] | undefined;
}

export function axisNode(question: AxisQuestion): PlanNode {
  const { of, length, others, title, tensor, given } = question;
  const factors = given ? requireFactors(given, question) : chooseFactors(question);
  if (factors.length === 1) {
    const place = { of, step: 1 };
    return leaf(question, title, { count: length, input: place, output: place }, others);
  }
  const name = (upload: number) => `${title}, upload ${upload + 1} of ${factors.length}`;
  const node = {
    scheme: 'four-step',
    title,
    axisOf: of - 1,
    parts: factors,
    length: tensor,
    outputLength: tensor,
  } as const;
  if (reordersFirst(question) && factors.length === 2) {
    return { ...node, children: reorderedFirst(question, factors as readonly [number, number], name) };
  }
  return { ...node, children: inOrder(question, factors, name) };
}

/** Lengths of the uploads, of one that holds the whole axis or of several. */
function chooseFactors(question: AxisQuestion): readonly number[] {
  const { length, tile, grain, cost, weighed } = question;
  const least = leastUploads(question);
  const fits = (n: number) => fitsPart(n, question);
  const first = reordersFirst(question) ? question.first : undefined;
  let split: Split | undefined;
  const several = () => (split ??= splitLength(length, fits, tile, cost, { least, weighed, grain, first }));
  if (least <= 1 && fitsWhole(question)) {
    const whole = question.whole?.() ?? 0;
    // Two uploads cost two trips to memory at least, where there are factors for them at all.
    if (whole < 2 || !candidatesOf(length, fits).some((n) => fits(length / n)) || several().cost >= whole)
      return [length];
  }
  return several().factors;
}

/** Lengths that were chosen before. @throws RangeError where the axis cannot have such uploads, or has no use for so many */
function requireFactors(given: readonly number[], question: AxisQuestion): readonly number[] {
  const { length, capacity, title } = question;
  const least = leastUploads(question);
  const divide = given.every((n) => Number.isSafeInteger(n) && n > 1) && given.reduce((a, b) => a * b, 1) === length;
  const hold = () => (given.length === 1 ? fitsWhole(question) : given.every((n) => fitsPart(n, question)));
  // Neighbours that fit one upload together: as few uploads as that are enough, and one more may be faster.
  let enough = 1;
  let size = 1;
  for (const n of given) {
    if (size * n > capacity.columns) enough++;
    size = size * n > capacity.columns ? n : size * n;
  }
  if (divide && given.length >= least && given.length <= Math.max(2, least, enough) + 1 && hold()) return given;
  throw new RangeError(`${title} of ${length} points does not come in uploads of ${show(given)}`);
}

function leastUploads({ length, uploads = 1 }: AxisQuestion): number {
  return uploads === 1 ? 1 : Math.min(uploads, primeFactors(length).length);
}

function fitsWhole({ length, capacity, strided, fusable }: AxisQuestion): boolean {
  return length <= capacity.whole || fusable(length, strided, false);
}

/** Whether one of several uploads may be so long. */
function fitsPart(n: number, { capacity, fusable }: AxisQuestion): boolean {
  return n <= capacity.columns || fusable(n, true, true);
}

function reordersFirst({ reorderFirst = false, unordered, mirrored }: AxisQuestion): boolean {
  return reorderFirst && !unordered && !mirrored;
}

/** Each upload leaves its bins where it found its points; the last one reorders, unless bins are to stay so. */
function inOrder(question: AxisQuestion, factors: readonly number[], name: (upload: number) => string): LeafNode[] {
  const { of, length, others, mirrored } = question;
  const unordered = question.unordered || mirrored;
  const at = (step: number): Place => ({ of, step });
  const children: LeafNode[] = [];
  // Dimensions of bins that earlier uploads have produced, and where they finally belong.
  const bins: Dimension[] = [];
  let rest = length;
  let produced = 1;
  factors.slice(0, -1).forEach((n, upload) => {
    const order = rest;
    rest /= n;
    const columns: Dimension = { count: rest, input: at(1), output: at(1) };
    const kept = bins.map((bin) => ({ ...bin, output: bin.input }));
    const axis = { count: n, input: at(rest), output: at(rest) };
    children.push({
      ...leaf(question, name(upload), axis, [columns, ...kept, ...others]),
      twiddle: { order, on: mirrored ? 'input' : 'output' },
      ...(unordered ? {} : { intermediate: { of, rows: factors[0]!, columns: length / factors[0]! } }),
    });
    bins.unshift({ count: n, input: at(rest), output: at(produced) });
    produced *= n;
  });
  const last = { count: rest, input: at(1), output: at(unordered ? 1 : produced) };
  const settled = unordered ? bins.map((bin) => ({ ...bin, output: bin.input })) : bins;
  children.push(leaf(question, name(factors.length - 1), last, [...settled, ...others]));
  return mirrored ? children.reverse() : children;
}

/**
 * The loops of two launches, the first of which leaves element i₂ of bin k₁ at k₁ + n₁·i₂. The second then finds every
 * column where its bins belong, k₁ + n₁·k₂, and may work in place.
 */
export function reordering(of: number, [n1, n2]: readonly [number, number]) {
  const at = (step: number): Place => ({ of, step });
  return {
    part: { count: n1, input: at(n2), output: at(1) },
    rows: { count: n2, input: at(1), output: at(n1) },
    rest: { count: n2, input: at(n1), output: at(n1) },
    bins: { count: n1, input: at(1), output: at(1) },
  } satisfies Record<string, Dimension>;
}

/** Two uploads so: two buffers instead of three share the caches. */
function reorderedFirst(
  question: AxisQuestion,
  factors: readonly [number, number],
  name: (upload: number) => string,
): LeafNode[] {
  const { of, length, others } = question;
  const { part, rows, rest, bins } = reordering(of, factors);
  return [
    { ...leaf(question, name(0), part, [rows, ...others]), twiddle: { order: length, on: 'output' } },
    leaf(question, name(1), rest, [bins, ...others]),
  ];
}

function leaf(question: AxisQuestion, title: string, axis: Dimension, batch: readonly Dimension[]): LeafNode {
  return leafNode({ title, axisOf: question.of - 1, axis, batch, tensor: question.tensor });
}

/** What columns that do not fill their last tile add to an upload, in passes of radix 4; threads hardly notice. */
const RAGGED = 1;
/** What one doubling of the ratio between factors adds: long columns leave less of the cache to neighbours. */
const UNBALANCED = 0.05;

/**
 * As few factors as fit, but `least`; among those the cheapest: by and large equal, and divided by whole tiles, or by
 * others of whole grains that a group may take instead.
 */
export function splitLength(
  length: number,
  fits: (n: number) => boolean,
  tile: number,
  cost: UploadCost,
  {
    least = 2,
    weighed = false,
    grain = tile,
    first,
  }: {
    readonly least?: number;
    readonly weighed?: boolean;
    readonly grain?: number;
    /** What the first of two costs, where it is not what others cost and the two are not to be equal. */
    readonly first?: AxisQuestion['first'];
  } = {},
): Split {
  const candidates = candidatesOf(length, fits);
  const longest = Math.max(1, ...candidates);
  const own = new Map<string, number>();
  const price = (n: number, columns: number, last: boolean): number => {
    const key = `${n},${columns},${last}`;
    let known = own.get(key);
    if (known === undefined) own.set(key, (known = cost(n, columns, last) + ragged(n)));
    return known;
  };
  const ragged = (n: number) => (weighed || dividingTile(tile, n, n, grain) ? 0 : RAGGED);
  const priceOf = (count: number): UploadCost => {
    if (count === 2 && first) return (n, columns, last) => (last ? price(n, columns, last) : first(n) + ragged(n));
    const ideal = length ** (1 / count);
    return (n, columns, last) => price(n, columns, last) + UNBALANCED * Math.abs(Math.log2(n / ideal));
  };
  const of = (count: number) => split(length, count, longest, candidates, priceOf(count));
  for (let uploads = Math.max(2, least); uploads <= 64; uploads++) {
    const found = of(uploads);
    const more = found && weighed ? of(uploads + 1) : undefined;
    if (found) return more && more.cost < found.cost ? more : found;
  }
  throw new RangeError(`${length} has no factors that fit one upload`);
}

/** Factors that one upload takes. */
function candidatesOf(length: number, fits: (n: number) => boolean): number[] {
  return divisors(length).filter((n) => n > 1 && fits(n));
}

/** Costs that differ by less are the same, and the shorter factor comes first. */
const EQUAL = 1e-9;

/** A shortest path over the divisors: what is left and how many uploads it may take is all that matters. */
function split(
  length: number,
  uploads: number,
  longest: number,
  candidates: readonly number[],
  price: UploadCost,
): Split | undefined {
  const known = new Map<string, Split | undefined>();
  const from = (rest: number, left: number): Split | undefined => {
    if (left === 1)
      return candidates.includes(rest) ? { factors: [rest], cost: price(rest, length / rest, true) } : undefined;
    // Too much for so few uploads, or too little.
    if (rest > longest ** left || rest < 2 ** left) return undefined;
    const key = `${rest},${left}`;
    if (known.has(key)) return known.get(key);
    let best: Split | undefined;
    for (const n of candidates) {
      if (rest % n !== 0) continue;
      const after = from(rest / n, left - 1);
      if (!after) continue;
      const cost = price(n, rest / n, false) + after.cost;
      if (!best || cost < best.cost - EQUAL) best = { factors: [n, ...after.factors], cost };
    }
    known.set(key, best);
    return best;
  };
  return from(length, uploads);
}

interface Split {
  readonly factors: number[];
  readonly cost: number;
}
