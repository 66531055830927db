/**
 * Phases for threads: each may take any butterfly of any transform of the tile, so every pass walks along whatever suits
 * the memory it touches. Between passes data lie in shared memory, padded against bank conflicts; where there is one
 * array, a pass reads all of it into registers before it writes.
 */
import {
  type ArrayRef,
  add,
  type Complex,
  type ComplexView,
  div,
  Expressions,
  type IndexLike,
  interleaved,
  type Loop,
  mapped,
  mod,
  type Phase,
  type Store,
  scale,
  split,
  variable,
} from '../ir/index.ts';
import type { LanesAlong, StockhamLeaf } from '../plan/leaf.ts';
import { chooseLayout, type SharedLayout, spanOf } from './banks.ts';
import { dft } from './butterfly.ts';
import type { BuiltSteps, Place, Step, StepsToBuild } from './steps.ts';
import { passTwiddles } from './twiddles.ts';

export function threadPhases({ leaf, steps, tables, limit, input, output }: StepsToBuild): BuiltSteps {
  const walks = steps.map((step, n) => ({ step, along: alongOf(leaf, steps, n) }));
  const layouts = walks.slice(1).map((reader, n) => chooseLayout(leaf, walks[n]!, reader));
  const plane = Math.max(0, ...layouts.map((layout) => spanOf(layout, leaf)));
  const type = leaf.precision === 'single' ? 'f32' : 'f64';
  const shared = ['ping', 'pong']
    .slice(0, Math.min(layouts.length, leaf.shared.arrays))
    .map((name): ArrayRef => ({ name, space: 'shared', type, length: 2 * plane }));
  const between = (n: number): Place => {
    const array = shared[n % shared.length]!;
    const format = leaf.shared.format === 'pairs' ? interleaved(array) : split(array, plane);
    return { view: layoutView(format, layouts[n]!), shared: true };
  };

  const phases = walks.map(({ step, along }, n): Phase => {
    const from = n === 0 ? input : between(n - 1);
    const to = n === steps.length - 1 ? output : between(n);
    const x = new Expressions();
    const b = variable('b', step.kind === 'copy' ? leaf.length : leaf.length / step.radix);
    const c = variable('c', leaf.tile);
    const tail = limit && !(from.shared && to.shared) ? { limit } : {};
    const [butterflies, columns]: [Loop, Loop] = [{ variable: b }, { variable: c, ...tail }];
    const stores =
      step.kind === 'copy'
        ? to.view.store(x, [b, c], from.view.load(x, [b, c]))
        : passStores(x, leaf, step, passTwiddles(tables, leaf, step.radix, step.stride, false), { b, c, from, to });
    const readsFirst = from.shared && to.shared && shared.length === 1;
    return {
      loops: along === 'axis' ? [columns, butterflies] : [butterflies, columns],
      lanes: along === 'axis' ? b : c,
      stores,
      steps: x.steps,
      // Input and output of a leaf in place are the same memory only where one pass does both.
      repeatable: !readsFirst && (from.shared || to.shared || !leaf.aliased),
      ...(readsFirst ? { readsFirst } : {}),
      exchange: 'group',
    };
  });
  return { shared, phases };
}

interface PassPlaces {
  readonly b: IndexLike;
  readonly c: IndexLike;
  readonly from: Place;
  readonly to: Place;
}

/** Butterfly b takes the points b + m·N/r and leaves them in the order that the next pass wants. */
function passStores(
  x: Expressions,
  { length }: StockhamLeaf,
  { radix, stride }: Extract<Step, { kind: 'pass' }>,
  twiddle: ReturnType<typeof passTwiddles>,
  { b, c, from, to }: PassPlaces,
): Store[] {
  const i = mod(b, stride);
  const values: Complex[] = [];
  for (let m = 0; m < radix; m++) {
    const point = from.view.load(x, [add(b, (m * length) / radix), c]);
    values.push(m === 0 ? point : twiddle(x, point, i, m));
  }
  const target = add(scale(div(b, stride), stride * radix), i);
  return dft(x, values).flatMap((value, k) => to.view.store(x, [add(target, k * stride), c], value));
}

/** Along what neighbouring threads walk in a step: along the memory that it touches, if it touches any. */
function alongOf({ lanesAlong, staged }: StockhamLeaf, steps: readonly Step[], n: number): LanesAlong {
  if (n === 0) return lanesAlong.input;
  if (n === steps.length - 1) return lanesAlong.output;
  if (lanesAlong.input === lanesAlong.output) return lanesAlong.input;
  // In between both ways are open; columns need no padding.
  return staged.input || staged.output ? 'batch' : lanesAlong.output;
}

function layoutView(format: Parameters<typeof mapped>[0], { axis, batch, period, pad }: SharedLayout): ComplexView {
  return mapped(format, ([n, c]) => {
    const at = add(scale(n!, axis), scale(c!, batch));
    return pad === 0 ? at : add(at, scale(div(at, period), pad));
  });
}
