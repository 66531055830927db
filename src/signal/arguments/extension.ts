/** Extension of a signal beyond its ends, to any distance, by SciPy's names. */

/**
 * Kinds of extension. `constant`: a given value; `edge`: the end values; `wrap`: the signal repeated; `symmetric`: mirrored, with the end samples
 * repeated; `reflect`: mirrored at the end samples; `antisymmetric` and `antireflect`: mirrored likewise with the opposite sign; `line`: the line
 * through both end samples; `smooth`: the line through the two samples at each end.
 */
export type Extension =
  | 'constant'
  | 'edge'
  | 'wrap'
  | 'symmetric'
  | 'reflect'
  | 'antisymmetric'
  | 'antireflect'
  | 'line'
  | 'smooth';
export const extensions: readonly Extension[] = [
  ...(['constant', 'edge', 'wrap', 'symmetric', 'reflect', 'antisymmetric', 'antireflect', 'line', 'smooth'] as const),
];

/** Writes the extension before and after a signal that begins at `from` in `line`. @param cval value of `constant` */
export function extendLine(line: Float64Array, from: number, length: number, mode: Extension, cval = 0): void {
  const inside = line.slice(from, from + length);
  const value = beyondOf(inside, mode, cval);
  for (let k = 0; k < from; k++) line[k] = value(k - from);
  for (let k = from + length; k < line.length; k++) line[k] = value(k - from);
}

const modulo = (value: number, by: number) => value - by * Math.floor(value / by);

/** The value at an index before or behind some samples. */
function beyondOf(x: Float64Array, mode: Extension, cval: number): (index: number) => number {
  const n = x.length;
  const [first, last] = [x[0]!, x[n - 1]!];
  switch (mode) {
    case 'constant':
      return () => cval;
    case 'edge':
      return (index) => (index < 0 ? first : last);
    case 'wrap':
      return (index) => x[modulo(index, n)]!;
    case 'symmetric':
    case 'antisymmetric': {
      const sign = mode === 'symmetric' ? 1 : -1;
      return (index) => {
        const place = modulo(index, 2 * n);
        return place < n ? x[place]! : sign * x[2 * n - 1 - place]!;
      };
    }
    case 'line':
      return lineThrough(0, first, n - 1, last);
    case 'smooth': {
      const [before, after] = [
        lineThrough(0, first, 1, x[1] ?? first),
        lineThrough(n - 2, x[n - 2] ?? last, n - 1, last),
      ];
      return (index) => (index < 0 ? before(index) : after(index));
    }
    default:
      return mirrored(x, mode === 'antireflect');
  }
}

function lineThrough(x0: number, y0: number, x1: number, y1: number): (x: number) => number {
  const slope = x1 === x0 ? 0 : (y1 - y0) / (x1 - x0);
  return (x) => y0 + slope * (x - x0);
}

/** The extension that is mirrored at the end samples, or rotated by half a turn about them (`turned`). */
function mirrored(x: Float64Array, turned: boolean): (index: number) => number {
  const n = x.length;
  const period = 2 * (n - 1);
  if (period === 0) return () => x[0]!;
  const rise = 2 * (x[n - 1]! - x[0]!);
  return (index) => {
    const place = modulo(index, period);
    if (!turned) return x[place < n ? place : period - place]!;
    const base = place < n ? x[place]! : 2 * x[n - 1]! - x[period - place]!;
    return base + rise * Math.floor(index / period);
  };
}
