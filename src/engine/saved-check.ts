/**
 * Whether what was read from a saved plan is a plan for a problem on a device: of the right shape, and such that no
 * launch reads or writes outside its buffers. Whether it computes the right thing is what the checksum is for.
 */
import { type BufferName, memoryOf } from '../plan/buffers/index.ts';
import { capacityOf } from '../plan/capacity.ts';
import { isPasses, type Leaf, radicesOf, type Stride } from '../plan/leaf.ts';
import { leavesOf } from '../plan/node.ts';
import { type DirectionPlan, type Launch, sideOf } from '../plan/planner.ts';
import type { DeviceProfile } from '../plan/profile.ts';
import { RADICES } from '../plan/radix.ts';
import { type Direction, type Problem, tensorShape, tensorSpan } from '../problem/index.ts';

type Check = (value: unknown) => boolean;

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
const isIndex: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumber: Check = (value) => Number.isFinite(value);
const isFlag: Check = (value) => typeof value === 'boolean';
const isText: Check = (value) => typeof value === 'string';
const oneOf =
  (...words: readonly unknown[]): Check =>
  (value) =>
    words.includes(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const recordOf =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]));

const isPlace = recordOf({ of: isIndex, step: isIndex });
const isDimension = recordOf({ count: isCount, input: isPlace, output: isPlace });
const isTwiddle = recordOf({
  order: isCount,
  on: oneOf('input', 'output'),
  along: optional(isIndex),
  of: optional(isIndex),
});
const isLeafNode = recordOf({
  scheme: oneOf('stockham'),
  title: isText,
  axis: isDimension,
  more: optional(listOf(isDimension)),
  batch: listOf(isDimension),
  length: listOf(isCount),
  outputLength: listOf(isCount),
  children: listOf(() => false),
});
const isBranch: Check = (value) => isBranchRecord(value);
const isBranchRecord = recordOf({
  scheme: oneOf('four-step', 'axes'),
  title: isText,
  length: listOf(isCount),
  outputLength: listOf(isCount),
  children: listOf((child) => isLeafNode(child) || isBranch(child)),
});

const isStride: Check = (value) => isIndex(value) || recordOf({ run: isCount, next: isIndex })(value);
const isSide = recordOf({
  layout: oneOf('interleaved', 'planar'),
  axes: listOf(isStride),
  batch: listOf(isStride),
  offset: isIndex,
});
const isShared = recordOf({
  format: oneOf('blocked', 'planes', 'pairs', 'halves'),
  arrays: oneOf(1, 2),
  banks: isCount,
  room: isCount,
});
const isLanesAlong = recordOf({ input: oneOf('axis', 'batch'), output: oneOf('axis', 'batch') });
const isPassesStep = recordOf({
  do: oneOf('passes'),
  of: isIndex,
  radices: listOf(oneOf(1, ...RADICES)),
  split: optional(isIndex),
  columns: listOf(isNumber),
  lanesAlong: isLanesAlong,
});
const isCopyStep = recordOf({ do: oneOf('copy') });
const isLeaf = recordOf({
  precision: oneOf('single', 'double'),
  lengths: listOf(isCount),
  steps: listOf((step) => isPassesStep(step) || isCopyStep(step)),
  coupled: isFlag,
  blocks: isCount,
  batch: listOf(isCount),
  tile: isCount,
  lockstep: oneOf('vector', 'threads'),
  lanes: isCount,
  threads: isCount,
  beside: optional(isCount),
  shared: isShared,
  inverse: isFlag,
  twiddle: optional(isTwiddle),
  scale: recordOf({ input: isNumber, output: isNumber }),
  aliased: isFlag,
  input: isSide,
  output: isSide,
});

/** A saved plan never goes through `work`: that is planned when `enqueue` first asks for it. */
const isBuffer = oneOf('input', 'output', 'temp', 'temp2');
const isPlan = recordOf({
  direction: oneOf('forward', 'inverse'),
  tree: isBranch,
  assignment: recordOf({
    buffers: listOf(isBuffer),
    temps: oneOf(0, 1, 2),
    fused: isIndex,
    bufferCount: isIndex,
    padded: isIndex,
    inPlace: isIndex,
    typeChanges: isIndex,
  }),
  candidates: isCount,
  launches: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(recordOf({ node: isLeafNode, from: isBuffer, to: isBuffer, leaf: isLeaf })),
  tempElements: isCount,
  chunks: isCount,
  turns: optional(recordOf({ ahead: isCount, beside: isCount })),
});

