/**
 * What Deno lets a program do only where whoever started it has said so. It is asked here before anything of that is tried:
 * trying would stop a program that runs in a terminal until somebody has answered a question.
 */

/** In Deno's words, as far as devices need them. */
type Permission =
  | { readonly name: 'read' | 'ffi' }
  | { readonly name: 'read' | 'write'; readonly path: string }
  | { readonly name: 'env'; readonly variable: string }
  | { readonly name: 'sys'; readonly kind: 'cpus' | 'systemMemoryInfo' };

interface DenoPermissions {
  querySync(permission: Permission): { readonly state: string };
}

/** True outside Deno: there, whatever is forbidden says so when it is tried. */
export function isPermitted(permission: Permission): boolean {
  const { Deno } = globalThis as { Deno?: { readonly permissions?: DenoPermissions } };
  // A method: Deno's checks what it is called on.
  return !Deno?.permissions?.querySync || Deno.permissions.querySync(permission).state === 'granted';
}

/** A variable of the environment; undefined also where it may not be read, or where there is no environment. */
export function environmentVariable(name: string): string | undefined {
  if (typeof process === 'undefined' || !process.versions?.node) return undefined;
  return isPermitted({ name: 'env', variable: name }) ? process.env[name] : undefined;
}

/** What a system function tells; undefined where asking it is forbidden. */
export function askSystem<T>(permission: Permission, ask: () => T): T | undefined {
  if (!isPermitted(permission)) return undefined;
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Why libraries of the system cannot be loaded here, where that is known before it is tried. */
export function librariesForbidden(): string | undefined {
  const lacking = (['read', 'ffi'] as const).filter((name) => !isPermitted({ name }));
  if (lacking.length === 0) return undefined;
  const flags = lacking.map((name) => `--allow-${name}`).join(' and ');
  return `it is a library of the system, which Deno loads only with ${flags}`;
}
