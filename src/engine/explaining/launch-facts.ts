/** Facts of one launch: the memory that it reads and writes, the steps in between, and its grid. */
import type { CompiledKernel } from '../../devices/device.ts';
import { type Order, printLayout } from '../../layout/index.ts';
import { approximately } from '../../numeric/scale-factor.ts';
import type { Launch } from '../../plan/launch/launches.ts';
import { powerOrders } from '../../plan/schemes/rader.ts';
import {
  type Factors,
  type HermitianSplit,
  type KernelFactors,
  type Leaf,
  type LeafStep,
  type MixStep,
  type MultiplyStep,
  type PointwiseStep,
  passesOf,
  type RaderRadix,
  radicesOf,
  type SideFormat,
  type Stored,
  stagedOf,
} from '../../plan/tree/leaf.ts';
import { shimsOf } from '../../plan/tree/shims.ts';
import { type ElementKind, realBytes, type Sides } from '../../problem/index.ts';

/** A block of zeros: elements `from` ≤ n < `to` of an axis, which are taken for zero instead of read, and not written. */
export interface AbsentFacts {
  readonly axis: number;
  readonly from: number;
  readonly to: number;
  /** Set if memory has no room for the block. */
  readonly cut?: true;
}

/** One side of a launch. */
export interface OperandFacts {
  readonly buffer: string;
  readonly layout: SideFormat;
  /** The storage type of its numbers in memory. */
  readonly storage: Stored;
  /** Blocks of zeros that are skipped, including blocks of whole lines. */
  readonly absent: readonly AbsentFacts[];
  /** The scale factor applied on this side, rounded to double; missing if there is none. */
  readonly scale?: number;
  /** The order in which points are read or written, if it is not the natural one. */
  readonly order?: Order;
  /** Views of axes that are not read element by element: a symmetric extension, a Hermitian half … */
  readonly seen?: readonly string[];
  /** The element type that the user's callback exchanges with memory, and the arrays that it loads from. */
  readonly callback?: { readonly takes: ElementKind; readonly gives: ElementKind; readonly arrays: readonly string[] };
  /** Further factors, one for each position along an axis. */
  readonly factors?: readonly Factors[];
}

/** One step of a launch on its tile. Passes transform dimension `of`; `read` and `write` are the pointwise steps before and after them. */
export type StepFacts =
  | { readonly do: 'copy' }
  | MultiplyStep
  | MixStep
  | HermitianSplit
  | {
      readonly do: 'bands';
      readonly bands: number;
      /** Weights of all bands together. */
      readonly weights: number;
      /** The steps before, if bins are not read from memory. */
      readonly there?: readonly StepFacts[];
    }
  | {
      readonly do: 'layer';
      readonly there: readonly StepFacts[];
      readonly mix: MixStep;
      readonly back: readonly StepFacts[];
    }
  | {
      readonly do: 'passes';
      readonly of: number;
      readonly length: number;
      readonly radices: readonly number[];
      /** Set if the pass runs in the direction opposite to the launch. */
      readonly inverse?: true;
      /** Set for passes from reals to the bins of a half spectrum, or back, which are half the work of complex passes. */
      readonly symmetry?: 'real-input' | 'real-output';
      /** Primes whose butterflies are convolutions. */
      readonly convolved?: readonly number[];
      /** Primes whose passes take several steps, by Rader's convolution or by his direct multiplication. */
      readonly rader?: readonly RaderRadix[];
      readonly read?: { readonly count?: number; readonly factors?: Factors; readonly kernel?: KernelFactors };
      /** `origin` is set if the point 0, which is no power of a generator, is handled apart from the others. */
      readonly write?: {
        readonly count?: number;
        readonly factors?: Factors;
        readonly kernel?: KernelFactors;
        readonly origin?: true;
      };
    };

