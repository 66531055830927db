/** The folder of compiled code for callers who cannot wait. In the build for browsers, where such callers may load nothing, there is none. */
export { systemStoreSync } from './system.ts';
