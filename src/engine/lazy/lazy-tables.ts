/**
 * Tables of the groups of lazy modules, by name. `loaders` import groups when a problem needs them, `programLoaders` import groups
 * that only programs of patterns need, `profileLoaders` import groups for profiled devices. Callers who cannot wait use tables of
 * loaded groups: `allAtOnce` has every group that a CPU may need, `streamsAtOnce` has the groups for streams of real frames.
 * The sources import all modules directly, so the tables here are empty; the build for browsers fills the one that an importer
 * names (scripts/lazy-modules.mjs).
 */
import type { LazyGroup } from './lazy-modules.ts';

export const loaders: { readonly [name in LazyGroup]?: () => Promise<object> } = {};
export const programLoaders: { readonly [name in LazyGroup]?: () => Promise<object> } = {};
export const profileLoaders: { readonly [name in LazyGroup]?: () => Promise<object> } = {};
export const allAtOnce: { readonly [name in LazyGroup]?: object } = {};
export const streamsAtOnce: { readonly [name in LazyGroup]?: object } = {};
