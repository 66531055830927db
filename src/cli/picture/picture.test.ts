import { decode } from 'fast-png';
import { describe, expect, it } from 'vitest';
import { randomFor } from '../../../test/support/random.ts';
import type { LevelSpectrogram } from '../../signal/index.ts';
import { figure } from './figure.ts';
import { frequencyScale, tickLabels } from './frequency-scale.ts';
import { heatmap, levelRange } from './heatmap.ts';
import { spectrogramPng } from './render.ts';
import { colourMaps, coloursOf, LEAST_PIXELS, pictureLayout } from './style.ts';

const colours = coloursOf('magma');
const { plot: PLOT, ...PICTURE } = pictureLayout({});

/** Silence at −120 dB with one loud spot, at fractions of the duration and of the bandwidth. */
function spot(time: number, frequency: number, frames = 200, bins = 129): LevelSpectrogram {
  const size = 2 * (bins - 1);
  const levels = new Float32Array(frames * bins).fill(-120);
  levels[Math.round(time * (frames - 1)) * bins + Math.round(frequency * (bins - 1))] = -3;
  const rest = { sampleRate: 8000, window: 'hann', size, hop: size, batches: 1, plan: '' } as const;
  return { levels, frames, bins, ...rest };
}

const brightness = (data: ArrayLike<number>, pixel: number) =>
  (data[4 * pixel] ?? 0) + (data[4 * pixel + 1] ?? 0) + (data[4 * pixel + 2] ?? 0);

/** The position of the brightest pixel, as fractions of width and height from the bottom left. */
function brightest(data: ArrayLike<number>, width: number, height: number): [number, number] {
  let best = 0;
  for (let pixel = 0; pixel < width * height; pixel++)
    if (brightness(data, pixel) > brightness(data, best)) best = pixel;
  return [((best % width) + 0.5) / width, 1 - (Math.floor(best / width) + 0.5) / height];
}

describe('heatmap', () => {
  it.each([
    [0.5, 0.25, 200, 129],
    [0.25, 0.75, 5000, 129],
    [0.75, 0.5, 20, 2049],
    [1, 1, 300, 65],
    [0, 0, 300, 65],
  ])('shows time %f and frequency %f where they belong (%i frames, %i bins)', (time, frequency, frames, bins) => {
    const map = heatmap(spot(time, frequency, frames, bins), { low: -100, high: 0 }, 400, 300);
    const [x, y] = brightest(map.data, 400, 300);
    expect(Math.abs(x - time)).toBeLessThan(0.05);
    expect(Math.abs(y - frequency)).toBeLessThan(0.01);
  });

  it.each(['linear', 'log', 'mel'] as const)('shows frequencies where the %s axis has them', (frequencies) => {
    // 8 kHz with 1024 samples in a frame: bin 128 is 1 kHz.
    const map = heatmap(spot(0.5, 128 / 512, 20, 513), { low: -100, high: 0 }, 100, 600, { frequencies });
    const [, y] = brightest(map.data, 100, 600);
    const wanted = {
      linear: 1000 / 4000,
      log: Math.log2(1000 / (8000 / 1024)) / 9,
      mel: 15 / (15 + 27 * (Math.log(4) / Math.log(6.4))),
    };
    expect(Math.abs(y - wanted[frequencies])).toBeLessThan(0.01);
    expect(frequencyScale(frequencies, { sampleRate: 8000, size: 1024 }).hertzAt(wanted[frequencies])).toBeCloseTo(
      1000,
      6,
    );
  });

  it('has maps of 256 colours, of which no two neighbours are far apart', () => {
    for (const map of colourMaps) {
      const table = coloursOf(map);
      expect(table.length).toBe(768);
      for (let k = 3; k < 768; k++) expect(Math.abs(table[k]! - table[k - 3]!), map).toBeLessThan(16);
      const level = (value: number) =>
        heatmap({ ...spot(0, 0), levels: new Float32Array(200 * 129).fill(value) }, { low: -80, high: 0 }, 1, 1, {
          colours: map,
        });
      expect(level(0).data).toEqual(Uint8Array.of(...table.slice(-3), 255));
      expect(level(-80).data).toEqual(Uint8Array.of(...table.slice(0, 3), 255));
    }
  });

  it('grows brighter with the level, from its range’s low to its high end', () => {
    const steps = Array.from({ length: 256 }, (_, k) => {
      const [red = 0, green = 0, blue = 0] = colours.subarray(3 * k);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    });
    for (let k = 1; k < 256; k++) expect(steps[k]).toBeGreaterThanOrEqual((steps[k - 1] ?? 0) - 0.5);
    const flat = (level: number) => {
      const silent = spot(0, 0);
      return heatmap({ ...silent, levels: silent.levels.fill(level) }, { low: -80, high: 0 }, 2, 2).data.slice(0, 3);
    };
    expect(flat(-300)).toEqual(colours.slice(0, 3));
    expect(flat(50)).toEqual(colours.slice(-3));
    expect(flat(-40)).toEqual(colours.slice(3 * 128, 3 * 129));
  });
});

