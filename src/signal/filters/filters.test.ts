/** Filters by what they have to be: closed forms, impulses against frequency responses, streams against wholes. */
import { describe, expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { FftError } from '../../problem/index.ts';
import * as signal from '../index.ts';
import {
  bessel,
  butter,
  cheby1,
  cheby2,
  ellip,
  filtfilt,
  firwin,
  freqz,
  lfilter,
  lfilterZi,
  savgolCoeffs,
  sos2tf,
  sos2zpk,
  sosfilt,
  sosfiltfilt,
  sosfiltZi,
  sosfreqz,
  tf2sos,
  tf2zpk,
  zpk2sos,
  zpk2tf,
} from '../index.ts';

const random = randomFor('src/signal/filters');
const powersOf = (h: ArrayLike<number>) =>
  Float64Array.from({ length: h.length / 2 }, (_, k) => h[2 * k]! ** 2 + h[2 * k + 1]! ** 2);
const decibels = (power: number) => 10 * Math.log10(power);

describe('designs', () => {
  it('have the poles of Butterworth on a circle in the left half plane', () => {
    for (const N of [1, 2, 5, 8]) {
      const { z, p, k } = butter(N, 3, { analog: true, output: 'zpk' });
      expect(z.shape).toEqual([0]);
      expect(k / 3 ** N).toBeCloseTo(1, 13);
      const wanted = Array.from({ length: N }, (_, n) => Math.PI * (0.5 + (2 * n + 1) / (2 * N)));
      const angles = Array.from({ length: N }, (_, n) => Math.atan2(p.data[2 * n + 1]!, p.data[2 * n]!));
      const sorted = angles.map((angle) => (angle < 0 ? angle + 2 * Math.PI : angle)).sort((a, b) => a - b);
      expect(relativeError(sorted, wanted)).toBeLessThan(1e-14);
      for (let n = 0; n < N; n++) expect(Math.hypot(p.data[2 * n]!, p.data[2 * n + 1]!)).toBeCloseTo(3, 12);
    }
  });

  it.each([
    ['butter', (N: number) => butter(N, 100, { fs: 1000, output: 'sos' }), 3.0103, 3.0103],
    ['cheby1', (N: number) => cheby1(N, 1, 100, { fs: 1000, output: 'sos' }), 1, 1],
    ['cheby2', (N: number) => cheby2(N, 40, 100, { fs: 1000, output: 'sos' }), 40, 40],
    ['ellip', (N: number) => ellip(N, 0.5, 60, 100, { fs: 1000, output: 'sos' }), 0.5, 0.5],
  ] as const)('of %s are as far down at the edge as they promise', (_name, make, least, most) => {
    for (const N of [1, 2, 3, 6, 9]) {
      const { h } = sosfreqz(make(N), { worN: [100], fs: 1000 });
      const down = -decibels(powersOf(h.data)[0]!);
      expect(down).toBeGreaterThan(least - 1e-4);
      expect(down).toBeLessThan(most + 1e-4);
    }
  });

  it('keep to their ripples in all of both bands', () => {
    const { h } = sosfreqz(ellip(6, 0.5, 60, 0.3, { output: 'sos' }), { worN: 4000 });
    const power = powersOf(h.data);
    for (let k = 0; k < 1200; k++) expect(-decibels(power[k]!)).toBeLessThan(0.5 + 1e-9);
    const stop = power.findIndex((value) => decibels(value) < -60 + 1e-9);
    expect(stop).toBeLessThan(1600);
    for (let k = stop + 1; k < 4000; k++) expect(decibels(power[k]!)).toBeLessThan(-60 + 1e-6);
  });

  it('of Bessel delay low frequencies alike', () => {
    const { p } = bessel(5, 1, { analog: true, norm: 'delay', output: 'zpk' });
    const phaseAt = (w: number) => {
      let sum = 0;
      for (let n = 0; n < 5; n++) sum -= Math.atan2(w - p.data[2 * n + 1]!, -p.data[2 * n]!);
      return sum;
    };
    for (const w of [0.1, 0.5, 1]) expect((phaseAt(w - 1e-4) - phaseAt(w + 1e-4)) / 2e-4).toBeCloseTo(1, 5);
  });

  it('are the same filter in all three forms', () => {
    const make = { fs: 8000, btype: 'bandpass' } as const;
    const edges = [500, 1200] as const;
    // Roots that are all different: of equal ones a polynomial says no more than a third of the digits.
    const { b, a } = ellip(3, 1, 40, edges, make);
    const zpk = ellip(3, 1, 40, edges, { ...make, output: 'zpk' });
    const sos = ellip(3, 1, 40, edges, { ...make, output: 'sos' });
    const wanted = freqz(b, a, { worN: 64 }).h.data;
    const near = (h: ArrayLike<number>) => expect(relativeError(h, wanted)).toBeLessThan(1e-9);
    near(sosfreqz(sos, { worN: 64 }).h.data);
    for (const form of [zpk2tf(zpk.z, zpk.p, zpk.k), sos2tf(sos)]) near(freqz(form.b, form.a, { worN: 64 }).h.data);
    for (const form of [zpk2sos(zpk.z, zpk.p, zpk.k), tf2sos(b, a)]) near(sosfreqz(form, { worN: 64 }).h.data);
    const again = [sos2zpk(sos), tf2zpk(b, a)].map(({ z, p, k }) => zpk2tf(z, p, k));
    for (const form of again) near(freqz(form.b, form.a, { worN: 64 }).h.data);
  });

  it('by windows let a band through, with linear phase', () => {
    const taps = firwin(101, [1000, 2000], { passZero: false, fs: 8000 });
    expect(relativeError(taps.slice().reverse(), taps)).toBeLessThan(1e-14);
    const power = powersOf(freqz(taps, 1, { worN: [200, 1500, 3500], fs: 8000 }).h.data);
    expect(power[1]).toBeCloseTo(1, 12);
    for (const k of [0, 2]) expect(decibels(power[k]!)).toBeLessThan(-50);
  });
});

describe('filtering', () => {
  it('gives of an impulse what has the frequency response', () => {
    const { b, a } = butter(4, 0.3);
    const impulse = new Float64Array(400);
    impulse[0] = 1;
    const response = lfilter(b, a, impulse).data;
    for (const angle of [0, 0.5, 1, 3]) {
      let [re, im] = [0, 0];
      response.forEach((value, n) => {
        re += value * Math.cos(angle * n);
        im -= value * Math.sin(angle * n);
      });
      const { h } = freqz(b, a, { worN: [angle] });
      expect(Math.hypot(re - h.data[0]!, im - h.data[1]!)).toBeLessThan(1e-12);
    }
  });

  it('of a stream chunk by chunk is that of the whole, bit for bit', () => {
    const x = uniform(random, 500);
    const sos = ellip(5, 1, 50, [0.2, 0.4], { output: 'sos' });
    const { b, a } = butter(5, 0.2);
    const taps = firwin(31, 0.3);
    const states = [
      (part: Float64Array, zi: never) => sosfilt(sos, part, { zi }),
      (part: Float64Array, zi: never) => lfilter(b, a, part, { zi }),
      (part: Float64Array, zi: never) => lfilter(taps, 1, part, { zi }),
    ] as const;
    const empty = [
      { data: new Float64Array(2 * sos.shape[0]), shape: [sos.shape[0], 2], dtype: 'float64' },
      new Float64Array(5),
      new Float64Array(30),
    ];
    const whole = [sosfilt(sos, x), lfilter(b, a, x), lfilter(taps, 1, x)];
    states.forEach((filter, kind) => {
      let zi = empty[kind] as never;
      const parts: number[] = [];
      for (let at = 0; at < 500; ) {
        const end = Math.min(500, at + random.integer(1, 60));
        const { y, zf } = filter(x.subarray(at, end), zi);
        parts.push(...y.data);
        zi = zf as never;
        at = end;
      }
      // Sums of a filter of finite response begin elsewhere.
      expect(relativeError(parts, whole[kind]!.data)).toBeLessThan(kind === 2 ? 1e-14 : Number.MIN_VALUE);
    });
  });

  it('goes on from its state at rest', () => {
    const ones = new Float64Array(20).fill(1);
    const { b, a } = cheby1(3, 0.5, 0.4);
    expect(relativeError(lfilter(b, a, ones, { zi: lfilterZi(b, a) }).y.data, ones)).toBeLessThan(1e-13);
    const sos = cheby1(3, 0.5, 0.4, { output: 'sos' });
    expect(relativeError(sosfilt(sos, ones, { zi: sosfiltZi(sos) }).y.data, ones)).toBeLessThan(1e-13);
  });

  it('both ways delays nothing, and squares the gain', () => {
    const x = Float64Array.from({ length: 2000 }, (_, n) => Math.sin(0.1 * n));
    const gain = powersOf(sosfreqz(butter(2, 0.05, { output: 'sos' }), { worN: [0.1] }).h.data)[0]!;
    const { b, a } = butter(2, 0.05);
    for (const { data } of [filtfilt(b, a, x), sosfiltfilt(butter(2, 0.05, { output: 'sos' }), x)]) {
      const wanted = x.map((value) => value * gain);
      expect(relativeError(data.subarray(500, 1500), wanted.subarray(500, 1500))).toBeLessThan(1e-6);
    }
  });

  it('keeps single precision and takes any axis', () => {
    const x = { data: Float32Array.of(1, 0, 0, 2, 0, 0), shape: [3, 2], dtype: 'float32' } as const;
    const y = lfilter([0.5, 0.5], 1, x, { axis: 0 });
    expect(y).toMatchObject({ dtype: 'float32', shape: [3, 2] });
    expect(Array.from(y.data)).toEqual([0.5, 0, 0.5, 1, 0, 1]);
  });

  it('refuses what is no filter, and what is unstable', () => {
    const x = new Float64Array(50).fill(1);
    const refusals: [() => unknown, string, string?][] = [
      [() => butter(2.5, 0.2), 'invalid-argument', 'N'],
      [() => butter(-1, 0.2), 'invalid-argument', 'N'],
      [() => butter(2, 1), 'invalid-argument', 'Wn'],
      [() => butter(2, 5000, { fs: 8000 }), 'invalid-argument', 'Wn'],
      [() => butter(2, 100, { fs: Number.NaN }), 'invalid-argument', 'fs'],
      [() => butter(2, '100' as never), 'invalid-argument', 'Wn'],
      [() => butter(2, [0.4, 0.2]), 'invalid-argument', 'Wn'],
      [() => butter(2, [0.2, 0.4], { btype: 'lowpass' }), 'invalid-argument', 'Wn'],
      [() => butter(2, 0.2, { btype: 'lowpas' as never }), 'invalid-argument', 'btype'],
      [() => ellip(2, 3, 2, 0.2), 'invalid-argument', 'rs'],
      [() => firwin(0, 0.2), 'invalid-argument', 'numtaps'],
      [() => firwin(10, 0.2, { passZero: false }), 'invalid-argument', 'numtaps'],
      [() => firwin(11, [0.5, 0.2]), 'invalid-argument', 'cutoff'],
      [() => lfilter([1], [0, 1], x), 'invalid-argument', 'a'],
      [() => lfilter([1, Number.NaN], 1, x), 'invalid-argument', 'b'],
      [() => lfilter([1], [1, -1e9], new Float64Array(50).fill(1)), 'invalid-argument', 'a'],
      [() => lfilter([1, 1], 1, x, { zi: new Float64Array(2) }), 'wrong-length', 'zi'],
      [() => sosfilt([[1, 2, 3]], x), 'wrong-length', 'sos'],
      [() => sosfilt([[1, 0, 0, 2, 0, 0]], x), 'invalid-argument', 'sos[0][3]'],
      [() => filtfilt([1], [1, -1.5], x), 'invalid-argument', 'a'],
      [() => filtfilt([1], [1, -0.5], new Float64Array(5)), 'invalid-argument', 'padlen'],
      [() => sosfiltfilt([[1, 0, 0, 1, -2.1, 1.2]], x), 'invalid-argument', 'sos[0]'],
      [() => lfilterZi([1], [1, -1]), 'invalid-argument', 'a'],
      [() => freqz([1], 1, { worN: 0 }), 'invalid-argument', 'worN'],
      [() => lfilter([1], 1, x, { zf: x } as never), 'unknown-field'],
      [() => zpk2sos([], [], 1, null as never), 'invalid-argument'],
      [() => savgolCoeffs(Symbol('five') as never, 2), 'invalid-argument', 'windowLength'],
    ];
    for (const [call, code, path] of refusals) {
      let thrown: { code?: string; problems?: { path: string }[] } = {};
      try {
        call();
      } catch (error) {
        thrown = error as typeof thrown;
      }
      expect(thrown.code, String(call)).toBe(code);
      if (path !== undefined) expect(thrown.problems?.[0]?.path, String(call)).toBe(path);
    }
  });
});

/** What nobody should pass, and some of what they should. */
const ANYTHING: readonly unknown[] = [
  ...[undefined, null, Number.NaN, -1, 0, 1e12, 2.5, 'x', '', true, Symbol('s'), 10n, () => 1, {}, [], [Number.NaN]],
  ...[[1], [1, 2, 3], new Float64Array(0), new Float64Array(8), new Float64Array([1, Number.NaN, 2, 3])],
  ...[
    { data: 7, shape: [3], dtype: 'float64' },
    { data: new Float64Array(3), shape: [-1], dtype: 'float64' },
  ],
];

it('whatever filters, resampling and peaks are given, they refuse it with an FftError or return', async () => {
  const functions = Object.entries(signal).filter(([name]) =>
    /filt|sos|zpk|tf|butter|cheby|ellip|bessel|firwin|freqz|resample|decimate|upfirdn|savgol|detrend|[pP]eak|periodogram|lombscargle|envelope|2d|cwt|kaiser/.test(
      name,
    ),
  ) as [string, (...given: unknown[]) => unknown][];
  expect(functions.length).toBeGreaterThan(35);
  for (const [name, call] of functions) {
    if (/^[A-Z]/.test(name)) continue;
    for (let round = 0; round < 10; round++) {
      const given = Array.from({ length: random.integer(0, 4) }, () => random.pick(ANYTHING));
      const thrown = await Promise.resolve()
        .then(() => call(...given))
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      if (thrown !== undefined) expect(thrown, `${name}(${given.map(String)})`).toBeInstanceOf(FftError);
    }
  }
});
