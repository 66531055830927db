/**
 * Reports of plans, as data and as text: the tree with schemes, lengths, strides and buffers, the kernels, and the bytes they move.
 */
import type { Backend } from '../../devices/device.ts';
import type { Interleaving } from '../../plan/launch/chunks.ts';
import type { DirectionPlan } from '../../plan/planner.ts';
import { schemeText } from '../../plan/schemes/axis-scheme.ts';
import type { PlanNode } from '../../plan/tree/node.ts';
import { launchesSaved } from '../../plan/tree/shims.ts';
import { arraysOf, type BuiltCallbacks, type Problem, tensorShape } from '../../problem/index.ts';
import type { CandidateFacts, CandidateList } from '../measuring/candidates.ts';
import type { DirectionProgram } from '../programs/program.ts';
import { type LaunchFacts, launchFacts, launchParts, lengthsText, operandText } from './launch-facts.ts';

export interface NodeFacts {
  readonly scheme: string;
  readonly title: string;
  /** Lengths that the four-step algorithm cuts an axis into. */
  readonly parts?: readonly number[];
  readonly length: readonly number[];
  readonly outputLength: readonly number[];
  readonly children: readonly NodeFacts[];
}

/** Facts of a plan that its programs do not know. */
export interface PlanFacts {
  /** Bytes of all tables. */
  readonly tables: number;
  readonly candidates: CandidateList;
}

export function planToJson(
  problem: Problem,
  backend: Backend,
  programs: readonly DirectionProgram[],
  { tables, candidates }: PlanFacts,
) {
  return deepCopy({
    device: { kind: backend.kind, name: backend.name },
    problem,
    candidates,
    // Calls that are given `work` take other launches, which may need more: `plan.bytes` covers both.
    bytes: { tables, temp: Math.max(...programs.map(({ tempBytes }) => tempBytes)) },
    directions: programs.map(({ plan, kernels, running }) => {
      const asOne = running.length < kernels.length;
      const launches = plan.launches.map((launch, n) => launchFacts(launch, kernels[n]!));
      // Between launches, a convolution or a real transform may have longer data than on either side.
      const tensors = [tensorShape(problem, 'output'), ...plan.launches.map(({ node }) => node.outputLength)];
      const widest = Math.max(...tensors.map((tensor) => tensor.reduce((a, b) => a * b, 1)));
      const { bufferCount, padded, inPlace, typeChanges } = plan.assignment;
      return {
        direction: plan.direction,
        tree: nodeFacts(plan.tree),
        assignment: {
          candidates: plan.candidates,
          buffers: plan.assignment.buffers,
          ...(plan.decidedBy ? { decidedBy: CRITERIA[plan.decidedBy] } : {}),
          criteria: { fused: fusedIn(plan), buffers: bufferCount, padded, inPlace, typeChanges },
          // Extra elements of a temp buffer, which pad its strides so that access is fast.
          padding: plan.assignment.temps > 0 ? plan.tempElements - widest : 0,
        },
        launches,
        // Launches that the device cannot interleave run one after the other.
        chunks: plan.interleaved && !asOne ? 1 : plan.chunks,
        ...(plan.interleaved && asOne ? { turns: plan.interleaved } : {}),
        bytesMoved: launches.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0),
      };
    }),
  });
}

/** Names of the criteria that rank buffer assignments. */
const CRITERIA = {
  bufferCount: 'buffers',
  padded: 'padded',
  inPlace: 'inPlace',
  typeChanges: 'typeChanges',
  order: 'order',
} as const;

/** For each criterion, the reason why the best assignment beats the next one. */
const REASONS: Readonly<Record<(typeof CRITERIA)[keyof typeof CRITERIA], string>> = {
  buffers: 'fewer buffers',
  padded: 'more padded steps',
  inPlace: 'more steps in place',
  typeChanges: 'fewer type changes',
  order: 'the order of preference',
};

/** The reason as text, appended to the number of assignments. */
export function reasonText(decidedBy: keyof typeof REASONS | undefined): string {
  return decidedBy ? ` by ${REASONS[decidedBy]}` : '';
}

/** Launches that fusion saves. All buffer assignments of a tree save the same number. */
function fusedIn({ launches }: DirectionPlan): number {
  return launches.reduce((sum, { node }) => sum + launchesSaved(node), 0);
}

function kernelsText(count: number): string {
  return count === 1 ? '1 kernel' : `${count || 'no'} kernels`;
}

/** Text about the padding of temp buffers; empty if there is none. */
export function paddingText(elements: number): string {
  return elements > 0 ? `, each temp padded by ${elements} element${elements === 1 ? '' : 's'}` : '';
}

