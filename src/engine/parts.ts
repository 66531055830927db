/**
 * How parts of the library are loaded, by name. Here there are none, because nothing is left out; the build for browsers has
 * another table in the place of this one (scripts/bundle-browser.mjs).
 */
export const partLoaders: Readonly<Record<string, () => Promise<object>>> = {};
