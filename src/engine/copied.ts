/**
 * A deep copy of plain data. Reports and profiles leave as copies: what somebody does to them must not reach the lists that
 * later plans are made of.
 */
export function copied<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copied) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, copied(field)])) as T;
}
