/** The room's door: everything that kernels are built from and printed from. */
export * from './arrays.ts';
export * from './integer.ts';
export * from './kernel.ts';
export { type Complex, countOperations, Expressions, type Real, reachable } from './real.ts';
export * from './tables.ts';
export { verify } from './verify.ts';
export * from './views.ts';
