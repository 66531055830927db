/**
 * Imports a module by a name that bundlers must not see, because they would try to resolve modules that exist only at run time or are optional. The
 * build for browsers replaces this file (scripts/bundle-browser.mjs): minifying loses the comments that bundlers obey, and a browser has no such
 * modules.
 */
export async function importModule<T>(name: string): Promise<T | undefined> {
  return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as T;
}

/** Whether modules of Node and packages can be loaded: never in the build for browsers, wherever it runs. */
export const canImport: boolean = true;
