/** Results as text for people and as JSON for machines. */
import type { Figure, Result, Row, Table } from './table.ts';

export function met({ value, atLeast, atMost }: Figure): boolean | undefined {
  if (atLeast !== undefined) return value >= atLeast;
  if (atMost !== undefined) return value <= atMost;
  return undefined;
}

export function text(table: Table, { rows, figures, notes }: Result): string {
  const lines = [`${table.name}: ${table.title}`];
  if (rows.length > 0) lines.push(...align(timingCells(rows)));
  if (figures.length > 0) lines.push(...align(figures.map(figureCells)));
  return [...lines, ...notes.map((note) => `  (${note})`), ''].join('\n');
}

/** A column for each subject of any row: microseconds, and for peers how many times faster we are. */
function timingCells(rows: readonly Row[]): string[][] {
  const names = [...new Set(rows.flatMap(({ timings }) => timings.map(({ name }) => name)))];
  const head = ['', ...names.map((name, i) => (i === 0 ? `${name} µs` : `${name} µs  (×)`))];
  const body = rows.map(({ label, timings, ratios }) => [
    label,
    ...names.map((name) => {
      const timing = timings.find((each) => each.name === name);
      if (!timing) return '–';
      const ratio = ratios.find(({ peer }) => peer === name);
      return ratio ? `${digits(timing.minimum)}  (${ratio.value.toFixed(2)})` : digits(timing.minimum);
    }),
  ]);
  return [head, ...body];
}

function figureCells(figure: Figure): string[] {
  const { label, value, unit, atLeast, atMost } = figure;
  const target = atLeast !== undefined ? `at least ${atLeast}` : atMost !== undefined ? `at most ${atMost}` : '';
  const verdict = met(figure);
  return [label, `${value.toFixed(2)} ${unit}`, target, verdict === undefined ? '' : verdict ? 'ok' : 'MISS'];
}

/** Four significant digits without an exponent. */
function digits(value: number): string {
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(4);
}

/** First column to the left, the others to the right, two spaces between. */
function align(cells: readonly (readonly string[])[]): string[] {
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells.map((row) =>
    `  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')}`.trimEnd(),
  );
}

/** Everything measured, with the times of all turns. */
export function json(head: object, measured: readonly { table: Table; result: Result }[]): string {
  const tables = measured.map(({ table: { name, title }, result: { rows, figures, notes } }) => ({
    name,
    title,
    rows,
    figures: figures.map((figure) => ({ ...figure, ok: met(figure) })),
    notes,
  }));
  return JSON.stringify({ ...head, tables }, null, 2);
}