export interface LaunchFacts {
  readonly title: string;
  readonly scheme: string;
  readonly from: string;
  readonly to: string;
  readonly operands: { readonly input: OperandFacts; readonly output: OperandFacts };
  readonly steps: readonly StepFacts[];
  /** Lengths of the dimensions that the launch transforms. */
  readonly lengths: readonly number[];
  /** For each entry of `lengths`, the radices of the passes along that dimension. */
  readonly radices: readonly (readonly number[])[];
  /** The first two entries of `lengths` are digits of one axis. */
  readonly digits?: true;
  /** The axis is transformed as a cyclic convolution of this length. */
  readonly padded?: number;
  /** Blocks of the cluster that shares a tile. */
  readonly blocks?: number;
  readonly batch: readonly number[];
  readonly transformsPerGroup: number;
  readonly threads: number;
  readonly groups: number;
  /** The blocks in each dimension of a launch and the number of launches, if the device numbers blocks by dimension. */
  readonly grid?: CompiledKernel['grid'];
  readonly lanesAlong: string;
  readonly twiddles?: number;
  /** The sides on which twiddles are applied, `both` for a transform there and back; missing if there are no twiddles. */
  readonly twiddlesOn?: 'input' | 'output' | 'both';
  /** The twiddles of an enclosing decomposition, which are applied on the other side. */
  readonly outerTwiddles?: number;
  /** Steps fused into the launch that would otherwise be kernels of their own. */
  readonly fused: readonly string[];
  /** The address of each number, as the layout of [dimensions of a tile …, batch …, part] in reals (`layout/print.ts`). */
  readonly memory: Sides<string>;
  readonly staged: { readonly input: boolean; readonly output: boolean };
  readonly kernel: string;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

export function launchFacts(launch: Launch, { kernel, grid }: CompiledKernel): LaunchFacts {
  const { leaf, node } = launch;
  const [step] = leaf.steps;
  // Sums over bands follow the passes of a leaf inside the launch's own.
  const passes = step?.do === 'bands' && step.there ? step.there : leaf;
  const operands = { input: operandFacts(launch, 'input'), output: operandFacts(launch, 'output') };
  return {
    title: node.title,
    scheme: node.scheme,
    from: launch.from,
    to: launch.to,
    operands,
    steps: leaf.steps.map((step) => stepFacts(step, leaf)),
    lengths: passes.lengths,
    radices: radicesOf(passes),
    ...(leaf.coupled ? { digits: true as const } : {}),
    ...(node.convolved ? { padded: node.convolved.length } : {}),
    ...(leaf.blocks > 1 ? { blocks: leaf.blocks } : {}),
    batch: leaf.batch,
    transformsPerGroup: leaf.tile,
    threads: leaf.threads,
    groups: kernel.group.count,
    ...(grid ? { grid } : {}),
    lanesAlong: lanesText(passes),
    ...(leaf.twiddle ? { twiddles: leaf.twiddle.order, twiddlesOn: leaf.twiddle.on } : {}),
    ...(leaf.outerTwiddle ? { outerTwiddles: leaf.outerTwiddle.order } : {}),
    fused: shimsOf(node).map(({ name }) => name),
    memory: { input: printLayout(leaf.input.layout), output: printLayout(leaf.output.layout) },
    staged: stagedOf(passes),
    kernel: kernel.name,
    bytesRead: bytesMoved(operands.input, node.length),
    bytesWritten: bytesMoved(operands.output, node.outputLength),
  };
}

function operandFacts({ leaf, node, from, to }: Launch, side: 'input' | 'output'): OperandFacts {
  const { format, storage = leaf.precision } = leaf[side];
  const gaps = node.batch.flatMap(({ gap, [side]: { dimension } }) => (gap ? [{ dimension, ...gap }] : []));
  const cuts = new Set(node.zeros[side].filter((block) => block.absent));
  const absent = [...node.zeros[side], ...gaps].map((block) => {
    const { dimension, from, to } = block;
    return { axis: dimension - 1, from, to, ...(cuts.has(block) ? { cut: true as const } : {}) };
  });
  const scale = approximately(leaf.scale[side]);
  const { factors, callback } = leaf[side];
  const called = callback && {
    takes: callback.built.takes,
    gives: callback.built.gives,
    arrays: Object.keys(callback.arrays),
  };
  const seen = node.lines[side].flatMap(({ title }) => title ?? []);
  return {
    ...{ buffer: side === 'input' ? from : to, layout: format, storage, absent },
    ...(scale === 1 ? {} : { scale }),
    ...(node.convolved?.by === 'rader' ? { order: powerOrders(node.axis.count)[side] } : {}),
    ...(called ? { callback: called } : {}),
    ...(seen.length > 0 ? { seen } : {}),
    ...(factors?.length ? { factors: factors.map(({ terms: _, ...own }) => own) } : {}),
  };
}

/** Bytes of a side without its blocks of zeros. An axis has at most one block, so the remaining lengths are multiplied. @param tensor lengths */
function bytesMoved({ absent, storage, layout }: OperandFacts, tensor: readonly number[]): number {
  const left = [...tensor];
  for (const { axis, from, to, cut } of absent) if (!cut) left[axis + 1]! -= to - from;
  return left.reduce((product, count) => product * count, layout === 'real' ? 1 : 2) * realBytes(storage);
}

function stepFacts(step: LeafStep, { lengths }: Leaf): StepFacts {
  if (step.do === 'layer') {
    const [there, back] = [step.forward, step.inverse].map((leaf) => leaf.steps.map((own) => stepFacts(own, leaf)));
    return { do: 'layer', there: there!, mix: step.mix.steps[0] as MixStep, back: back! };
  }
  if (step.do === 'bands') {
    const { bands, there } = step;
    const weights = bands.reduce((sum, band) => sum + band.weights.length, 0);
    const before = there?.steps.map((own) => stepFacts(own, there));
    return { do: 'bands', bands: bands.length, weights, ...(before ? { there: before } : {}) };
  }
  if (step.do !== 'passes') return step;
  const { dimension, radices, convolved, rader, inverse, symmetry, read, write } = step;
  const points = ({ count, factors, kernel, origin }: PointwiseStep) => ({
    ...(count === undefined ? {} : { count }),
    ...(factors ? { factors } : {}),
    ...(kernel ? { kernel } : {}),
    ...(origin ? { origin } : {}),
  });
  return {
    ...{ do: 'passes', of: dimension, length: lengths[dimension]!, radices },
    ...(convolved ? { convolved } : {}),
    ...(rader ? { rader } : {}),
    ...(inverse ? { inverse } : {}),
    ...(symmetry ? { symmetry } : {}),
    ...(read ? { read: points(read) } : {}),
    ...(write ? { write: points(write) } : {}),
  };
}

function lanesText(leaf: Leaf): string {
  if (leaf.steps[0]?.do === 'bands') return leaf.tile > 1 ? 'batch' : 'axis';
  const all = passesOf(leaf).flatMap(({ lanesAlong }) => [lanesAlong.input, lanesAlong.output]);
  return all.filter((way, n) => way !== all[n - 1]).join(', then ');
}

/** One step of a launch in words: `× chirp`, `passes 2048 = 16·16·8`. */
export interface LaunchPart {
  readonly kind: 'memory' | 'passes' | 'product' | 'move';
  readonly text: string;
}

/** All steps of a launch in order, from memory to memory. */
export function launchParts(launch: LaunchFacts): LaunchPart[] {
  const { operands, steps, digits, lengths, twiddles, twiddlesOn, outerTwiddles } = launch;
  const { input, output } = operands;
  const twiddled = (side: 'input' | 'output') => {
    const order = twiddlesOn === side || twiddlesOn === 'both' ? twiddles : outerTwiddles;
    return order ? [productPart(`twiddles of ${order}`)] : [];
  };
  const first = steps.findIndex((step) => step.do === 'passes' && step.of < 2);
  return [
    { kind: 'memory', text: `load ${input.storage}` },
    ...callbackPart(input),
    ...ordered(input),
    ...seenAs(input),
    ...factorParts(input),
    ...scaleParts(input),
    ...twiddled('input'),
    ...steps.flatMap((step, n) => [
      ...stepStages(step),
      ...(digits && n === first ? [productPart(`twiddles of ${lengths[0]! * lengths[1]!}`)] : []),
    ]),
    ...twiddled('output'),
    ...factorParts(output),
    ...scaleParts(output),
    ...ordered(output),
    ...seenAs(output),
    ...callbackPart(output),
    { kind: 'memory', text: `store ${output.storage}` },
  ];
}

function callbackPart({ callback }: OperandFacts): LaunchPart[] {
  return callback ? [{ kind: 'product', text: 'callback' }] : [];
}

function productPart(by: string): LaunchPart {
  return { kind: 'product', text: `× ${by}` };
}

function ordered({ order }: OperandFacts): LaunchPart[] {
  if (!order || 'entries' in order) return [];
  return [{ kind: 'move', text: `order of ${order.inverse ? 'inverse ' : ''}powers modulo ${order.powersOf}` }];
}

function seenAs({ seen = [] }: OperandFacts): LaunchPart[] {
  return seen.map((text) => ({ kind: 'move', text }));
}

function factorParts({ factors = [] }: OperandFacts): LaunchPart[] {
  return factors.map((own) => productPart(own.kind === 'roots' ? `roots of ${own.modulus}` : factorsText(own)));
}

/** `kernel`, `3 × 3 kernel`, `conjugate of kernel, over its magnitude`. */
function kernelText({ matrix, symmetric, conjugate, crossPower }: KernelFactors): string {
  const size = matrix === 1 ? '' : `${symmetric ? 'symmetric ' : ''}${matrix} × ${matrix} `;
  const conjugated = conjugate === 'none' ? '' : `, ${conjugate} conjugated`;
  return `${size}kernel${conjugated}${crossPower ? ', over the magnitude' : ''}`;
}

/** `64 × 32 matrices`, channels in and out. */
function mixText({ in: from, out, conjugate }: MixStep): string {
  return `${from} × ${out} matrices${conjugate === 'none' ? '' : `, ${conjugate} conjugated`}`;
}

function factorsText({ kind }: Factors): string {
  return kind === 'hartley' ? '1 + i' : kind.replace('-', ' ');
}

function scaleParts({ scale }: OperandFacts): LaunchPart[] {
  if (scale === undefined) return [];
  const over = Math.round(1 / scale);
  return [productPart(Math.abs(1 / scale - over) < 1e-9 * over ? `1/${over}` : String(Number(scale.toPrecision(4))))];
}

function stepStages(step: StepFacts): LaunchPart[] {
  if (step.do === 'copy') return [{ kind: 'move', text: 'transpose' }];
  if (step.do === 'hermitian-split') {
    const pairs = { kind: 'move' as const, text: PAIRS[step.by] };
    return step.kernel ? [pairs, productPart(kernelText(step.kernel)), pairs] : [pairs];
  }
  if (step.do === 'mix') return [productPart(mixText(step))];
  if (step.do === 'layer') return [...step.there, step.mix, ...step.back].flatMap(stepStages);
  if (step.do === 'bands') {
    return [...(step.there ?? []).flatMap(stepStages), productPart(`${step.weights} weights of ${step.bands} bands`)];
  }
  if (step.do === 'multiply') return [productPart(kernelText(step.kernel))];
  const { length, radices, rader = [], inverse, symmetry, read, write } = step;
  const way = inverse || symmetry === 'real-output' ? 'inverse ' : '';
  const passes = {
    kind: 'passes' as const,
    text: `${way}${passesText(length, radices)}${symmetry ? ' of reals' : ''}${rader.map(raderText).join('')}`,
  };
  const factors = (points: typeof read) => [
    ...(points?.factors ? [productPart(factorsText(points.factors))] : []),
    ...(points?.kernel ? [productPart(kernelText(points.kernel))] : []),
  ];
  return [
    ...(read?.count ? [{ kind: 'move' as const, text: `${read.count} points, then zeros` }] : []),
    ...factors(read),
    // A dimension of one point is only copied.
    ...(length === 1 ? [] : [passes]),
    ...(write?.origin ? [{ kind: 'move' as const, text: 'point 0 apart' }] : []),
    ...factors(write),
    ...(write?.count ? [{ kind: 'move' as const, text: `keep ${write.count} points` }] : []),
  ];
}

/** Names of the Hermitian split steps, which combine bins k and N − k. */
const PAIRS = {
  halves: 'pair bins of both halves',
  lines: 'pair bins of two lines',
} as const;

function passesText(length: number, radices: readonly number[]): string {
  return radices.length > 1 ? `passes ${length} = ${radices.join('·')}` : `pass ${length}`;
}

/** `, 1009 as a convolution of 1008 = 16·9·7`. */
function raderText(rader: RaderRadix): string {
  if (rader.by === 'multiplication') return `, ${rader.prime} by multiplication`;
  return `, ${rader.prime} as a convolution of ${rader.prime - 1} = ${rader.radices.join('·')}`;
}

/** `input (interleaved, half) without 128 to 255 of axis 0`. */
export function operandText({ buffer, layout, storage, absent }: OperandFacts): string {
  const without = absent.length > 0 ? ` without ${absent.map(absentText).join(' and ')}` : '';
  return `${buffer} (${layout}, ${storage})${without}`;
}

export function absentText({ axis, from, to }: AbsentFacts): string {
  return `${from} to ${to - 1} of axis ${axis}`;
}

/** Lengths of a tensor as text, `64 × 32`, without the axes of one point. */
export function lengthsText(lengths: readonly number[]): string {
  return lengths.filter((length) => length > 1).join(' × ') || '1';
}
