/** Options by the names that they had before: taken for one more version, with a warning. */

/** What has been said already: each thing once in a process. */
const told = new Set<string>();

/** Says on the console what is to be written instead, the first time that it is asked to. */
export function warnOnce(message: string): void {
  if (told.has(message)) return;
  told.add(message);
  console.warn(`omnifft: ${message}`);
}

/**
 * Options in which old names have become new ones. Where both are given, the new one counts.
 * @param names what each old name is called now
 */
export function renamed<T extends object>(options: T, what: string, names: Readonly<Record<string, string>>): T {
  const old = Object.keys(names).filter((name) => (options as Record<string, unknown>)[name] !== undefined);
  if (old.length === 0) return options;
  const all = { ...options } as Record<string, unknown>;
  for (const name of old) {
    warnOnce(`${what}: ${name} is ${names[name]} now; the old name goes with the next version.`);
    all[names[name]!] ??= all[name];
    delete all[name];
  }
  return all as T;
}
