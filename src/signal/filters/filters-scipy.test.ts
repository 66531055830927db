/** Filters beside SciPy, where there is one: random orders, bands, shapes and types. */
import { uniform } from '../../../test/support/random.ts';
import { casesFor, describeScipy, near, type ScipyCase, vector } from '../../../test/support/scipy-cases.ts';
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
  type Sections,
  sosfilt,
  sosfiltfilt,
  sosfiltZi,
  sosfreqz,
  type WindowName,
} from '../index.ts';

const { random, between, some, signal, shapeOf } = casesFor('src/signal/filters-scipy');

/** Kinds of filters, each with its decibels. */
function design(output: 'ba' | 'sos', most = 10, analog = false) {
  const btype = random.pick(['lowpass', 'highpass', 'bandpass', 'bandstop'] as const);
  const fs = analog || random.unit() < 0.5 ? undefined : 8000;
  const low = between(0.03, 0.6) * ((fs ?? 2) / 2);
  const isBand = btype.startsWith('band');
  const Wn = isBand ? [low, low + between(0.05, 0.3) * ((fs ?? 2) / 2)] : low;
  const N = random.integer(1, isBand ? Math.ceil(most / 2) : most);
  const [rp, rs] = [between(0.1, 3), between(20, 80)];
  const options = { btype, output, ...(analog ? { analog } : {}), ...(fs === undefined ? {} : { fs }) };
  const edges = Wn as number | [number, number];
  const kinds = [
    { name: 'butter', given: { N, Wn }, ours: () => butter(N, edges, options) },
    { name: 'cheby1', given: { N, rp, Wn }, ours: () => cheby1(N, rp, edges, options) },
    { name: 'cheby2', given: { N, rs, Wn }, ours: () => cheby2(N, rs, edges, options) },
    { name: 'ellip', given: { N, rp, rs, Wn }, ours: () => ellip(N, rp, rs, edges, options) },
    { name: 'bessel', given: { N, Wn }, ours: () => bessel(N, edges, options) },
  ];
  return { ...random.pick(kinds), options };
}

function designCase(output: 'ba' | 'sos'): ScipyCase {
  const { name, given, options, ours } = design(output, 10, output === 'ba' && random.unit() < 0.2);
  return {
    call: { name, arrays: [], options: { ...given, ...options } },
    ours: () => {
      const found = ours() as Sections & { b: Float64Array; a: Float64Array };
      return output === 'sos' ? [found] : [found.b, found.a];
    },
  };
}

function firwinCase(): ScipyCase {
  const fs = random.pick([2, 8000]);
  const isMany = random.unit() < 0.5;
  const low = between(0.05, 0.5);
  const cutoff = (isMany ? [low, low + 0.2, low + 0.3] : [low]).map((edge) => (edge * fs) / 2);
  const numtaps = 2 * random.integer(1, 60) + 1;
  const passZero = random.unit() < 0.5;
  const [window, beta] = random.pick([
    ['hann', 0],
    ['boxcar', 0],
    ['kaiser', between(1, 12)],
  ] as const);
  const scale = random.unit() < 0.5;
  const width = random.unit() < 0.2 ? between(0.05, 0.3) * (fs / 2) : undefined;
  const python = {
    ...{ numtaps, cutoff, fs, scale, pass_zero: passZero },
    ...(width === undefined ? { window: beta > 0 ? beta : window } : { width }),
  };
  const ours = () =>
    firwin(numtaps, cutoff, {
      ...{ fs, scale, passZero },
      ...(width === undefined
        ? { window: window as WindowName, ...(beta > 0 ? { windowOptions: { beta } } : {}) }
        : { width }),
    });
  return { call: { name: 'firwin', arrays: [], options: python }, ours: () => [ours()] };
}

function freqzCase(): ScipyCase {
  const a = signal([random.integer(1, 4)], ['float64']);
  a.data[0] = 4;
  const fs = random.pick([2 * Math.PI, 1000]);
  const isGrid = random.unit() < 0.3;
  const worN = isGrid ? Array.from({ length: 7 }, () => between(0, fs / 2)) : random.integer(1, 60);
  const [whole, includeNyquist] = [random.unit() < 0.3, random.unit() < 0.3];
  // SciPy 1.10 has other responses of complex coefficients up to the Nyquist frequency, and 1.17 complex frequencies.
  const b = signal([random.integer(1, 9)], [isGrid || includeNyquist ? 'float64' : 'complex128']);
  return {
    call: { name: 'freqz', arrays: [b, a], options: { worN, whole, fs, include_nyquist: includeNyquist } },
    ours: () => {
      const { w, h } = freqz(b, a, { worN, whole, fs, includeNyquist });
      return [w, h];
    },
  };
}

