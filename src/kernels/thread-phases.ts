/** Phases for threads: a Stockham leaf is one stage, with copies before and after it where memory wants them. */
import type { LanesAlong, StockhamLeaf } from '../plan/leaf.ts';
import { stagePhases } from './stage.ts';
import type { BuiltSteps, Step, StepsToBuild } from './steps.ts';
import { threadPassTwiddles } from './twiddles.ts';

export function threadPhases({ leaf, steps, tables, limit, ends }: StepsToBuild): BuiltSteps {
  const { length, tile, precision, shared, aliased } = leaf;
  const stage = {
    length,
    columns: tile,
    walks: steps.map((step, n) => ({ step, along: alongOf(leaf, steps, n) })),
    twiddle: ({ radix, stride }: Extract<Step, { kind: 'pass' }>) => threadPassTwiddles(tables, radix, stride),
  };
  return stagePhases({
    stages: [stage],
    precision,
    shared,
    ...ends,
    limit,
    aliased,
  });
}

/** Along what neighbouring threads walk in a step: along the memory that it touches, if it touches any. */
function alongOf({ lanesAlong, staged }: StockhamLeaf, steps: readonly Step[], n: number): LanesAlong {
  if (n === 0) return lanesAlong.input;
  if (n === steps.length - 1) return lanesAlong.output;
  if (lanesAlong.input === lanesAlong.output) return lanesAlong.input;
  // In between both ways are open; columns need no padding.
  return staged.input || staged.output ? 'batch' : lanesAlong.output;
}
