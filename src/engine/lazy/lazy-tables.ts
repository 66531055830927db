/**
 * Tables of the groups of lazy modules, by name. `loaders` imports a group when a problem needs it, `programLoaders` one that
 * only programs of patterns need, `profileLoaders` one that comes with profiles. Callers who cannot wait get their
 * groups at once: `allAtOnce` has every group that a CPU may need, `streamsAtOnce` those that a stream of real frames may need.
 * The sources import all modules directly, so the tables here are empty; the build for browsers fills the one that an importer
 * names (scripts/lazy-modules.mjs).
 */
import type { LazyGroup } from './lazy-modules.ts';

export const loaders: { readonly [name in LazyGroup]?: () => Promise<object> } = {};
export const programLoaders: { readonly [name in LazyGroup]?: () => Promise<object> } = {};
export const profileLoaders: { readonly [name in LazyGroup]?: () => Promise<object> } = {};
export const allAtOnce: { readonly [name in LazyGroup]?: object } = {};
export const streamsAtOnce: { readonly [name in LazyGroup]?: object } = {};
