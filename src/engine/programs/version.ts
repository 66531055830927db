/** The version of the package; a test holds it against package.json. Saved plans carry it. */
export const version = '0.1.0';
