import { describe, expect, it } from 'vitest';
import { add, evaluate, type Guard, holds, scale, simplified, variable } from './index.ts';

describe('guards', () => {
  const i = variable('i', 8);
  const j = variable('j', 4);
  const at = add(i, scale(j, 8));
  const bound = (from: number, to: number, outside?: true) => ({
    index: at,
    from,
    to,
    ...(outside ? { outside } : {}),
  });
  const everywhere = (guard: Guard): boolean[] => {
    const values: boolean[] = [];
    for (let n = 0; n < 32; n++) {
      const where = new Map([
        [i, n % 8],
        [j, Math.floor(n / 8)],
      ]);
      values.push(holds(guard, (index) => evaluate(index, where)));
    }
    return values;
  };

  it('lose what always holds, and fall away where they never do', () => {
    expect(simplified([bound(0, 32)])).toEqual([]);
    expect(simplified([bound(-5, 40)])).toEqual([]);
    expect(simplified([bound(32, 40)])).toBeUndefined();
    expect(simplified([bound(32, 40, true)])).toEqual([]);
    expect(simplified([bound(0, 32, true)])).toBeUndefined();
    expect(simplified([bound(7, 7)])).toBeUndefined();
    expect(simplified([bound(7, 7, true)])).toEqual([]);
    expect(simplified([bound(0, 32), bound(3, 9)])).toEqual([bound(3, 9)]);
    expect(simplified([bound(3, 9), bound(3, 9)])).toEqual([bound(3, 9)]);
  });

  it('hold where each of their bounds does', () => {
    expect(everywhere([bound(3, 9)])).toEqual(Array.from({ length: 32 }, (_, n) => n >= 3 && n < 9));
    expect(everywhere([bound(3, 9, true), bound(20, 99, true)])).toEqual(
      Array.from({ length: 32 }, (_, n) => (n < 3 || n >= 9) && n < 20),
    );
  });
});
