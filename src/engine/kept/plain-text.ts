/** The most entries of a list or fields of an object. Larger ones are read field by field (problem/input/snapshot.ts). */
const MOST_ENTRIES = 64;
const MOST_LEVELS = 5;

/**
 * Plain data as text: equal texts are equal data. No code of the caller runs, neither getters nor proxies.
 * @returns undefined if the data is not plain: if it contains functions, getters, classes, symbols, numbers that JSON lacks, or `undefined`.
 */
export function plainText(value: unknown, levels = MOST_LEVELS): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? `${value}` : undefined;
    case 'object':
      return value === null ? 'null' : levels > 0 ? textOfFields(value, levels) : undefined;
    default:
      return undefined;
  }
}

function textOfFields(value: object, levels: number): string | undefined {
  const isList = Array.isArray(value);
  if (Object.getPrototypeOf(value) !== (isList ? Array.prototype : Object.prototype)) return undefined;
  const fields = Object.getOwnPropertyDescriptors(value) as Record<string, PropertyDescriptor>;
  const names = Reflect.ownKeys(fields);
  if (names.length > MOST_ENTRIES) return undefined;
  const parts: string[] = [];
  for (const name of names) {
    // `length` is an own field of every list, and follows from the entries.
    if (isList && name === 'length') continue;
    if (typeof name !== 'string' || (isList && name !== `${parts.length}`)) return undefined;
    const field = fields[name]!;
    const text = field.enumerable && 'value' in field ? plainText(field.value, levels - 1) : undefined;
    if (text === undefined) return undefined;
    parts.push(isList ? text : `${JSON.stringify(name)}:${text}`);
  }
  if (isList && parts.length !== value.length) return undefined;
  return isList ? `[${parts.join()}]` : `{${parts.join()}}`;
}
