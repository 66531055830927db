/**
 * The store of compiled code for callers that cannot wait. The build for browsers has none for them, because it cannot load a module synchronously.
 */
export { systemStoreSync } from './system.ts';
