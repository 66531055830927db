/** `plan/buffers`: which memory each step of a plan reads and writes. */
export {
  type AssignedStep,
  type Assignment,
  type AssignmentSearch,
  assignBuffers,
  formatAssignment,
  type SearchOptions,
  searchAssignments,
} from './assign.ts';
export { type Criteria, compareCriteria } from './criteria.ts';
export type { ArrayType, BufferName, BufferOffer, Operand, TempCount, UserBuffer } from './offer.ts';
export { formatTrace, type PlacementTrace } from './trace.ts';
export { createValidity, type Validity } from './validity.ts';
