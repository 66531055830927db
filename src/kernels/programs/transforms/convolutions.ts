/**
 * A transform, a product with a spectrum and the inverse transform become one plan, which convolves. Its middle launch transforms forward and back at
 * once, so that the product never lies in memory.
 */
import {
  add,
  Expressions,
  type Index,
  isZeroConstant,
  type LoadNode,
  type Real,
  reachable,
  Substitution,
} from '../../../ir/index.ts';
import { type Launch, OUTPUT, type PlannedTransform, rowShape, type TransformLaunch } from '../loops/launches.ts';
import { inUnits, type LaunchDraft } from '../loops/loops.ts';
import { isPositionOfRow, type LaunchFacts, numberStored, rowStores, sameIndex } from './rows.ts';

/** The most nodes of an expression that is tested for being a product. */
const MOST_NODES = 32;

type Times = NonNullable<PlannedTransform['times']>;

/** @returns undefined where the kernel is not a product with a spectrum in memory */
export function convolutionOf(
  there: TransformLaunch,
  draft: LaunchDraft,
  back: TransformLaunch,
  { nests }: LaunchFacts,
): TransformLaunch | undefined {
  const { transform } = there;
  const { op, size, batches, load, input, store, output, times } = transform;
  const isInverse = back.transform.op === (op === 'fft' ? 'ifft' : op === 'rfft' ? 'irfft' : '');
  const isAlike = isInverse && back.transform.size === size && back.transform.batches === batches;
  const nest = nests.get(draft.kernel);
  const isPlain = !store && !output && !times && !load && !input && !back.transform.load && !back.transform.input;
  const stored = nest && numberStored(nest.stores);
  if (!isAlike || !isPlain || !stored || stored.words !== 2 || back.transform.times) return undefined;
  const { count } = rowShape(transform, 'output');
  const rows = rowStores(nest, stored.place, count, batches);
  if (!rows) return undefined;
  const signal = draft.kernel.globals[draft.reads.indexOf(there.writes)]!;
  const isSignal = (node: Real): node is LoadNode => node.op === 'load' && node.array === signal;
  const values = rows.stores.map(({ value }) => value) as [Real, Real];
  const nodes = reachable(values);
  if (nodes.length > MOST_NODES) return undefined;
  for (const node of nodes) {
    const place = isSignal(node) && inUnits(node.index, 2, Math.abs(node.index.constant % 2));
    if (isSignal(node) && (!place || node.guard || !isPositionOfRow(place, rows))) return undefined;
  }
  const factor = onlyFactor(values, isSignal);
  const spectrum = factor && draft.reads[draft.kernel.globals.indexOf(factor.re.array)];
  const place = factor && inUnits(factor.re.index, 2, 0);
  if (!factor || spectrum === undefined || !place || factor.re.guard || factor.im.guard) return undefined;
  const isOwn = factor.im.array === factor.re.array && sameIndex(factor.im.index, add(factor.re.index, 1));
  const spectra = batches === 1 || isAlong(place, rows) ? 'one' : 'each';
  if (!isOwn || !(spectra === 'each' || batches === 1 ? isPositionOfRow(place, rows) : true)) return undefined;
  const own: Times = { conjugate: factor.conjugate, spectra };
  return { transform: { op, size, batches, times: own }, reads: [there.reads[0]!, spectrum], writes: back.writes };
}

function isAlong(place: Index, { along }: NonNullable<ReturnType<typeof rowStores>>): boolean {
  return sameIndex(place, add(along));
}

