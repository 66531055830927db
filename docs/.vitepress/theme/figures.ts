/** Tables of measurements as plots, above the tables. The numbers are those of the page: there is no other copy of them. */
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface Figure {
  readonly title: string;
  readonly unit: string;
  /** Points of a transform. */
  readonly lengths: readonly number[];
  readonly curves: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

/** Fewer are no curve. */
const LEAST_ROWS = 3;

const COLOURS = ['#3b73d9', '#e07b28', '#2c9c69', '#b04fc4', '#8a8f98', '#c23b4e', '#7a6a2f'];

export async function drawFigures(page: HTMLElement): Promise<void> {
  const places = [
    ...page.querySelectorAll<HTMLElement>('.language-text:not([data-figures]), table:not([data-figures])'),
  ];
  const figures = places.map((place) => {
    place.dataset.figures = '';
    return place.tagName === 'TABLE'
      ? ofTable(place as HTMLTableElement)
      : ofText(place.querySelector('code')?.textContent ?? '');
  });
  if (figures.every((found) => found.length === 0)) return;
  // uPlot asks for the browser's language when it is loaded, which may be one that `Intl` refuses.
  await import('../../../playground/src/language.ts');
  const { default: Plot } = await import('uplot');
  places.forEach((place, n) => {
    if (figures[n]!.length === 0) return;
    const box = Object.assign(document.createElement('div'), { className: 'figures' });
    place.before(box);
    for (const figure of figures[n]!) draw(Plot, figure, box);
  });
}

/** Of the benchmark's own output: a block of lines `2^k [precision]  µs  µs (×) …` under a title and the names of the columns. */
function ofText(text: string): Figure[] {
  return text.split(/\n\n+/).flatMap((block) => {
    const lines = block.split('\n');
    const first = lines.findIndex((line) => /^\s*2\^\d+\s/.test(line));
    if (first < 2) return [];
    const names = [...lines[first - 1]!.matchAll(/(\S.*?) µs/g)].map(([, name = '']) => name.replace(/^\(×\)\s*/, ''));
    // Other units, or none.
    if (names.length === 0) return [];
    const rows = lines.flatMap((line) => {
      const [, power, precision = '', numbers = ''] = /^\s*2\^(\d+)(?: (single|double))?\s+([\d–].*)/.exec(line) ?? [];
      const micros = numbers
        .replace(/\([^)]*\)/g, '')
        .trim()
        .split(/\s+/)
        .map(Number);
      return power === undefined ? [] : [{ n: 2 ** Number(power), precision, micros }];
    });
    return [...new Set(rows.map(({ precision }) => precision))].flatMap((precision) => {
      const of = rows.filter((row) => row.precision === precision);
      if (of.length < LEAST_ROWS) return [];
      const all = names.map((name, k) => ({
        name,
        values: of.map(({ n, micros }) => (micros[k]! > 0 ? (5 * n * Math.log2(n)) / micros[k]! / 1000 : null)),
      }));
      const curves = all.filter(({ values }) => values.some((value) => value !== null));
      const title = [lines[first - 2]!, precision].filter((part) => part !== '').join(': ');
      return [{ title, unit: 'GFLOP/s', lengths: of.map(({ n }) => n), curves }];
    });
  });
}

/** Of a table of lengths with columns of GB/s. */
function ofTable(table: HTMLTableElement): Figure[] {
  const [head, ...rows] = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent?.trim() ?? ''));
  const columns = head?.flatMap((name, k) => (name === 'GB/s' ? [k] : [])) ?? [];
  if (head?.[0] !== 'length' || columns.length === 0) return [];
  const known = rows.filter(([length]) => Number(length) > 0).sort((a, b) => Number(a[0]) - Number(b[0]));
  const curves = columns.map((k) => ({
    name: head[k - 1]!.replace(/:.*/, ''),
    values: known.map((row) => Number(row[k]) || null),
  }));
  return [
    { title: 'bytes in and out over the time', unit: 'GB/s', lengths: known.map(([length]) => Number(length)), curves },
  ];
}

function draw(Plot: typeof uPlot, { title, unit, lengths, curves }: Figure, box: HTMLElement): void {
  const place = box.appendChild(document.createElement('div'));
  const ink = getComputedStyle(place).color;
  const axis = { stroke: ink, grid: { stroke: '#8883', width: 1 }, ticks: { stroke: '#8883' } };
  const plot = new Plot(
    {
      ...{ title, width: Math.max(280, box.clientWidth), height: 260 },
      scales: { x: { time: false, distr: 3, log: 2 }, y: { range: (_, __, most) => [0, most * 1.05] } },
      axes: [
        {
          ...axis,
          values: (_, ticks) => ticks.map((n) => (Number.isInteger(Math.log2(n)) ? `2^${Math.log2(n)}` : '')),
        },
        { ...axis, label: unit },
      ],
      series: [
        { label: 'points', value: (_, n) => String(n ?? '') },
        ...curves.map(({ name }, n) => ({
          label: name,
          stroke: COLOURS[n % COLOURS.length]!,
          width: 2,
          points: { size: 5 },
          value: (_: unknown, v: number | null) => (v === null ? '–' : v.toPrecision(3)),
        })),
      ],
    },
    [[...lengths], ...curves.map(({ values }) => [...values])],
    place,
  );
  new ResizeObserver(() => plot.setSize({ width: Math.max(280, box.clientWidth), height: 260 })).observe(box);
}