/** What is wrong with the plans of a saved plan, in words; undefined when they can be used. */
export function faultOf(plans: unknown, problem: Problem, profile: DeviceProfile): string | undefined {
  const directions: readonly Direction[] =
    problem.directions === 'both' ? ['forward', 'inverse'] : [problem.directions];
  if (!Array.isArray(plans) || plans.length !== directions.length) return 'it does not have one plan per direction';
  for (const [n, direction] of directions.entries()) {
    if (!isPlan(plans[n])) return `its plan ${n} lacks fields or has some of the wrong type`;
    const plan = plans[n] as DirectionPlan;
    if (plan.direction !== direction) return `its plan ${n} is not for '${direction}'`;
    const elements = product(tensorShape(problem, 'input'));
    if (plan.tempElements !== elements) return `its temp buffers hold ${plan.tempElements} elements, not ${elements}`;
    if (plan.turns && !(plan.launches.length === 2 && plan.turns.ahead <= plan.chunks)) {
      return 'its launches cannot take turns';
    }
    if (leavesOf(plan.tree).length !== plan.launches.length)
      return `the tree of '${direction}' has other leaves than launches`;
    for (const [step, launch] of plan.launches.entries()) {
      const fault = launchFault(launch, plan, problem, profile);
      if (fault) return `launch ${step} of '${direction}' ${fault}`;
    }
    const end = plan.launches.at(-1)!.to;
    if (memoryOf(end, namesOf(problem)) !== 'output') return `'${direction}' ends in ${end}`;
  }
  return undefined;
}

/** How shared memory may be laid out: as the device does, or as a boost by registers, or too few of them, makes it. */
function formatsOf({ sharedFormat, tuning = {} }: DeviceProfile): readonly DeviceProfile['sharedFormat'][] {
  const { registerBoost, registerBoost4Step, registerBoostNonPow2 } = tuning;
  const boosts = [registerBoost, registerBoost4Step, registerBoostNonPow2].filter((boost) => boost !== undefined);
  return boosts.length > 0 || sharedFormat === 'halves' ? [sharedFormat, 'pairs', 'halves'] : [sharedFormat];
}

/**
 * Whether each dimension has its passes, digits in their order, and what the blocks share meanwhile is another dimension; and
 * copies are first or last, of one dimension that one block holds.
 */
function areSteps({ steps, lengths, coupled, blocks, tile, lockstep }: Leaf): boolean {
  const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b).join();
  const passes = steps.filter(isPasses);
  const inner = steps.slice(1, -1);
  if (passes.length === 0 || inner.some((step) => !isPasses(step))) return false;
  const single = lengths.length === 1;
  if (passes.length < steps.length && !single) return false;
  if (lockstep === 'vector' && !single) return false;
  const all = [...lengths.keys()];
  const order = passes.map(({ of }) => of);
  if (sorted(order) !== all.join() || (coupled && (single || order.indexOf(0) > order.indexOf(1)))) return false;
  if (single && blocks > 1) return false;
  return passes.every(({ of, split, columns }) => {
    const shared =
      split === undefined ? single : split !== of && lengths[split] !== undefined && lengths[split] % blocks === 0;
    return (
      shared &&
      sorted(columns.filter((d) => d !== -1)) === sorted(all.filter((d) => d !== of)) &&
      columns.filter((d) => d === -1).length === (tile === 1 && !columns.includes(-1) ? 0 : 1)
    );
  });
}

