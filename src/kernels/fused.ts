/**
 * The fused leaf: stages of transforms along different dimensions of one tile, which lies in the shared memory of a
 * cluster of blocks (or of one block). Each block holds its share of one dimension while another is transformed whole;
 * where that other dimension changes between two stages, every block writes into the others' memory what they need next.
 *
 * Two axes of an image are two stages with nothing between them. One long axis is cut into two digits, as the four-step
 * algorithm does (VkFFT guide 2.5.2): input element n = n₀·B + n₁, output element k = k₀ + A·k₁. Its passes are those of
 * one Stockham transform of length A·B, so the twiddles between the digits are those of the second stage's passes. The
 * slowest of several axes may be cut so, too: blocks then exchange their shares after its first digit, and never again.
 */
import {
  add,
  type ComplexView,
  coordinates,
  div,
  type Index,
  type IndexLike,
  index,
  type Kernel,
  mappedLoad,
  mappedStore,
  mod,
  scale,
  TableBuilder,
  type Var,
  variable,
} from '../ir/index.ts';
import type { FusedLeaf, FusedStage } from '../plan/leaf.ts';
import { dimensionsOfAxis, sidesOf, tilesOf } from './sides.ts';
import { type Carried, type Stage, stagePhases } from './stage.ts';
import type { Step } from './steps.ts';
import { typeOf } from './steps.ts';
import { leafStepTwiddles, threadPassTwiddles } from './twiddles.ts';

/** Blocks from which on it matters that they store into one another in turns. */
const MANY_BLOCKS = 8;

/** An element of a tile: one coordinate for each dimension, then the transform of the tile. */
type Element = readonly Index[];

export function fusedKernel(leaf: FusedLeaf): Kernel {
  const type = typeOf(leaf.precision);
  const tiles = tilesOf(leaf);
  const rank = variable('rank', leaf.blocks);
  const tables = new TableBuilder(type);
  const sides = sidesOf(leaf, tiles, { input: leaf.input.axes, output: leaf.output.axes });
  let { input, output } = sides.views(leaf);
  if (leaf.twiddle) {
    const { on } = leaf.twiddle;
    const factor = leafStepTwiddles(tables, leaf, tiles, leaf.tile > 1);
    const element = (at: readonly IndexLike[]) => [twiddled(leaf, at), at.at(-1)!];
    if (on === 'input') input = mappedLoad(input, (x, value, at) => factor(x, value, element(at)));
    else output = mappedStore(output, (x, value, at) => factor(x, value, element(at)));
  }
  const geometry = leaf.stages.map((stage) => new Geometry(leaf, stage, rank));
  const stages = geometry.map((own, n): Stage => {
    const next = geometry[n + 1];
    const exchanges = next && leaf.stages[n + 1]!.split !== leaf.stages[n]!.split;
    const before = leaf.coupled && leaf.stages[n]!.of === 1 ? leaf.lengths[0]! : 1;
    return {
      length: own.length,
      columns: own.columns,
      walks: walksOf(leaf.stages[n]!),
      ...(leaf.blocks >= MANY_BLOCKS && exchanges
        ? { firstOutput: (radix: number) => div(scale(rank, radix), leaf.blocks) }
        : {}),
      twiddle: ({ radix, stride }, shifted) => {
        const turn = threadPassTwiddles(tables, radix, stride * before, { shifted, uncached: leaf.blocks > 1 });
        if (before === 1) return turn;
        // The digit that an earlier stage has produced counts on.
        return (x, value, i, m, c) => turn(x, value, add(own.coordinate(0, c), scale(i, before)), m);
      },
      ...(next ? { carry: (at, c) => next.placeOf(own.element(at, c), own) } : {}),
    };
  });
  const phases = stagePhases({
    stages,
    precision: leaf.precision,
    shared: leaf.shared,
    input: atElements(input, geometry[0]!),
    output: atElements(output, geometry.at(-1)!),
    limit: undefined,
    aliased: leaf.aliased,
  });
  const table = tables.build();
  return {
    name: `fused${leaf.lengths.join('x')}`,
    precision: type,
    group: tiles.group,
    ...(leaf.blocks > 1 ? { cluster: { blocks: leaf.blocks, rank } } : {}),
    threads: leaf.threads,
    ...(leaf.beside ? { beside: leaf.beside } : {}),
    globals: sides.globals,
    aliased: leaf.aliased,
    tables: table ? [table] : [],
    ...phases,
  };
}

