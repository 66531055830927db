/**
 * Deno's permissions. They are queried before anything that needs one is attempted: the attempt itself would prompt the user, and block the program
 * until the prompt is answered.
 */

/** A permission in Deno's terms, as far as devices need it. */
type Permission =
  | { readonly name: 'read' | 'ffi' }
  | { readonly name: 'read' | 'write'; readonly path: string }
  | { readonly name: 'env'; readonly variable: string }
  | { readonly name: 'sys'; readonly kind: 'cpus' | 'systemMemoryInfo' };

interface DenoPermissions {
  querySync(permission: Permission): { readonly state: string };
}

/** Whether a permission is granted. True outside Deno, where forbidden operations fail when they are attempted. */
export function isPermitted(permission: Permission): boolean {
  const { Deno } = globalThis as { Deno?: { readonly permissions?: DenoPermissions } };
  // `querySync` is called as a method, because Deno checks its `this`.
  return !Deno?.permissions?.querySync || Deno.permissions.querySync(permission).state === 'granted';
}

/** A variable of the environment; undefined also if it may not be read or there is no environment. */
export function environmentVariable(name: string): string | undefined {
  if (typeof process === 'undefined' || !process.versions?.node) return undefined;
  return isPermitted({ name: 'env', variable: name }) ? process.env[name] : undefined;
}

/** The result of a system function; undefined if calling it is forbidden. */
export function askSystem<T>(permission: Permission, ask: () => T): T | undefined {
  if (!isPermitted(permission)) return undefined;
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** The reason why native libraries cannot be loaded, if that is known before an attempt. */
export function librariesForbidden(): string | undefined {
  const lacking = (['read', 'ffi'] as const).filter((name) => !isPermitted({ name }));
  if (lacking.length === 0) return undefined;
  const flags = lacking.map((name) => `--allow-${name}`).join(' and ');
  return `it is a library of the system, which Deno loads only with ${flags}`;
}
