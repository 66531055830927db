/** `plan/buffers`: which memory each step of a plan reads and writes. */
export { type Assignment, assignBuffers } from './assign.ts';
export { type AvailableBuffers, type BufferName, memoryOf } from './available-buffers.ts';
export { type Criteria, decidingCriterion } from './trace.ts';