function sosfreqzCase(): ScipyCase {
  const sos = design('sos').ours() as Sections;
  const worN = random.integer(1, 60);
  return {
    call: { name: 'sosfreqz', arrays: [sos], options: { worN } },
    ours: () => {
      const { w, h } = sosfreqz(sos, { worN });
      return [w, h];
    },
  };
}

const stable = () => {
  const { b, a } = design('ba', 6).ours() as { b: Float64Array; a: Float64Array };
  // Of finite response now and then, of unequal lengths, and not normalised.
  const kind = random.unit();
  if (kind < 0.2) return { b: uniform(random, random.integer(1, 70)), a: Float64Array.of(between(0.5, 3)) };
  return {
    b: kind < 0.6 ? b.map((value) => 2 * value) : b.subarray(0, random.integer(1, b.length)),
    a: a.map((value) => 2 * value),
  };
};

function lfilterCase(): ScipyCase {
  const { shape, axis } = shapeOf(1, 100);
  const x = signal(shape);
  const { b, a } = stable();
  const own = random.unit() < 0.2 ? signal([random.integer(1, 6)], ['complex128']) : vector(b);
  const order = Math.max(own.shape[0]!, a.length) - 1;
  const zi = signal(
    shape.map((length, d) => (d === (axis + 3) % 3 ? order : length)),
    x.dtype.startsWith('complex') ? ['complex128'] : ['float64'],
  );
  return {
    call: { name: 'lfilter', arrays: [own, vector(a), x, zi], options: { axis, zi: { array: 3 } } },
    ours: () => {
      const { y, zf } = lfilter(own, a, x, { axis, zi });
      return [y, zf];
    },
    most: near(x),
  };
}

function sosfiltCase(): ScipyCase {
  const { shape, axis } = shapeOf(1, 100);
  const x = signal(shape);
  const sos = design('sos').ours() as Sections;
  const states = shape.map((length, d) => (d === (axis + 3) % 3 ? 2 : length));
  const zi = signal([sos.shape[0], ...states], x.dtype.startsWith('complex') ? ['complex128'] : ['float64']);
  return {
    call: { name: 'sosfilt', arrays: [sos, x, zi], options: { axis, zi: { array: 2 } } },
    ours: () => {
      const { y, zf } = sosfilt(sos, x, { axis, zi });
      return [y, zf];
    },
    most: near(x),
  };
}

function restCase(): ScipyCase {
  if (random.unit() < 0.5) {
    const sos = design('sos').ours() as Sections;
    return { call: { name: 'sosfilt_zi', arrays: [sos], options: {} }, ours: () => [sosfiltZi(sos)] };
  }
  const { b, a } = design('ba', 5).ours() as { b: Float64Array; a: Float64Array };
  const call = { name: 'lfilter_zi', arrays: [vector(b), vector(a)], options: {} };
  return { call, ours: () => [lfilterZi(b, a)], most: 1e-8 };
}

function bothWaysCase(): ScipyCase {
  const { shape, axis } = shapeOf(100, 200);
  const x = signal(shape);
  const options = some({
    padtype: random.pick(['odd', 'even', 'constant', null] as const),
    padlen: random.integer(0, 60),
  });
  const given = { ...options, axis };
  if (random.unit() < 0.5) {
    const sos = design('sos', 8).ours() as Sections;
    return {
      call: { name: 'sosfiltfilt', arrays: [sos, x], options: given },
      ours: () => [sosfiltfilt(sos, x, given)],
      most: near(x),
    };
  }
  const { b, a } = design('ba', 4).ours() as { b: Float64Array; a: Float64Array };
  return {
    call: { name: 'filtfilt', arrays: [vector(b), vector(a), x], options: given },
    ours: () => [filtfilt(b, a, x, given)],
    most: near(x),
  };
}

describeScipy([
  ['designs as polynomials', 60, 2, () => designCase('ba')],
  ['designs as sections', 60, 1, () => designCase('sos')],
  ['firwin', 30, 1, firwinCase],
  ['freqz', 30, 2, freqzCase],
  ['sosfreqz', 20, 2, sosfreqzCase],
  ['lfilter', 60, 2, lfilterCase],
  ['sosfilt', 40, 2, sosfiltCase],
  ['states at rest', 30, 1, restCase],
  ['filters both ways', 60, 1, bothWaysCase],
]);
