import { describe, expect, it } from 'vitest';
import { openProfile } from '../open-profile.ts';

const device = await openProfile('h200');
const vectors = await openProfile('wasm-cpu');
const blocks = {
  space: [
    { from: 128, to: 256 },
    { from: 32, to: 64 },
  ],
} as const;

describe('a plan shows', () => {
  it('a prime length that is convolved with one point less', async () => {
    const rader = { convolve: [1009, 1009] } as const;
    const plan = await device.plan({ size: [1009], directions: 'forward', tuning: { rader } });
    const [launch] = plan.toJSON().directions[0]!.launches;
    expect(launch).toMatchObject({
      padded: 1008,
      operands: { input: { order: { powersOf: 1009 } }, output: { order: { powersOf: 1009, inverse: true } } },
    });
    const steps = plan.explain().match(/steps (.*)/)![1];
    expect(steps).toMatch(
      /^load single, order of powers modulo 1009, passes 1008 = [\d·]+, point 0 apart, × root spectrum, /,
    );
    expect(steps).toMatch(/inverse passes .*, order of inverse powers modulo 1009, store single; fused: convolution$/);
  });

  it('the steps of a launch: counts, factors and which way', async () => {
    const rader = { multiply: [2, 13], convolve: [2, 13] } as const;
    const plan = await device.plan({ size: [1009], directions: 'forward', tuning: { rader } });
    const [launch] = plan.toJSON().directions[0]!.launches;
    const chirp = { kind: 'chirp', modulus: 1009 };
    const rest = { do: 'passes', of: 0, length: 2048, radices: expect.any(Array) };
    expect(launch!.padded).toBe(2048);
    expect(launch!.steps).toEqual([
      {
        ...rest,
        read: { count: 1009, factors: chirp },
        write: { factors: { kind: 'chirp-spectrum', modulus: 1009 } },
      },
      { ...rest, inverse: true, write: { count: 1009, factors: chirp } },
    ]);
    const steps = plan.explain().match(/steps (.*)/)![1];
    expect(steps).toMatch(
      /^load single, 1009 points, then zeros, × chirp, passes 2048 = [\d·]+, × chirp spectrum, inverse passes/,
    );
    expect(steps).toMatch(/, × chirp, keep 1009 points, store single; fused: convolution$/);
    expect(plan.explain()).toContain('a cyclic convolution');
  });

  it('copies among the steps, the parts of a four-step node and its twiddles', async () => {
    const plan = await vectors.plan({ size: [2 ** 20], placement: 'in-place', directions: 'forward', normalize: true });
    const [{ tree, launches } = expect.fail()] = plan.toJSON().directions;
    expect(tree.children[0]).toMatchObject({ scheme: 'four-step', parts: [1024, 1024] });
    expect(launches[0]).toMatchObject({ twiddles: 2 ** 20, twiddlesOn: 'output' });
    const copies = launches.map(({ steps }) => steps.some((step) => step.do === 'copy'));
    expect(copies).toContain(true);
    expect(copies).toEqual(launches.map(({ staged }) => staged.input || staged.output));
    expect(plan.explain()).toMatch(/steps load single, .*× twiddles of 1048576, store single; fused: twiddles\n/);
    expect(plan.explain()).toMatch(/steps load single, transpose, /);
  });

  it('what is fused into a launch, and by how much temp is padded', async () => {
    const plan = await vectors.plan({ size: [2 ** 20], placement: 'in-place', directions: 'forward' });
    const { bytes, directions } = plan.toJSON();
    const { assignment, launches } = directions[0]!;
    const element = 8;
    expect(assignment.padding).toBeGreaterThan(0);
    expect(Math.ceil(((2 ** 20 + assignment.padding) * element) / 512) * 512).toBe(bytes.temp);
    expect(plan.explain()).toContain(`, each temp padded by ${assignment.padding} elements\n`);
    expect(launches.map(({ fused }) => fused)).toEqual([['twiddles'], ['reordering']]);
    expect(plan.explain()).toMatch(/store single; fused: twiddles\n/);
    const [without] = (await device.plan({ size: [2 ** 20] })).toJSON().directions;
    expect(without!.assignment.padding).toBe(0);
  });

  it('what a side is in memory, and its scale', async () => {
    const plan = await device.plan({
      ...{ size: [4096], edgeStorage: 'half', normalize: true },
      layout: { input: 'planar', output: 'interleaved' },
    });
    const [forward, inverse] = plan.toJSON().directions.map(({ launches }) => launches[0]!);
    expect(forward!.operands).toEqual({
      input: { buffer: 'input', layout: 'planar', storage: 'half', absent: [] },
      output: { buffer: 'output', layout: 'interleaved', storage: 'half', absent: [] },
    });
    expect(forward!.bytesRead).toBe(4096 * 2 * 2);
    const scales = [inverse!.operands.input.scale ?? 1, inverse!.operands.output.scale ?? 1];
    expect(scales[0]! * scales[1]!).toBe(1 / 4096);
    expect(plan.explain()).toContain('from input (planar, half) to output (interleaved, half)');
    expect(plan.explain()).toContain('× 1/4096, store half');
  });

  it('blocks of zeros, which cost no bytes', async () => {
    const problem = { size: [256, 64], batches: 4, zeroPadding: blocks, directions: 'forward' } as const;
    const first = { axis: 0, from: 128, to: 256 };
    const second = { axis: 1, from: 32, to: 64 };
    const element = 8;
    const together = (await device.plan(problem)).toJSON().directions[0]!;
    expect(together.launches.map(({ operands }) => operands.input.absent)).toEqual([[first, second]]);
    expect(together.bytesMoved).toBe((128 * 32 + 256 * 64) * 4 * element);
    const apart = await vectors.plan(problem);
    const { launches } = apart.toJSON().directions[0]!;
    // The lines of axis 0 that lie in the block of axis 1 are left out where they are read and where they are written.
    expect(launches.map(({ operands: { input, output } }) => [input.absent, output.absent])).toEqual([
      [[first, second], [second]],
      [[second], []],
    ]);
    expect(launches.map(({ bytesRead, bytesWritten }) => [bytesRead, bytesWritten])).toEqual([
      [128 * 32 * 4 * element, 256 * 32 * 4 * element],
      [256 * 32 * 4 * element, 256 * 64 * 4 * element],
    ]);
    expect(apart.explain()).toContain('without 128 to 255 of axis 0 and 32 to 63 of axis 1');
  });

  describe('reals', () => {
    const stepsOf = (text: string) => [...text.matchAll(/steps (.*?)(?:; fused|\n|$)/g)].map(([, steps]) => steps);

    it('as the halves of complex numbers, of which bins are paired', async () => {
      const plan = await vectors.plan({ size: [1000], transform: 'r2c' });
      const { directions } = plan.toJSON();
      const [forward, inverse] = directions.map(({ launches }) => launches[0]!);
      expect(plan.explain()).toMatch(/^1000 r2c, single precision, out-of-place/);
      expect(stepsOf(plan.explain())).toEqual([
        expect.stringMatching(/^load single, passes 500 = [\d·]+, pair bins of both halves, × 1\/2, store single$/),
        expect.stringMatching(/^load single, pair bins of both halves, inverse passes 500 = [\d·]+, store single$/),
      ]);
      expect(forward!.operands).toMatchObject({ input: { layout: 'real' }, output: { layout: 'interleaved' } });
      expect([forward!.bytesRead, forward!.bytesWritten]).toEqual([4 * 1000, 8 * 501]);
      expect([inverse!.bytesRead, inverse!.bytesWritten]).toEqual([8 * 501, 4 * 1000]);
    });

    it('in several launches, in which temp memory is not called padded', async () => {
      const plan = await device.plan({ size: [2 ** 24], transform: 'r2c' });
      const { directions } = plan.toJSON();
      for (const { launches, bytesMoved, assignment } of directions) {
        expect(launches.length).toBeGreaterThan(1);
        expect(bytesMoved).toBe(launches.reduce((sum, each) => sum + each.bytesRead + each.bytesWritten, 0));
        expect(assignment.padding).toBe(0);
      }
      const bins = 2 ** 23 + 1;
      expect(directions.map(({ launches }) => launches[0]!.bytesRead)).toEqual([4 * 2 ** 24, 8 * bins]);
      expect(directions.map(({ launches }) => launches.at(-1)!.bytesWritten)).toEqual([8 * bins, 4 * 2 ** 24]);
      expect(stepsOf(plan.explain()).join()).toContain(`mirror ${bins} bins`);
    });

    it('that are continued to twice as many points', async () => {
      const plan = await device.plan({ size: [63, 63], transform: ['dct1', 'dst1'] });
      const text = plan.explain();
      expect(text).toMatch(/^63 × 63 dct1 × dst1, /);
      const [first, second] = stepsOf(text);
      expect(first).toMatch(
        /^load single, mirror 63 reals, .*, pair bins of both halves, .*, keep 63 bins, store single$/,
      );
      expect(second).toMatch(
        /^load single, mirror 63 reals, .*passes 64 = .*, pair bins of both halves, × roots of 4, .*, keep 63 bins, store single$/,
      );
      for (const { launches } of plan.toJSON().directions) {
        for (const { bytesRead, bytesWritten } of launches) expect([bytesRead, bytesWritten]).toEqual([15876, 15876]);
      }
    });

    it('of which bins of half as many points are paired', async () => {
      const text = (await vectors.plan({ size: [64, 64], transform: 'dct2' })).explain();
      expect(text).toMatch(/^64 × 64 dct2, /);
      const order = 'even points, then odd ones backwards';
      for (const steps of stepsOf(text)) expect(steps).toContain(order);
      expect(stepsOf(text)[0]).toMatch(
        /^load single, even points, .*, passes 32 = .*, pair bins of both halves, .*both ends, store single$/,
      );
      expect(stepsOf(text)[2]).toMatch(/^load single, parts from both ends, .*backwards, store single$/);
    });

    it('that face one another as the parts of half as many numbers', async () => {
      const text = (await vectors.plan({ size: [1000], transform: 'dst4' })).explain();
      expect(stepsOf(text)[0]).toMatch(
        /^load single, parts from both ends, × roots of 2000, .*passes 500 = .*, × roots of 8000, .*, store single$/,
      );
    });
  });
});
