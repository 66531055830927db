/** The room's door: layouts as data, and what can be asked of them. */
export * from './constructors.ts';
export { type Element, type ElementCall, elementAt } from './elements.ts';
export type { Layout, Order, Row, RowBound } from './layout.ts';
export { entriesOf } from './normal-form.ts';
export { print } from './print.ts';
