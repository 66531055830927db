/** The node of an axis that is convolved with more points than it has: in one launch, or in several. */
import type { Direction, Problem } from '../problem/index.ts';
import { axisPlace, convolvedLength, lengthened } from './axis.ts';
import { convolvedInSeveral } from './bluestein.ts';
import { type AxisPlace, axisNode, convolvedNode } from './four-step.ts';
import type { PlanNode } from './node.ts';
import type { DeviceProfile } from './profile.ts';

/**
 * @param place of the axis, whose other dimensions need not be those of the problem.
 * @throws FftError `unsupported-length`
 */
export function convolvedPlace(problem: Problem, axis: number, profile: DeviceProfile, place: AxisPlace): PlanNode {
  const { length, uploads, apart } = convolvedLength(problem, axis, profile);
  if (!uploads) return convolvedNode(place, length);
  const longer = lengthened(problem, axis, length);
  const longPlace = (direction: Direction): AxisPlace => ({
    ...axisPlace(longer, direction, axis, profile),
    others: place.others,
    tensor: place.tensor.map((count, of) => (of === place.of ? length : count)),
  });
  const ways = { there: axisNode(longPlace('forward'), uploads), back: axisNode(longPlace('inverse'), uploads) };
  return convolvedInSeveral(ways, place, length, apart ?? false);
}
