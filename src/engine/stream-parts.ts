/**
 * The parts that a stream of real frames may need, which cannot wait for them either. As all-parts.ts: none here, and another
 * table in the build for browsers.
 */
export const streamParts: Readonly<Record<string, object>> = {};
