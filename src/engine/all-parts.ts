/**
 * All parts that a processor may need, for callers who cannot wait. Where nothing is left out there are none; the build for
 * browsers has them in the place of this file (scripts/bundle-browser.mjs).
 */
export const allParts: Readonly<Record<string, object>> = {};
