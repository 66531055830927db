/** `plan/buffers`: which memory each step of a plan reads and writes. */
export { type Assignment, assignBuffers } from './assign.ts';
export { type Criteria, decidingCriterion } from './criteria.ts';
export { type BufferName, type BufferOffer, memoryOf } from './offer.ts';
