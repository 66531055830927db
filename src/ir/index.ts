/** The room's entry: the language that kernels are built in and printed from. */
export * from './arrays.ts';
export { dependencesOf, type LoopDependence } from './dependences.ts';
export * from './guard.ts';
export * from './integer.ts';
export * from './kernel.ts';
export {
  type BinaryOp,
  type Comparison,
  type Complex,
  countOperations,
  Expressions,
  type FoldLoop,
  type FoldNode,
  isZeroConstant,
  type LoadNode,
  mapOperands,
  operandsOf,
  type Real,
  reachable,
  type UnaryOp,
} from './real.ts';
export * from './tables.ts';
export { verify } from './verify.ts';
export * from './views.ts';
