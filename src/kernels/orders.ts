/**
 * In which order the passes of a transform leave its elements: where the butterflies of a pass find their points and put
 * their outputs, in either of two forms.
 *
 * A pass of radix r comes after passes of product s, which have left blocks of s elements: transforms of every (N/s)-th
 * point. Butterfly i of block q of the next ones, which have r·s elements, combines element i of r such blocks.
 *
 * **Autosort** (Stockham): the blocks of every pass lie in the order of the points that they begin with. Those that belong
 * together are N/r elements apart, so that a pass has to read one array and write another.
 *
 * **In place**: the first pass leaves its blocks in the order of the reversed digits of their numbers. From then on those
 * that belong together lie side by side, and a butterfly puts its outputs where its points were. Half as much memory is
 * touched as in autosort form, and what a pass leaves in a cache is what it will write again.
 */
import { add, type Index, index, scale, type Var, variable } from '../ir/index.ts';

/** The butterflies of a pass. */
export interface Butterflies {
  /** The loop over the slices that go through several passes one after another; missing where all go together. */
  readonly slices?: Var;
  /** The loops over the blocks that they leave, outermost first; the innermost one counts neighbours of the points. */
  readonly blocks: readonly Var[];
  /** The butterfly in its block. */
  readonly i: Var;
  /** Element that is point m. */
  readonly point: (m: number) => Index;
  /** Element that output k becomes. */
  readonly output: (k: number) => Index;
}

/** Butterflies that leave blocks in the order of the points that they begin with. */
export function autosort(length: number, radix: number, stride: number): Butterflies {
  const q = variable('q', length / (radix * stride));
  const i = variable('i', stride);
  const butterfly = add(scale(q, stride), i);
  return {
    blocks: [q],
    i,
    point: (m) => add(butterfly, (m * length) / radix),
    output: (k) => add(scale(q, stride * radix), i, k * stride),
  };
}

/**
 * The first pass before passes in place. A block's number q = d₁·Q/r₁ + d₂·Q/(r₁·r₂) + … becomes its place
 * d₁ + r₁·(d₂ + r₂·(…)), Q being how many there are and r₁, r₂, … the radices of the other passes.
 * @param far what is written leaves the first-level cache soon: neighbouring places then had best come one soon after the
 * other, so that lines are written whole. Where it stays there, points that are read in their order are better.
 */
export function digitReversed(length: number, [radix, ...others]: readonly number[], far = false): Butterflies {
  let step = length / radix!;
  let weight = 1;
  let q = index(0);
  let place = index(0);
  const digits = others.map((other, n) => {
    const digit = variable(`q${n + 1}`, other);
    step /= other;
    q = add(q, scale(digit, step));
    place = add(place, scale(digit, weight));
    weight *= other;
    return digit;
  });
  if (far && digits.length > 2) digits.splice(-1, 0, digits.shift()!);
  return {
    blocks: digits,
    i: variable('i', 1),
    point: (m) => add(q, (m * length) / radix!),
    output: (k) => add(scale(place, radix!), k),
  };
}

/**
 * The butterflies of a later pass in place: outputs become what the points were.
 * @param slice elements of a slice: as many as this pass leaves in a block, or in several.
 */
export function samePlaces(length: number, radix: number, stride: number, slice = length): Butterflies {
  const slices = variable('slice', length / slice);
  const q = variable('q', slice / (radix * stride));
  const i = variable('i', stride);
  const element = (m: number) => add(scale(slices, slice), scale(q, stride * radix), i, m * stride);
  return { ...(slice < length ? { slices } : {}), blocks: [q], i, point: element, output: element };
}
