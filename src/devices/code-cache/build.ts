/** Which code of omnifft this is. Compiled code that another version, or another state of the sources, has written is not used. */
declare const OMNIFFT_BUILD: string | undefined;

/** A digest of the sources that a build was made of; undefined where the sources themselves run, which may change at any time. */
export const buildDigest: string | undefined = typeof OMNIFFT_BUILD === 'string' ? OMNIFFT_BUILD : undefined;
