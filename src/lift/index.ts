/**
 * `omnifft/lift`: programs of parallel patterns (LIFT), compiled for any device. See docs/lift.md.
 */
export * from '../patterns/index.ts';