/** Text about chunks of batches; empty for a single chunk. */
export function chunkText(chunks: number, interleaved: Interleaving | undefined): string {
  if (chunks === 1) return '';
  if (!interleaved) return `, ${chunks} chunks of batches through all of them one after another`;
  return ` as one, ${chunks} chunks of batches, the first launch ${interleaved.ahead} ahead of the second`;
}

function lengthText({ lengths, radices, digits, steps }: LaunchFacts): string {
  const [step] = steps;
  if (step?.do === 'bands' && !step.there) return `${step.bands} bands`;
  const each = lengths.map((length, d) =>
    radices[d]!.length > 0 ? `${length} = ${radices[d]!.join('·')}` : `${length} coordinates`,
  );
  if (!digits) return each.join(' by ');
  const [first, second, ...others] = each;
  return [`${lengths[0]! * lengths[1]!} in two digits, ${first} and ${second}`, ...others].join(', by ');
}

function nodeFacts(node: PlanNode): NodeFacts {
  const { scheme, title, length, outputLength, children } = node;
  const parts = 'parts' in node && node.parts ? { parts: node.parts } : {};
  return { scheme, title, ...parts, length, outputLength, children: children.map(nodeFacts) };
}

function candidateLines(candidates: CandidateList): string[] {
  const { unit, list } = candidates;
  if (list.length === 0) return [];
  return [`candidates by price in ${unit}: ${list.map(candidateText).join('; ')}`, ...priceLines(candidates)];
}

/** The facts of a plan as indented text. */
export function explainPlan(plan: ReturnType<typeof planToJson>): string {
  const { problem, device } = plan;
  const lines = [
    `${problem.size.join(' × ')} ${transformKinds(problem)}, ${problem.precision} precision, ${problem.placement}, on ${device.name} (${device.kind})`,
    ...callbackLines(problem),
    ...(problem.bands ? [`${problem.bands.length} bands of bins`] : []),
    `tables ${bytesText(plan.bytes.tables)}, temp ${bytesText(plan.bytes.temp)}`,
    ...candidateLines(plan.candidates),
  ];
  for (const { direction, tree, assignment, launches, chunks, turns, bytesMoved } of plan.directions) {
    const { criteria } = assignment;
    lines.push(
      '',
      `${direction}: ${launches.length} launch${launches.length === 1 ? '' : 'es'}${chunkText(chunks, turns)}, ${bytesText(bytesMoved)} moved`,
      `buffers ${assignment.buffers.join(', ')} (best of ${assignment.candidates}${reasonText(assignment.decidedBy)}: ${criteria.buffers} used, ${criteria.inPlace} in place, ${criteria.typeChanges} type changes; fusion saves ${kernelsText(criteria.fused)})${paddingText(assignment.padding)}`,
    );
    let next = 0;
    const walk = (node: NodeFacts, depth: number) => {
      const indent = '  '.repeat(depth);
      if (node.children.length > 0) {
        lines.push(
          `${indent}${node.scheme} ${node.title}: ${lengthsText(node.length)} → ${lengthsText(node.outputLength)}`,
        );
        for (const child of node.children) walk(child, depth + 1);
        return;
      }
      const launch = launches[next++]!;
      lines.push(
        `${indent}${launch.scheme} ${launch.title}: ${launch.from} → ${launch.to}`,
        `${indent}    length ${lengthText(launch)}${launch.padded ? ', a cyclic convolution' : ''}, lanes along ${launch.lanesAlong}, ${launch.transformsPerGroup} per group, ${launch.groups} groups × ${launch.blocks ? `${launch.blocks} blocks × ` : ''}${launch.threads} threads`,
        ...gridLines(launch).map((line) => `${indent}    ${line}`),
        `${indent}    batch ${launch.batch.join(' × ')}${twiddlesText(launch)}${stagedText(launch)}`,
        `${indent}    memory ${launch.memory.input} → ${launch.memory.output}`,
        `${indent}    from ${operandText(launch.operands.input)} to ${operandText(launch.operands.output)}`,
        `${indent}    steps ${launchParts(launch)
          .map(({ text }) => text)
          .join(', ')}${launch.fused.length > 0 ? `; fused: ${launch.fused.join(', ')}` : ''}`,
        `${indent}    kernel ${launch.kernel}: reads ${bytesText(launch.bytesRead)}, writes ${bytesText(launch.bytesWritten)}`,
      );
    };
    walk(tree, 1);
  }
  return lines.join('\n');
}

