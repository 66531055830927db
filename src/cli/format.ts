/** Numbers and tables in a readable form. */

const STEPS = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
] as const;

/** A duration with three digits: `12.3 ms`. */
export function duration(seconds: number): string {
  for (const [size, unit] of STEPS) if (seconds >= size) return `${threeDigits(seconds / size)} ${unit}`;
  return `${threeDigits(seconds * 1e9)} ns`;
}

/** Three significant digits without an exponent. */
export function threeDigits(value: number): string {
  const decimals = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(decimals, 20));
}

/** Rows as aligned columns, two spaces apart. */
export function alignedRows(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