describe('levelRange', () => {
  it('reaches from the noise floor to the loudest level, 40 to 100 dB', () => {
    const around = (floor: number, loudest: number) =>
      levelRange({ levels: Float32Array.from({ length: 500 }, (_, k) => (k ? floor : loudest)), bins: 5 });
    expect(around(-63, -12)).toEqual({ low: -70, high: -10 });
    expect(around(-200, -12)).toEqual({ low: -110, high: -10 });
    expect(around(-20, -12)).toEqual({ low: -50, high: -10 });
    expect(around(-130, -120)).toEqual({ low: -140, high: -100 });
  });

  it('is as wide as asked for', () => {
    const levels = Float32Array.from({ length: 500 }, (_, k) => (k ? -63 : -12));
    expect(levelRange({ levels, bins: 5 }, 25)).toEqual({ low: -35, high: -10 });
  });

  it('leaves silence dark', () => {
    const silent = { ...spot(0, 0), levels: new Float32Array(200 * 129).fill(-200) };
    const range = levelRange(silent);
    expect(range).toEqual({ low: -200, high: -100 });
    expect(heatmap(silent, range, 2, 2).data.slice(0, 3)).toEqual(colours.slice(0, 3));
  });

  it('finds the floor whatever the numbers of frames and bins, though one bin is not like the others', () => {
    const random = randomFor('levelRange');
    // Near 20,000 frames a step through the levels is about a frame long.
    for (const bins of [8, random.integer(12, 65)]) {
      for (const frames of [20_000, 20_001, random.integer(20_000, 80_000)]) {
        for (const bin of [0, random.integer(1, bins - 1)]) {
          const levels = Float32Array.from({ length: frames * bins }, (_, k) => (k % bins === bin ? -90 : -20));
          levels[1] = 0;
          // One bin of 8 is more than a tenth of all levels; one of 12 is not.
          expect(levelRange({ levels, bins }), `${frames} frames of ${bins} bins, bin ${bin}`).toEqual(
            bins === 8 ? { low: -90, high: 0 } : { low: -40, high: 0 },
          );
        }
      }
    }
  });
});