/** Lines about the callbacks; none without callbacks. */
function callbackLines({ callbacks }: Pick<Problem, 'callbacks'>): string[] {
  if (!callbacks) return [];
  const names = (['forward', 'inverse'] as const).flatMap((direction) =>
    (['load', 'bin', 'store'] as const).flatMap((what) => {
      const pair: Partial<BuiltCallbacks['forward']> = callbacks[direction];
      const built = pair[what];
      if (!built) return [];
      const arrays = arraysOf(built);
      const from = arrays.length > 0 ? ` of ${arrays.join(', ')}` : '';
      return [
        `${direction}.${what}${from}${built.takes === built.gives ? '' : ` to ${built.gives === 'real' ? 'reals' : 'complex numbers'}`}`,
      ];
    }),
  );
  return [`callbacks ${names.join(', ') || 'none, but arrays'}`];
}

/** The kind of transform: one word if it is the same for all axes. */
export function transformKinds({ transform }: Pick<Problem, 'transform'>): string {
  const [first] = transform;
  const isOne = first === 'r2c' || transform.every((kind) => kind === first);
  return isOne ? first! : transform.join(' × ');
}

function twiddlesText({ twiddles, outerTwiddles }: LaunchFacts): string {
  if (!twiddles) return '';
  return `, twiddles of ${twiddles}${outerTwiddles ? ` and ${outerTwiddles}` : ''}`;
}

/** `1024·1024 at 2.31` */
function candidateText({ splits, price, milliseconds, chosen }: CandidateFacts): string {
  const time = milliseconds === undefined ? '' : `, ${milliseconds.toPrecision(3)} ms`;
  return `${splitsText(splits)} at ${price.toFixed(2)}${time}${chosen ? ' (chosen)' : ''}`;
}

/** Lines about the parts of the plan's price, and the price of the next candidate in relation to it. */
function priceLines({ list }: CandidateList): string[] {
  const at = list.findIndex(({ chosen }) => chosen);
  const plan = list[at];
  if (!plan) return [];
  const { start, trips, passes, rest } = plan.parts;
  const parts = [`trips ${trips.toFixed(2)}`, `passes ${passes.toFixed(2)}`, `start ${start.toFixed(2)}`];
  const rival = list[at === 0 ? 1 : 0];
  const other = rival ? `; ${at === 0 ? 'the next' : 'the cheapest'} is ${differenceText(rival, plan)}` : '';
  const launches = `${plan.launches} launch${plan.launches === 1 ? '' : 'es'}`;
  return [`price of ${launches}: ${parts.join(' + ')} + rest ${rest.toFixed(2)}${other}`];
}

/** The difference between a candidate's price and the plan's, in percent. */
export function differenceText(one: Pick<CandidateFacts, 'price'>, plan: Pick<CandidateFacts, 'price'>): string {
  const share = plan.price > 0 ? one.price / plan.price - 1 : 0;
  return `${(100 * Math.abs(share)).toFixed(1)} % ${share < 0 ? 'cheaper' : 'dearer'}`;
}

/** The scheme of each axis; axes that share launches come first, threads that were timed last. */
export function splitsText({ shared, axes, threads }: CandidateFacts['splits']): string {
  const parts = axes.flatMap((scheme) => (scheme ? [schemeText(scheme)] : []));
  if (shared?.launches === 1) parts.unshift(`${shared.axes} axes in one launch`);
  else if (shared) parts.unshift(`axes in two launches, the second of them as ${shared.parts.join('·')}`);
  return (parts.join(' × ') || 'a copy') + (threads === undefined ? '' : ` by ${threads} threads`);
}

/** Lines about the grid, if one dimension of one launch cannot hold all groups. */
function gridLines({ grid }: LaunchFacts): string[] {
  if (!grid || (grid.launches === 1 && grid.blocks[1] * grid.blocks[2] === 1)) return [];
  const text = `in ${grid.blocks.join(' × ')}`;
  return [grid.launches === 1 ? text : `${text}, launched ${grid.launches} times`];
}

function stagedText({ staged }: LaunchFacts): string {
  if (staged.input && staged.output) return ', transposed on the way in and out';
  if (staged.input) return ', transposed on the way in';
  return staged.output ? ', transposed on the way out' : '';
}

/** Bytes with a binary prefix. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[unit]}`;
}

/**
 * A deep copy of plain data. Callers get copies of reports and profiles, so that their changes do not reach the lists that
 * later plans are made from.
 */
export function deepCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(deepCopy) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, deepCopy(field)])) as T;
}