/** The number of an element along the axis that the twiddles of a four-step decomposition count. */
function twiddled(leaf: FusedLeaf, at: readonly IndexLike[]): IndexLike {
  const { on, of = 0 } = leaf.twiddle!;
  const [dimension, ...digits] = dimensionsOfAxis(leaf, of) as [number, ...number[]];
  if (digits.length === 0) return at[dimension]!;
  const [a, b] = leaf.lengths as [number, number];
  return on === 'input' ? add(scale(at[0]!, b), at[1]!) : add(at[0]!, scale(at[1]!, a));
}

function walksOf({ radices, lanesAlong }: FusedStage): Stage['walks'] {
  let stride = 1;
  return radices.map((radix, n) => {
    const step: Step = { kind: 'pass', radix, stride };
    stride *= radix;
    return { step, along: n === 0 ? lanesAlong.input : lanesAlong.output };
  });
}

/** A view of a tile, seen at elements and columns of a stage. */
function atElements(view: ComplexView, stage: Geometry): ComplexView {
  return {
    load: (x, [n, c]) => view.load(x, stage.element(n!, c!)),
    store: (x, [n, c], value) => view.store(x, stage.element(n!, c!), value),
  };
}

/** Which elements of a tile a block holds during a stage, and how its columns are numbered. */
class Geometry {
  readonly length: number;
  readonly columns: number;
  private readonly stage: FusedStage;
  private readonly leaf: FusedLeaf;
  private readonly rank: Var;
  /** Of each column dimension, in one block. */
  private readonly counts: readonly number[];
  /** Elements of the split dimension in one block. */
  private readonly share: number;

  constructor(leaf: FusedLeaf, stage: FusedStage, rank: Var) {
    this.leaf = leaf;
    this.stage = stage;
    this.rank = rank;
    this.length = leaf.lengths[stage.of]!;
    this.share = leaf.lengths[stage.split]! / leaf.blocks;
    this.counts = stage.columns.map((d) => (d === -1 ? leaf.tile : d === stage.split ? this.share : leaf.lengths[d]!));
    this.columns = this.counts.reduce((a, b) => a * b, 1);
  }

  /** The element of the tile that is element n of column c. */
  element(n: IndexLike, c: IndexLike): Element {
    const element: Index[] = [...this.leaf.lengths.map(() => index(0)), index(0)];
    element[this.stage.of] = index(n);
    const digits = coordinates(c, this.counts);
    this.stage.columns.forEach((d, place) => {
      const digit = digits[place]!;
      if (d === -1) element[this.leaf.lengths.length] = digit;
      else element[d] = d === this.stage.split ? add(scale(this.rank, this.share), digit) : digit;
    });
    return element;
  }

  coordinate(d: number, c: IndexLike): Index {
    return this.element(0, c)[d]!;
  }

  /** Where this stage finds an element that the stage before has just computed. */
  placeOf(element: Element, before: Geometry): Carried {
    const { of, split, columns } = this.stage;
    let c: Index = index(0);
    let step = 1;
    columns.forEach((d, place) => {
      const at = d === -1 ? element.at(-1)! : d === split ? mod(element[d]!, this.share) : element[d]!;
      c = add(c, scale(at, step));
      step *= this.counts[place]!;
    });
    const place = { n: element[of]!, c };
    if (this.leaf.blocks === 1 || before.stage.split === split) return place;
    return { ...place, block: div(element[split]!, this.share) };
  }
}
