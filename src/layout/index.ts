/** The room's entry: layouts as data, their constructors and queries. */

export type { Layout, Mapped, Order, Row, RowBound } from './layout.ts';
export * from './normal-form/constructors.ts';
export { orderIndices } from './normal-form/normal-form.ts';
export { allInMemory, isMemory, memory, zeros } from './normal-form/plain.ts';
export { printLayout } from './print.ts';
export { contiguousRun, knownZeros, mayJoin, neighbourStep } from './queries/along.ts';
export { type Box, boxes } from './queries/boxes.ts';
export { type Element, type ElementCall, elementOfLayout } from './queries/elements.ts';
export { aligned, type Extent, extent, injective, mayMeet, separate } from './queries/places.ts';
export { type Run, runs } from './queries/runs.ts';
export { isOverNumbers, numbers, seenThrough, wholeLine } from './queries/through.ts';
export { join, stack, strideAlong } from './usual.ts';