/** The factor of a number whose only uses are products with that factor. */
function onlyFactor(
  values: readonly [Real, Real],
  isSignal: (node: Real) => node is LoadNode,
): { readonly re: LoadNode; readonly im: LoadNode; readonly conjugate: Times['conjugate'] } | undefined {
  if (!values.every((value) => isLinearIn(value, isSignal))) return undefined;
  const x = new Expressions();
  const at = new Substitution(new Map());
  const of = (re: number, im: number): readonly [Real, Real] => {
    const made = new Map<Real, Real>();
    const make = (node: Real): Real => {
      let known = made.get(node);
      if (!known) {
        const isImaginary = isSignal(node) && Math.abs(node.index.constant % 2) === 1;
        made.set(node, (known = isSignal(node) ? x.constant(isImaginary ? im : re) : x.rebuilt(node, make, at)));
      }
      return known;
    };
    return [make(values[0]), make(values[1])];
  };
  if (!of(0, 0).every(isZeroConstant)) return undefined;
  const [[re, im], [cross, other]] = [of(1, 0), of(0, 1)];
  if (re.op !== 'load') return undefined;
  if (other === re && cross === x.neg(im)) {
    const part = im.op === 'neg' ? im.a : im;
    return part.op === 'load' ? { re, im: part, conjugate: im === part ? 'none' : 'kernel' } : undefined;
  }
  const isConjugate = im.op === 'load' && cross === im && other === x.neg(re);
  return isConjugate ? { re, im, conjugate: 'signal' } : undefined;
}

/** Whether a value is linear in the signal: a sum of products of the signal with factors that do not depend on it. */
function isLinearIn(value: Real, isSignal: (node: Real) => boolean): boolean {
  const depends = (node: Real) => reachable([node]).some(isSignal);
  if (isSignal(value) || !depends(value)) return true;
  switch (value.op) {
    case 'neg':
      return isLinearIn(value.a, isSignal);
    case 'add':
    case 'sub':
      return isLinearIn(value.a, isSignal) && isLinearIn(value.b, isSignal);
    case 'mul': {
      const [a, b] = [depends(value.a), depends(value.b)];
      return !(a && b) && isLinearIn(a ? value.a : value.b, isSignal);
    }
    default:
      return false;
  }
}

/**
 * Spectra that are transforms of stored arrays and that only convolutions read are left in the order that suits these convolutions best: prepared, as
 * the kernels (filters) of convolution plans are.
 */
export function withPrepared(launches: readonly Launch[], { wanted }: Pick<LaunchFacts, 'wanted'>): Launch[] {
  const now = [...launches];
  const known = new Map<Launch, Launch>();
  const made = (launch: Launch, make: () => Launch) => {
    if (!known.has(launch)) known.set(launch, make());
    return known.get(launch)!;
  };
  launches.forEach((launch, n) => {
    const readers = isPlainTransform(launch) && !wanted.has(launch.writes) ? readersOf(launches, n) : [];
    const [first] = readers.map((at) => launches[at]!);
    if (!first || !isPlainTransform(launch) || !('transform' in first) || !first.transform.times) return;
    const { spectra } = first.transform.times;
    const isAlike = first.transform.size === launch.transform.size && first.transform.op === launch.transform.op;
    const rows = spectra === 'one' ? 1 : first.transform.batches;
    const text = JSON.stringify(first.transform);
    const all = readers.every((at) => isProductWith(launches[at]!, launch.writes, text));
    if (!isAlike || launch.transform.batches !== rows || !all) return;
    const transform = { ...first.transform, times: { ...first.transform.times, isPrepared: true as const } };
    now[n] = made(launch, () => ({ ...launch, transform: { ...transform, prepares: true } }));
    for (const at of readers)
      now[at] = made(launches[at]!, () => ({ ...(launches[at] as TransformLaunch), transform }));
  });
  return now;
}

function isPlainTransform(launch: Launch): launch is TransformLaunch {
  return 'transform' in launch && Object.keys(launch.transform).join() === 'op,size,batches';
}

/** Launches that read the buffer of one launch before another launch overwrites it. */
function readersOf(launches: readonly Launch[], from: number): number[] {
  const { writes } = launches[from]!;
  const found: number[] = [];
  for (let n = from + 1; n < launches.length && writes !== OUTPUT; n++) {
    if (launches[n]!.reads.includes(writes)) found.push(n);
    if (launches[n]!.writes === writes) break;
  }
  return found;
}

function isProductWith(launch: Launch, spectrum: string, text: string): boolean {
  return (
    'transform' in launch &&
    JSON.stringify(launch.transform) === text &&
    launch.reads.indexOf(spectrum) === launch.reads.length - 1
  );
}
