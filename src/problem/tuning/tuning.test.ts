import { describe, expect, it } from 'vitest';
import type { FftError } from '../errors.ts';
import { normalizeProblem } from '../normalize/normalize.ts';

const tuned = (tuning: unknown, size = [64, 8]) => normalizeProblem({ size, tuning: tuning as object }).tuning;

function problemsOf(tuning: unknown): string[] {
  try {
    tuned(tuning);
    return [];
  } catch (error) {
    return (error as FftError).problems.map(({ code, path }) => `${code} ${path}`);
  }
}

describe('tuning', () => {
  it('keeps what was asked for, in one order', () => {
    const tuning = tuned({
      maxGroups: 1000,
      streams: 2,
      twiddles: 'computed',
      considerAllAxesStrided: true,
      performBandwidthBoost: -1,
      uploadSwitch: { three: 4096, two: 512 },
      groupedBatch: [4, 0],
      halfThreads: true,
      maxThreads: 256,
      threads: 128,
      warpSize: 32,
      banks: 16,
      sharedBytes: 32768,
      coalescedBytes: 32,
    });
    const text =
      '{"coalescedBytes":32,"sharedBytes":32768,"banks":16,"warpSize":32,"threads":128,"maxThreads":256,' +
      '"halfThreads":true,"groupedBatch":[4,0],"uploadSwitch":{"two":512,"three":4096},"performBandwidthBoost":-1,' +
      '"considerAllAxesStrided":true,"twiddles":"computed","streams":2,"maxGroups":1000}';
    expect(JSON.stringify(tuning)).toBe(text);
    for (const part of [tuning, tuning.groupedBatch, tuning.uploadSwitch]) expect(Object.isFrozen(part)).toBe(true);
  });

  it('keeps ranges of primes and padded lengths, frozen', () => {
    const tuning = tuned({
      rader: { convolve: [17, 4000], multiply: [17, 41] },
      bluestein: {
        pattern: [
          { from: 17, length: 64 },
          { from: 40, length: 4096 },
        ],
        length: 8192,
        maxRadix: 2,
      },
    });
    expect(JSON.stringify(tuning)).toBe(
      '{"bluestein":{"maxRadix":2,"length":8192,"pattern":[{"from":17,"length":64},{"from":40,"length":4096}]},' +
        '"rader":{"multiply":[17,41],"convolve":[17,4000]}}',
    );
    const { bluestein, rader } = tuning;
    const parts = [bluestein, bluestein!.pattern, ...bluestein!.pattern!, rader, rader!.multiply, rader!.convolve];
    for (const part of parts) expect(Object.isFrozen(part)).toBe(true);
    expect(tuned({ rader: {}, bluestein: { pattern: [] } })).toEqual({});
  });

  it.each([
    [{ rader: { multiply: [41, 17] } }, ['invalid-field tuning.rader.multiply']],
    [{ rader: { convolve: 17 } }, ['invalid-field tuning.rader.convolve']],
    [
      { rader: { multiply: [1, 17], convolve: [17] } },
      ['invalid-field tuning.rader.multiply', 'invalid-field tuning.rader.convolve'],
    ],
    [{ rader: { multiplied: [17, 41] } }, ['unknown-field tuning.rader.multiplied']],
    [{ bluestein: { maxRadix: 17 } }, ['invalid-field tuning.bluestein.maxRadix']],
    [{ bluestein: { launches: 'fast' } }, ['invalid-field tuning.bluestein.launches']],
    [{ bluestein: { length: 34 } }, ['invalid-field tuning.bluestein.length']],
    [{ bluestein: { length: 2 ** 33 } }, ['invalid-field tuning.bluestein.length']],
    [{ bluestein: { pattern: [{ length: 64 }] } }, ['invalid-field tuning.bluestein.pattern[0].from']],
    [{ bluestein: { pattern: 64 } }, ['invalid-field tuning.bluestein.pattern']],
    [{ bluestein: { pattern: [64] } }, ['invalid-field tuning.bluestein.pattern[0]']],
    [{ bluestein: { pattern: [{ from: 17, length: 32 }] } }, ['invalid-field tuning.bluestein.pattern[0].length']],
    [
      {
        bluestein: {
          pattern: [
            { from: 31, length: 64 },
            { from: 31, length: 128 },
          ],
        },
      },
      ['invalid-field tuning.bluestein.pattern[1].from'],
    ],
  ])('refuses %j', (tuning, expected) => {
    expect(problemsOf(tuning)).toEqual(expected);
  });

  it('takes one number of transforms per group for all axes', () => {
    expect(tuned({ groupedBatch: 4 })).toEqual({ groupedBatch: [4, 4] });
  });

  it('leaves out what changes nothing: equal problems have equal normal forms', () => {
    const nothing = {
      halfThreads: false,
      considerAllAxesStrided: false,
      groupedBatch: 0,
      uploadSwitch: {},
      twiddles: 'table',
      streams: 1,
      mergeSequences: false,
      threads: undefined,
    };
    expect(tuned(nothing)).toEqual({});
    expect(tuned(undefined)).toEqual({});
  });

  it.each<[string, unknown[]]>([
    ['coalescedBytes', [0, 8, 48, 8192, 64.5, '64', null]],
    ['sharedBytes', [0, 4095, 1e20, Number.NaN]],
    ['banks', [0, 3, 2048, -1]],
    ['warpSize', [0, 48, 2048]],
    ['threads', [0, 1.5, 65537, [128]]],
    ['maxThreads', [31, 65537]],
    ['halfThreads', [1, 'yes']],
    ['clusterBlocks', [0, 1.5, true]],
    ['groupedBatch', [-1, 1.5, [4], [4, 4, 4], [4, -1], '4']],
    ['performBandwidthBoost', [0, -2, 65, 1.5]],
    ['considerAllAxesStrided', [1]],
    ['twiddles', ['sine', 1]],
    ['streams', [0, 1.5, 129, 'two']],
    ['registerBoost', [0, 1.5]],
    ['registerBoostNonPow2', [1]],
    ['registerBoost4Step', [0]],
    ['maxGroups', [0, 1.5, '4', -1]],
    ['mergeSequences', ['no']],
    ['uploadSwitch', [512]],
  ])('%s refuses what it is not', (name, values) => {
    for (const value of values) expect(problemsOf({ [name]: value })).toEqual([`invalid-field tuning.${name}`]);
  });

  it('wants upload switches in order', () => {
    expect(problemsOf({ uploadSwitch: { two: 1 } })).toEqual(['invalid-field tuning.uploadSwitch.two']);
    expect(problemsOf({ uploadSwitch: { two: 4096, three: 512 } })).toEqual([
      'invalid-field tuning.uploadSwitch.three',
    ]);
    expect(problemsOf({ uploadSwitch: { four: 512 } })).toEqual(['unknown-field tuning.uploadSwitch.four']);
  });

  it('says everything that is wrong at once', () => {
    expect(problemsOf({ banks: 3, coalescedMemory: 32, threads: 0 })).toEqual([
      'unknown-field tuning.coalescedMemory',
      'invalid-field tuning.banks',
      'invalid-field tuning.threads',
    ]);
  });

  it('knows the names that VkFFT uses', () => {
    const pairs = {
      coalescedMemory: 'coalescedBytes',
      numSharedBanks: 'banks',
      aimThreads: 'threads',
      swapTo2Stage4Step: 'uploadSwitch',
      useLUT: 'twiddles',
      useLUT_4step: 'twiddles4Step',
      sharedMemorySize: 'sharedBytes',
      maxComputeWorkGroupCount: 'maxGroups',
    };
    for (const [theirs, ours] of Object.entries(pairs)) {
      expect(() => tuned({ [theirs]: 1 })).toThrow(`did you mean tuning.${ours}?`);
    }
    // Renamed, it would mean the opposite.
    expect(() => tuned({ disableMergeSequencesR2C: true })).toThrow(
      'unless tuning.mergeSequences is true: leave it out',
    );
  });
});
