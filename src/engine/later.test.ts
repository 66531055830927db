import { describe, expect, it } from 'vitest';
import { loadPartsBy, partOf, provideParts, whenLoaded } from './later.ts';

interface Part {
  double(n: number): number;
}

describe('parts that are loaded later', () => {
  const double = (n: number) => 2 * n;

  it('are loaded when they are asked for, each once', async () => {
    const asked: string[] = [];
    const part = (name: string) => async () => {
      asked.push(name);
      return { double };
    };
    loadPartsBy({ one: part('one'), two: part('two') });
    const compute = () => partOf<Part>('one').double(3) + partOf<Part>('two').double(4);
    expect(compute).toThrow(expect.objectContaining({ code: 'not-loaded' }));
    expect(await whenLoaded(compute)).toBe(14);
    expect(await whenLoaded(async () => compute())).toBe(14);
    expect(asked).toEqual(['one', 'two']);
  });

  it('say why they cannot be loaded, and are tried again', async () => {
    let online = false;
    const load = async () => {
      if (!online) throw new TypeError('no network');
      return { double };
    };
    loadPartsBy({ three: load });
    const compute = () => partOf<Part>('three').double(1);
    await expect(whenLoaded(compute)).rejects.toMatchObject({ code: 'not-loaded', message: /three.*no network/ });
    online = true;
    expect(await whenLoaded(compute)).toBe(2);
  });

  it('leave other errors alone, and do not wait for what nothing loads', async () => {
    loadPartsBy({});
    await expect(whenLoaded(() => partOf('four'))).rejects.toMatchObject({ code: 'not-loaded' });
    await expect(whenLoaded(() => Promise.reject(new RangeError('else')))).rejects.toThrow(RangeError);
    provideParts({ four: { double } });
    expect(partOf<Part>('four').double(5)).toBe(10);
  });
});
