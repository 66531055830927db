/**
 * How groups of lazy modules are had, by name: loaded when they are needed, or there at once for callers who cannot wait, which are
 * all that a processor may need, or those of streams of real frames. Here there are none, because nothing is left out; the build
 * for browsers gives each importer the table that it names (scripts/lazy-modules.mjs).
 */
import type { LazyGroup } from './lazy-modules.ts';

export const loaders: { readonly [name in LazyGroup]?: () => Promise<object> } = {};
export const allAtOnce: { readonly [name in LazyGroup]?: object } = {};
export const streamsAtOnce: { readonly [name in LazyGroup]?: object } = {};