describe('figure', () => {
  it('labels axes in fitting units', () => {
    const svg = (sampleRate: number) =>
      figure({ ...spot(0, 0), sampleRate }, { low: -90, high: 0 }, { title: 'a < b & "c"', subtitle: '' });
    expect(svg(8000)).toMatch(/>Time \(s\)<.*>Frequency \(kHz\)</s);
    expect(svg(1000)).toMatch(/>Time \(s\)<.*>Frequency \(Hz\)</s);
    expect(svg(48)).toContain('>Time (min)<');
    expect(svg(1e6)).toContain('>Time (ms)<');
    expect(svg(8000)).toContain('>a &#60; b &#38; &#34;c&#34;<');
  });

  it('shows characters that XML forbids as U+FFFD', () => {
    const titled = (title: string) =>
      figure(spot(0, 0), { low: -90, high: 0 }, { title, subtitle: '' }).match(/weight="600"[^>]*>(.*?)<\/text>/s)?.[1];
    expect(titled('a\u0000b\u0001\u001b[1m\u001f.wav')).toBe('a\ufffdb\ufffd\ufffd[1m\ufffd.wav');
    expect(titled('\ud800 \udfff \ufffe\uffff')).toBe('\ufffd \ufffd \ufffd\ufffd');
    const allowed = 'tab\t, Ünïcödé, 音, \u{1f3b8}, \u{10ffff}';
    expect(titled(allowed)).toBe(allowed);
  });

  it('puts ticks at round values with the decimals they need', () => {
    expect(tickLabels(0, 8, 9).map(({ label }) => label)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
    expect(tickLabels(0, 0.5, 5).map(({ label }) => label)).toEqual(['0.0', '0.1', '0.2', '0.3', '0.4', '0.5']);
    expect(tickLabels(-20, 0, 2).map(({ label }) => label)).toEqual(['−20', '−10', '0']);
  });
});

describe('frequencyScale', () => {
  const labels = (name: 'linear' | 'log' | 'mel', sampleRate: number, size = 1024, count = 9) =>
    frequencyScale(name, { sampleRate, size })
      .ticks(count)
      .map(({ label }) => label);

  it('marks round frequencies that are apart', () => {
    expect(labels('linear', 16_000)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
    expect(labels('log', 48_000)).toEqual(['50', '100', '200', '500', '1000', '2000', '5000', '10000', '20000']);
    expect(labels('mel', 48_000)).toEqual(['0', '500', '1000', '2000', '5000', '10000', '20000']);
    expect(labels('mel', 8)).toEqual(['0', '0.5', '1', '2']);
  });

  it('has marks that do not touch, whatever the rate', () => {
    for (const name of ['log', 'mel'] as const) {
      for (const sampleRate of [2, 50, 8000, 44_100, 192_000, 5e6]) {
        const found = frequencyScale(name, { sampleRate, size: 2048 }).ticks(6);
        expect(found.length).toBeGreaterThan(1);
        found.forEach(({ at }, k) => expect(at).toBeGreaterThanOrEqual(k ? found[k - 1]!.at + 0.09 : 0));
        expect(found.at(-1)!.at).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe('spectrogramPng', () => {
  it('draws pictures of the size and kind asked for', async () => {
    const size = { width: 811, height: LEAST_PIXELS.height };
    const style = { ...size, frequencies: 'mel', colours: 'greys', dynamicRange: 30 } as const;
    const title = 'A long title that would be wider than the picture if its letters stayed as they are';
    const { width, height, data } = decode(await spectrogramPng(spot(0.5, 0.5), { title, subtitle: title }, style));
    expect({ width, height }).toEqual(size);
    const { plot } = pictureLayout(style);
    // Silence is white on paper.
    expect(brightness(data, (plot.y + 5) * width + plot.x + 5)).toBe(3 * 255);
    for (let y = 0; y < height; y++) expect(brightness(data, y * width + width - 2)).toBe(3 * 255);
  });

  it('draws titles whatever characters they have', async () => {
    const title = String.fromCharCode(...Array.from({ length: 160 }, (_, code) => code), 0xd800, 0xfffe, 0xffff);
    const bytes = await spectrogramPng(spot(0.5, 0.5, 20, 17), { title, subtitle: title });
    expect(decode(bytes).width).toBe(PICTURE.width);
  });

  it('is a PNG with the heat map in its frame and letters around it', async () => {
    const bytes = await spectrogramPng(spot(0.5, 0.5), { title: 'A title', subtitle: 'and more' });
    const { width, height, data } = decode(bytes);
    expect([width, height]).toEqual([PICTURE.width, PICTURE.height]);
    const centre = (PLOT.y + PLOT.height / 2) * width + PLOT.x + Math.round(PLOT.width * 0.1);
    expect(brightness(data, centre)).toBeLessThan(60);
    /** The number of dark pixels in a box: letters and lines on a white background. */
    const ink = (left: number, top: number, right: number, bottom: number) => {
      let count = 0;
      for (let y = top; y < bottom; y++)
        for (let x = left; x < right; x++) if (brightness(data, y * width + x) < 300) count++;
      return count;
    };
    expect(ink(PLOT.x, 20, 600, 70), 'title').toBeGreaterThan(300);
    expect(ink(PLOT.x, PLOT.y + PLOT.height + 15, PLOT.x + PLOT.width, height), 'time axis').toBeGreaterThan(500);
    expect(ink(0, PLOT.y, PLOT.x - 15, PLOT.y + PLOT.height), 'frequency axis').toBeGreaterThan(500);
    expect(ink(PLOT.x + PLOT.width + 80, PLOT.y, width, PLOT.y + PLOT.height), 'colour bar').toBeGreaterThan(500);
    expect(ink(0, 0, 20, height), 'margin').toBe(0);
  });
});
