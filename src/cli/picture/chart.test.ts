/** Charts of values over length. */
import { describe, expect, it } from 'vitest';
import { chart } from './chart.ts';

const points = [
  [2, 1e-16],
  [1024, 3e-16],
] as const;

describe('a chart', () => {
  it('has a line for each set of figures, and one for the bound', () => {
    const lines = [
      { name: 'c2c', points },
      { name: 'allowed', points: points.map(([x, y]) => [x, 4 * y] as const), bound: true },
    ] as const;
    const svg = chart({ title: 'Errors', about: 'a < b', across: 'Length', lines });
    expect(svg.match(/<polyline/g)).toHaveLength(2);
    expect(svg).toContain('a &#60; b');
    expect(svg).toContain('1e-16');
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('begins at 0 where that is wanted, and writes large lengths as powers', () => {
    const lines = [{ name: 'one axis', points: [[2 ** 20, 3] as const] }];
    const svg = chart({ title: '', about: '', across: 'Points', up: 'GB/s', fromZero: true, lines });
    expect(svg).toMatch(/>0<.*>2²⁰<|>2²⁰<.*>0</s);
    expect(svg).toContain('GB/s');
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('has dots instead of a line where that is wanted', () => {
    const svg = chart({ title: '', about: '', across: 'Length', lines: [{ name: 'single', points, dots: true }] });
    expect(svg).not.toContain('<polyline');
    // One more circle stands beside the name.
    expect(svg.match(/<circle/g)).toHaveLength(points.length + 1);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });
});
