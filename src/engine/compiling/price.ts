/**
 * The price of a program in the planner's unit for a device (plan/price/cost.ts): transforms as the planner prices them, other kernels by
 * the bytes that they move and the operations that they take.
 */
import { type Kernel, operandsOf, type Phase, type Real } from '../../ir/index.ts';
import type { PlannedTransform, ProgramPieces } from '../../kernels/programs/index.ts';
import { rankSplits } from '../../plan/candidates.ts';
import type { DeviceProfile } from '../../plan/device/profile.ts';
import { type Target, targetOf } from '../../plan/device/target.ts';
import { leastCost, tripCost } from '../../plan/price/cost.ts';
import { complexPart } from '../../plan/schemes/complex-part.ts';
import { normalizeProblem, tensorShape } from '../../problem/index.ts';
import { lazyGroupsOf, loadGroups } from '../lazy/lazy-modules.ts';
import { problemOfTransform } from './transforms.ts';

/**
 * The number of operations and accesses of a kernel that take as long as one pass of radix 4 over a complex number. The values are fitted to
 * stencils of 9 to 1025 products of singles, on an H200 and on a processor with WebAssembly.
 */
const OPERATIONS_PER_PASS = { threads: 2.5, vector: 1 } as const;

export interface PriceRequest {
  readonly profile: DeviceProfile;
  readonly precision: 'single' | 'double';
  /** The length in reals of an input or the output, which are not among `ProgramPieces.buffers`. */
  realsIn(buffer: string): number;
}

export async function priceOfProgram(pieces: ProgramPieces, request: PriceRequest): Promise<number> {
  const target = targetOf(request.profile, request.precision);
  const kernels = new Map<Kernel, number>();
  const transforms = new Map<string, number>();
  const reals = (buffer: string) => pieces.buffers.get(buffer) ?? request.realsIn(buffer);
  let sum = 0;
  for (const launch of pieces.launches) {
    if ('transform' in launch) {
      const key = JSON.stringify(launch.transform);
      let price = transforms.get(key);
      if (price === undefined) transforms.set(key, (price = await transformPrice(launch.transform, request)));
      sum += price;
    } else {
      let operations = kernels.get(launch.kernel);
      if (operations === undefined) kernels.set(launch.kernel, (operations = operationsOfKernel(launch.kernel)));
      const moved = [...new Set([...launch.reads, launch.writes])].reduce((all, buffer) => all + reals(buffer), 0);
      sum += kernelPrice(moved, operations, target);
    }
  }
  return sum;
}

/** @param moved reals that are read or written @param operations operations and accesses of all items */
function kernelPrice(moved: number, operations: number, target: Target): number {
  // A memory pass (trip) reads one complex number and writes one, which are four reals.
  const trips = moved / 4;
  const passes = operations / OPERATIONS_PER_PASS[target.lockstep];
  const trip = tripCost(target);
  return leastCost(1, target).start + trip * (trips + passes / target.calibration.trip.passes);
}

/** The price of a planned transform. A convolution is a transform, a product and the inverse, which costs the same as the transform. */
async function transformPrice(transform: PlannedTransform, { profile, precision }: PriceRequest): Promise<number> {
  const { callbacks, convolution, ...plain } = problemOfTransform(transform, precision).problem;
  const problem = normalizeProblem(plain);
  await loadGroups(lazyGroupsOf(problem, profile));
  const { price } = rankSplits(problem, targetOf(profile, precision), 1)[0]!;
  const points = tensorShape(complexPart(problem), 'input').reduce((all, length) => all * length, 1);
  return (transform.times && !transform.prepares ? 2 : 1) * price * points;
}

function operationsOfKernel({ phases, group }: Kernel): number {
  return group.count * phases.reduce((sum, phase) => sum + operationsOfPhase(phase), 0);
}

function operationsOfPhase({ loops, stores }: Phase): number {
  const items = loops.reduce((all, { variable }) => all * variable.count, 1);
  const seen = new Set<object>();
  return items * stores.reduce((sum, { value }) => sum + 1 + operationsFor(value, seen), 0);
}

/** The operations and loads of a value, without nodes that are in `seen` already. The body of a fold counts once for each round. */
function operationsFor(value: Real, seen: Set<object>): number {
  const node = value.op === 'fold' ? value.loop : value;
  if (value.op === 'const' || value.op === 'carried' || seen.has(node)) return 0;
  seen.add(node);
  const all = (operands: readonly Real[]) => operands.reduce((sum, operand) => sum + operationsFor(operand, seen), 0);
  if (value.op !== 'fold') return 1 + all(operandsOf(value));
  const { over, first, next } = value.loop;
  return all(first) + over.count * all(next);
}
