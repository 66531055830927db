import { afterEach, describe, expect, it } from 'vitest';
import { namedProfiles } from '../../devices/profiles/index.ts';
import { normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import { lazyGroup, lazyGroupsOf, loadGroups, loadGroupsBy, provideGroups } from './lazy-modules.ts';

interface Modules {
  double(n: number): number;
}

describe('modules that are loaded when a problem needs them', () => {
  const double = (n: number) => 2 * n;
  afterEach(() => loadGroupsBy({}));

  it('are loaded once, and what is there is not waited for', async () => {
    const requested: string[] = [];
    const loader = (name: string) => async () => {
      requested.push(name);
      return { double };
    };
    loadGroupsBy({ callbacks: loader('callbacks'), debugging: loader('debugging') });
    expect(() => lazyGroup('callbacks')).toThrow(expect.objectContaining({ code: 'not-loaded' }));
    await loadGroups(['callbacks', 'debugging']);
    expect(lazyGroup<Modules>('callbacks').double(3)).toBe(6);
    expect(loadGroups(['callbacks', 'debugging', 'threads'])).toBe(undefined);
    expect(requested).toEqual(['callbacks', 'debugging']);
    provideGroups({ threads: { double } });
    expect(lazyGroup<Modules>('threads').double(5)).toBe(10);
  });

  it('say why they cannot be loaded, and are tried again', async () => {
    let online = false;
    const convolutions = async () => {
      if (!online) throw new TypeError('no network');
      return { double };
    };
    loadGroupsBy({ convolutions });
    await expect(loadGroups(['convolutions'])).rejects.toMatchObject({
      code: 'not-loaded',
      message: /convolutions.*no network/,
    });
    online = true;
    await loadGroups(['convolutions']);
    expect(lazyGroup<Modules>('convolutions').double(1)).toBe(2);
  });
});

describe('what a problem needs', () => {
  it.each<[ProblemInput, string[]]>([
    [{ size: [1024, 360] }, []],
    [{ size: [1024], transform: 'r2c' }, ['layouts', 'real transforms']],
    [{ size: [8, 17] }, ['large primes', 'layouts']],
    [{ size: [18], transform: 'dct1' }, ['large primes', 'layouts', 'real transforms']],
    [{ size: [17], transform: 'dct1' }, ['layouts', 'real transforms']],
    [{ size: [1], transform: 'dst1' }, ['layouts', 'real transforms']],
    [{ size: [16], transform: 'dst1' }, ['large primes', 'layouts', 'real transforms']],
    [{ size: [18], transform: 'dct2' }, ['layouts', 'real transforms']],
    [{ size: [8], precision: 'double-double', debug: true }, ['debugging', 'pairs of numbers']],
    [{ size: [8], convolution: {}, strategy: 'measure' }, ['convolutions', 'layouts', 'saved and measured plans']],
    [
      { size: [8], callbacks: { forward: { store: (x, { re }) => x.neg(re) } } },
      ['callbacks', 'layouts', 'real transforms'],
    ],
    [
      {
        ...{ size: [8], directions: 'forward', bands: new Float64Array(8) },
        callbacks: { forward: { store: (x, sum) => x.log(sum) } },
      },
      ['bands', 'callbacks', 'layouts', 'real transforms'],
    ],
  ])('%j', (input, expected) => {
    const problem = normalizeProblem(input);
    expect(lazyGroupsOf(problem, namedProfiles['wasm-cpu'].profile).sort()).toEqual(expected);
    expect(lazyGroupsOf(problem, namedProfiles.h200.profile).sort()).toEqual([...expected, 'threads'].sort());
  });
});
