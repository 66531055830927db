/** Extension of a signal beyond its ends, for a limited number of samples. */
import type { Floats } from './floats.ts';

/**
 * SciPy's kinds of boundary: the signal mirrored at its ends (`even`), mirrored at them with the other sign (`odd`), its end values (`constant`),
 * zeros, or nothing.
 */
export type Boundary = 'even' | 'odd' | 'constant' | 'zeros' | null;
export const boundaries: readonly Boundary[] = ['even', 'odd', 'constant', 'zeros', null];

/**
 * Writes the extension before and after a signal that stands in `line`.
 *
 * @param line interleaved numbers, `parts` for each sample
 * @param from first sample of the signal in `line`
 * @param length samples of the signal
 * @param edge samples to write before the signal; at most length − 1 for a mirrored signal
 * @param behind samples to write behind the signal; default `edge`
 */
export function extend(
  line: Floats,
  {
    from,
    length,
    edge,
    behind = edge,
    parts,
  }: {
    readonly from: number;
    readonly length: number;
    readonly edge: number;
    readonly behind?: number;
    readonly parts: 1 | 2;
  },
  boundary: Boundary,
): void {
  const last = from + length - 1;
  for (let part = 0; part < parts; part++) {
    const at = (sample: number) => sample * parts + part;
    const [first, end] = [line[at(from)]!, line[at(last)]!];
    for (let k = 1; k <= edge; k++) line[at(from - k)] = extrapolated(boundary, first, line[at(from + k)]!);
    for (let k = 1; k <= behind; k++) line[at(last + k)] = extrapolated(boundary, end, line[at(last - k)]!);
  }
}

/** The sample beyond an end that mirrors the sample `inner`. */
function extrapolated(boundary: Boundary, end: number, inner: number): number {
  if (boundary === 'even') return inner;
  if (boundary === 'odd') return 2 * end - inner;
  return boundary === 'constant' ? end : 0;
}
