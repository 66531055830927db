/**
 * The kernel of a spectral layer along its last axis in one launch. Each group computes one batch, at one bin of the other axes, in three runs of
 * phases: the transforms of all input channels, whose bins stay in shared memory; the products of bins and matrices; and the inverse transforms
 * of all output channels. Where the lines of all channels are more than a tile, they are transformed tile by tile, in slices.
 */
import {
  type ArrayRef,
  coordinates,
  index,
  type Kernel,
  type Phase,
  scale,
  sub,
  TableBuilder,
  type Var,
  variable,
} from '../ir/index.ts';
import type { LayerStep, Leaf, MixStep } from '../plan/tree/leaf.ts';
import { leafPhases } from './leaf.ts';
import { mixPhases } from './mix-channels.ts';
import { numberTypeOf } from './views/number-types.ts';
import { type CommonArrays, operandArrays, type Tiles } from './views/sides.ts';

export function layerKernel(leaf: Leaf, { forward, mix, inverse }: LayerStep): Kernel {
  const type = numberTypeOf(leaf.precision);
  const tables = new TableBuilder(type);
  const group = variable(
    'group',
    forward.batch.slice(1).reduce((a, b) => a * b, 1),
  );
  const operands = operandArrays(leaf);
  const step = mix.steps[0] as MixStep;
  const [bins, mixed] = [
    planes('bins', mix.batch[0]! * step.in, leaf),
    planes('mixed', mix.batch[0]! * step.out, leaf),
  ];
  const transforms = (one: Leaf, shared: CommonArrays['shared'], arrays: readonly ArrayRef[]) => {
    const { tiles, slice } = tilesOfGroup(one, group);
    const common = { operands, shared };
    const built = leafPhases(one, { tiles, tables, rank: variable('rank', 1), common, arrays });
    return { ...built, phases: slice ? inSlices(built.phases, slice) : built.phases };
  };
  const first = transforms(forward, { output: planesByName('output', bins) }, []);
  const mixing = mixPhases(mix, step, {
    ...{ group, tables },
    common: { operands, shared: { input: planesByName('input', bins), output: planesByName('output', mixed) } },
  });
  const last = transforms(inverse, { input: planesByName('input', mixed) }, first.shared);
  const isOperand = ({ operand }: ArrayRef) => operand === true;
  return {
    ...{ name: `layer${forward.lengths[0]}x${step.in}x${step.out}`, precision: type, group, threads: leaf.threads },
    globals: [
      ...[first, last].flatMap(({ globals }) => globals.filter((array) => !isOperand(array))),
      ...operands.values(),
    ],
    aliased: leaf.aliased,
    tables: tables.all(),
    shared: [...new Set([...bins, ...mixed, ...first.shared, ...mixing.shared, ...last.shared])],
    phases: [...first.phases, ...mixing.phases, ...last.phases],
  };
}

/** Planes of real and imaginary parts in shared memory. */
function planes(name: string, length: number, { precision }: Leaf): readonly [re: ArrayRef, im: ArrayRef] {
  const plane = (part: string): ArrayRef => ({
    ...{ name: `${name}.${part}`, space: 'shared', type: numberTypeOf(precision), length },
    // Where a tile is not full, the limits of loops keep accesses inside.
    guarded: true,
  });
  return [plane('re'), plane('im')];
}

/** Planes by their names in the layout of a side. */
function planesByName(
  side: 'input' | 'output',
  [re, im]: readonly [ArrayRef, ArrayRef],
): ReadonlyMap<string, ArrayRef> {
  return new Map([
    [`${side}.re`, re],
    [`${side}.im`, im],
  ]);
}

/** The tiles that a group takes one after another. @returns also the number of the tile; undefined if there is one only */
function tilesOfGroup({ batch, tile }: Leaf, group: Var): { readonly tiles: Tiles; readonly slice: Var | undefined } {
  const [lines, ...others] = batch as [number, ...number[]];
  const count = Math.ceil(lines / tile);
  const slice = count > 1 ? variable('tile', count) : undefined;
  const number = index(slice ?? 0);
  const first = scale(number, tile);
  const limit = lines % tile === 0 ? undefined : sub(lines, first);
  return { slice, tiles: { group, number, first, outer: coordinates(group, others), limit } };
}

/** Phases that each slice goes through before the next one. */
function inSlices(phases: readonly Phase[], slice: Var): readonly Phase[] {
  return phases.map((phase, n) => ({
    ...phase,
    loops: [{ variable: slice }, ...phase.loops],
    exchange: n < phases.length - 1 ? 'slice' : 'group',
  }));
}
