/** The room's door: layouts as data, and what can be asked of them. */
export {
  contiguousRun,
  isMemory,
  knownZeros,
  mayJoin,
  neighbourStep,
  type Run,
  runs,
  strideOf,
} from './along.ts';
export * from './constructors.ts';
export { type Element, type ElementCall, elementAt } from './elements.ts';
export type { Layout, Order, Row, RowBound } from './layout.ts';
export { entriesOf } from './normal-form.ts';
export { aligned, type Box, boxes, type Extent, extent, injective, mayMeet, separate } from './places.ts';
export { print } from './print.ts';