function launchFault(
  { leaf, from, to }: Launch,
  plan: DirectionPlan,
  problem: Problem,
  profile: DeviceProfile,
): string | undefined {
  const { batch, precision, lanes, lengths, blocks } = leaf;
  const radices = radicesOf(leaf);
  if (precision !== problem.precision) return `computes in ${precision} precision`;
  const axes = lengths.length - (leaf.coupled ? 1 : 0);
  if (leaf.twiddle && !((leaf.twiddle.along ?? 0) < batch.length && (leaf.twiddle.of ?? 0) < axes)) {
    return 'has twiddles along no dimension of it';
  }
  if (!areSteps(leaf)) return 'has steps that do not follow from one another';
  const groups = Math.ceil((batch[0] ?? 1) / leaf.tile) * product(batch.slice(1));
  if (groups % plan.chunks !== 0) return `has ${groups} groups, which are not ${plan.chunks} equal chunks`;
  if (leaf.inverse !== (plan.direction === 'inverse')) return 'has the wrong sign';
  for (const [d, length] of lengths.entries()) {
    if (product(radices[d] ?? []) !== length) return `has radices ${radices[d]?.join('·')} for a length of ${length}`;
  }
  if (product(lengths) * product(batch) !== plan.tempElements) return 'does not transform every element once';
  const { lanes: wanted, room } = capacityOf(leaf.precision, { ...profile, sharedFormat: leaf.shared.format });
  if (
    lanes !== wanted ||
    leaf.lockstep !== profile.lockstep ||
    blocks > (profile.cluster?.blocks ?? 1) ||
    !formatsOf(profile).includes(leaf.shared.format) ||
    leaf.shared.arrays !== (profile.doubleBuffered ? 2 : 1) ||
    leaf.shared.room !== room
  ) {
    return 'is made for other lanes or shared memory';
  }
  if (leaf.threads > profile.maxThreads) return `has groups of ${leaf.threads} threads`;
  // Passes along one axis look for the end of their batches, others do not.
  const ragged = lengths.length > 1 && (batch[0] ?? 1) % leaf.tile !== 0;
  if (ragged || leaf.tile > Math.ceil((batch[0] ?? 1) / lanes) * lanes) return `has tiles of ${leaf.tile} transforms`;
  const names = namesOf(problem);
  if (memoryOf(from, names) === memoryOf(to, names) && !leaf.aliased) return `does not know that it works in place`;
  if (memoryOf(to, names) === 'input' && problem.preserveInput) return 'writes the input, which is to be preserved';
  for (const [side, buffer] of [
    [leaf.input, from],
    [leaf.output, to],
  ] as const) {
    const { axes } = side;
    if (axes.length !== lengths.length) return `has ${axes.length} strides for ${lengths.length} dimensions`;
    const room = roomIn(buffer, plan, problem);
    if (room === undefined) return `uses ${buffer}, which the plan does not have`;
    if (buffer === 'input' || buffer === 'output') {
      if (side.layout !== problem.layout[problemSide(buffer, plan)]) return `takes ${buffer} for ${side.layout}`;
    }
    if (side.batch.length !== batch.length) return `has ${side.batch.length} strides for ${batch.length} batches`;
    const steps = [
      ...axes.map((stride, d) => reach(stride, lengths[d]!)),
      ...side.batch.map((stride, d) => reach(stride, batch[d]!)),
    ];
    const last = side.offset + sum(steps);
    if (!(last < room)) return `reaches element ${last} of ${buffer}, which has ${room}`;
  }
  return undefined;
}

/** In place, input and output are two names of one memory. */
function namesOf({ placement }: Problem) {
  return { same: placement === 'in-place' };
}

function problemSide(buffer: 'input' | 'output', { direction }: DirectionPlan) {
  return sideOf(direction, buffer === 'input' ? 'read' : 'written');
}

/** Complex numbers in a buffer; undefined where the plan does not have it. */
function roomIn(buffer: BufferName, plan: DirectionPlan, problem: Problem): number | undefined {
  const { temps } = plan.assignment;
  if (buffer === 'input' || buffer === 'output') return tensorSpan(problem, problemSide(buffer, plan));
  return temps >= (buffer === 'temp' ? 1 : 2) ? plan.tempElements : undefined;
}

/** The furthest that `count` steps lead. */
function reach(stride: Stride, count: number): number {
  if (typeof stride === 'number') return stride * (count - 1);
  const runs = Math.floor((count - 1) / stride.run);
  return runs * stride.next + Math.min(stride.run, count) - 1;
}

function product(values: readonly number[]): number {
  return values.reduce((a, b) => a * b, 1);
}

function sum(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
