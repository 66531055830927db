/** The node of an axis of complex numbers, from its scheme. */
import type { Direction, Problem } from '../../problem/index.ts';
import type { Target } from '../device/target.ts';
import type { PlanNode } from '../tree/node.ts';
import { axisPlace, lengthened } from './axis.ts';
import type { Bluestein, ComplexScheme } from './axis-scheme.ts';
import { convolvedInSeveral } from './bluestein.ts';
import { type AxisPlace, axisNode, convolvedNode } from './four-step.ts';

/** @param place of the axis; its other dimensions may differ from the problem's */
export function schemeNode(
  problem: Problem,
  axis: number,
  target: Target,
  place: AxisPlace,
  scheme: ComplexScheme,
): PlanNode {
  if (scheme.by === 'uploads') return axisNode(place, scheme.lengths);
  if (scheme.by === 'rader') return convolvedNode(place, { by: 'rader', length: place.length - 1 });
  if (!scheme.uploads) return convolvedNode(place, { by: 'bluestein', length: scheme.length });
  return inSeveralLaunches(problem, axis, target, place, scheme);
}

function inSeveralLaunches(
  problem: Problem,
  axis: number,
  target: Target,
  place: AxisPlace,
  { length, uploads = [length], apart }: Bluestein,
): PlanNode {
  const longer = lengthened(problem, axis, length);
  const longPlace = (direction: Direction): AxisPlace => ({
    ...axisPlace(longer, direction, axis, target),
    others: place.others,
    tensor: place.tensor.map((count, of) => (of === place.dimension ? length : count)),
  });
  const [forward, inverse] = [axisNode(longPlace('forward'), uploads), axisNode(longPlace('inverse'), uploads)];
  return convolvedInSeveral([forward, inverse], place, length, apart);
}
