/** The room's entry: layouts as data, their constructors and queries. */
export { contiguousRun, knownZeros, mayJoin, neighbourStep } from './along.ts';
export { type Box, boxes } from './boxes.ts';
export * from './constructors.ts';
export { type Element, type ElementCall, elementAt } from './elements.ts';
export type { Layout, Mapped, Order, Row, RowBound } from './layout.ts';
export { orderIndices } from './normal-form.ts';
export { aligned, type Extent, extent, injective, mayMeet, separate } from './places.ts';
export { allInMemory, isMemory, memory, zeros } from './plain.ts';
export { printLayout } from './print.ts';
export { type Run, runs } from './runs.ts';
export { isOverNumbers, line, numbers, through } from './through.ts';
export { join, stack, strideOf } from './usual.ts';
