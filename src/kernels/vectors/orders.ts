/**
 * The order of elements between passes: which elements the butterflies of a pass read and write, in either of two forms.
 *
 * Passes whose radices have the product s leave blocks of s elements; each block is the transform of every (N/s)-th point. The next pass,
 * of radix r, leaves blocks of r·s elements: its butterfly i of block q combines element i of r blocks of the pass before.
 *
 * **Autosort** (Stockham): the blocks of every pass lie in the order of the points that they begin with. The r blocks that a pass combines
 * are N/r elements apart, so that it has to read one array and write another.
 *
 * **In place**: the first pass leaves its blocks in digit-reversed order. From then on, the blocks that a pass combines lie side by side,
 * and a butterfly writes its outputs to the places of its points. That needs half as much memory as the autosort form, and a pass writes
 * the cache lines that it has just read.
 */
import { add, type Index, index, scale, type Var, variable } from '../../ir/index.ts';

/** The butterflies of a pass. */
export interface Butterflies {
  /** The loop over slices, each of which goes through several passes before the next slice begins; missing if there are no slices. */
  readonly slices?: Var;
  /** The loops over the blocks that the pass leaves, outermost first. The innermost one walks along neighbouring points. */
  readonly blocks: readonly Var[];
  /** The number of the butterfly in its block. */
  readonly i: Var;
  /** The element that is point m of the butterfly. */
  readonly point: (m: number) => Index;
  /** The element that output k of the butterfly becomes. */
  readonly output: (k: number) => Index;
}

/** The butterflies of a pass in autosort form. */
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
 * The butterflies of the first pass in in-place form, which reverses digits. With Q blocks and the radices r₁, r₂, … of the other passes,
 * block number q = d₁·Q/r₁ + d₂·Q/(r₁·r₂) + … is stored as block d₁ + r₁·(d₂ + r₂·(…)).
 * @param far whether the output does not stay in the first-level cache. Loops are then ordered so that neighbouring blocks are written soon
 * after one another and cache lines are complete; otherwise so that points are read in order.
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
 * The butterflies of a later pass in in-place form: output k is written to the place of point k.
 * @param slice elements of a slice, which is one or several of the blocks that this pass leaves
 */
export function samePlaces(length: number, radix: number, stride: number, slice = length): Butterflies {
  const slices = variable('slice', length / slice);
  const q = variable('q', slice / (radix * stride));
  const i = variable('i', stride);
  const element = (m: number) => add(scale(slices, slice), scale(q, stride * radix), i, m * stride);
  return { ...(slice < length ? { slices } : {}), blocks: [q], i, point: element, output: element };
}
