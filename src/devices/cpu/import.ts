/**
 * Loads a module by a name that bundlers are not to see: they would look for what is only there at run time, or need not be
 * there at all. The build for browsers has another file in the place of this one (scripts/bundle-browser.mjs): minified, the
 * comments that bundlers go by would be lost, and there is nothing to load.
 */
export async function importModule<T>(name: string): Promise<T | undefined> {
  return (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as T;
}

/** Whether there may be modules of Node and packages at all: not in the build for browsers, wherever that runs. */
export const canImport: boolean = true;
