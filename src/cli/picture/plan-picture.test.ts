import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { beforeAll, describe, expect, it } from 'vitest';
import { bytesText } from '../../engine/index.ts';
import { openProfile, type ProblemInput, type ProfileName } from '../../index.ts';
import { liveRangesOf } from './plan-lanes.ts';
import { planSvg } from './plan-picture.ts';
import { escapeXml, type Rectangle, wrap } from './svg.ts';

const require = createRequire(import.meta.url);
let fontBuffers: Uint8Array[] = [];

beforeAll(async () => {
  await initWasm(await readFile(require.resolve('@resvg/resvg-wasm/index_bg.wasm')));
  const faces = ['inter-latin-400-normal.woff2', 'inter-latin-600-normal.woff2'];
  fontBuffers = await Promise.all(faces.map((face) => readFile(require.resolve(`@fontsource/inter/files/${face}`))));
});

const blocks = {
  space: [
    { from: 128, to: 256 },
    { from: 32, to: 64 },
  ],
} as const;
const problems: [string, ProfileName, ProblemInput][] = [
  ['one axis', 'h200', { size: [1024], batches: 16 }],
  ['four-step', 'h200', { size: [2 ** 27], normalize: true }],
  ['four-step on vectors, in place', 'wasm-cpu', { size: [2 ** 20], placement: 'in-place', directions: 'inverse' }],
  ['two axes in one launch', 'h200', { size: [64, 64], batches: 8 }],
  ['three axes in place', 'h200', { size: [4096, 4096, 16], placement: 'in-place' }],
  ['Bluestein', 'h200', { size: [1009] }],
  ['Bluestein on vectors', 'wasm-cpu', { size: [1009, 8], precision: 'double' }],
  ['blocks of zeros', 'h200', { size: [256, 64], batches: 4, zeroPadding: blocks }],
  ['blocks of zeros and whole lines of them', 'wasm-cpu', { size: [256, 64], batches: 4, zeroPadding: blocks }],
  ['halves', 'h200', { size: [4096], edgeStorage: 'half' }],
  ['a copy', 'h200', { size: [16, 4], omit: [true, true] }],
  ['planes, and many short axes', 'wasm-cpu', { size: [8, 9, 10, 11, 12], layout: 'planar' }],
  ['chunks of batches', 'wasm-cpu', { size: [64, 64], batches: 64 }],
  ['reals', 'wasm-cpu', { size: [1000], transform: 'r2c' }],
  ['long reals', 'h200', { size: [2 ** 24], transform: 'r2c' }],
  ['cosines and sines', 'h200', { size: [64, 64], transform: ['dct2', 'dst4'] }],
  ['cosines of a prime', 'wasm-cpu', { size: [4099], transform: 'dct3' }],
  ['two launches as one', 'h200', { size: [512, 512], batches: 9, directions: 'forward' }],
];

async function factsOf(profile: ProfileName, problem: ProblemInput) {
  const device = await openProfile(profile);
  const plan = await device.plan(problem);
  const facts = plan.toJSON();
  plan.destroy();
  device.close();
  return facts;
}

/** All rectangles with a meaning. */
function boxesOf(svg: string): (Rectangle & { kind: string })[] {
  const pattern = /<rect class="(\w+)" x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)"/g;
  return [...svg.matchAll(pattern)].map(([, kind = '', ...numbers]) => {
    const [x, y, width, height] = numbers.map(Number) as [number, number, number, number];
    return { kind, x, y, width, height };
  });
}

/** The rectangles of texts, as they are drawn. */
function textsOf(svg: string): (Rectangle & { content: string })[] {
  const sheet = svg.slice(0, svg.indexOf('>') + 1);
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([text, content = '']) => {
    const image = new Resvg(`${sheet}${text}</svg>`, { font: { fontBuffers, defaultFontFamily: 'Inter' } });
    const { x, y, width, height } = image.getBBox()!;
    image.free();
    return { content, x, y, width, height };
  });
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function within(a: Rectangle, b: Rectangle): boolean {
  return a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
}

describe('planSvg', () => {
  it.each(problems)('%s: no box on another, no text on another or out of its box', async (_name, profile, problem) => {
    const svg = planSvg(await factsOf(profile, problem));
    const [width, height] = /width="(\d+)" height="(\d+)"/.exec(svg)!.slice(1).map(Number) as [number, number];
    const boxes = boxesOf(svg);
    const texts = textsOf(svg);
    const page = { x: 20, y: 20, width: width - 40, height: height - 40 };
    for (const part of [...boxes, ...texts]) expect(within(part, page), JSON.stringify(part)).toBe(true);
    boxes.forEach((one, n) => {
      for (const other of boxes.slice(n + 1)) {
        const inside = one.kind === 'launch' && other.kind === 'stage' && within(other, one);
        expect(overlap(one, other) && !inside, JSON.stringify([one, other])).toBe(false);
      }
    });
    texts.forEach((one, n) => {
      const touched = texts.slice(n + 1).filter((other) => overlap(one, other));
      expect(touched, one.content).toEqual([]);
      for (const box of boxes) {
        if (overlap(one, box)) expect(within(one, box), `${one.content} in a ${box.kind}`).toBe(true);
      }
    });
  });

  it.each(problems)(
    '%s: names every launch, what it does and moves, from where to where',
    async (_name, profile, problem) => {
      const facts = await factsOf(profile, problem);
      const svg = planSvg(facts);
      // The renderer parses the file as XML.
      expect(() => new Resvg(svg).free()).not.toThrow();
      expect(svg).not.toMatch(/<image|undefined|NaN|\[object/);
      const launches = facts.directions.flatMap((direction) => direction.launches);
      const cards = svg.split('<rect class="launch"').slice(1);
      expect(cards.length).toBe(launches.length);
      launches.forEach(({ title, kernel, lengths, radices, threads, twiddles }, n) => {
        expect(cards[n]).toContain(`>${title}<`);
        expect(cards[n]).toContain(`>${kernel}<`);
        expect(cards[n]).toMatch(new RegExp(`\\b${threads} thread`));
        if (twiddles) expect(cards[n]).toContain(`>× twiddles of ${twiddles}<`);
        lengths.forEach((length, d) => {
          if (radices[d]!.length > 1) expect(cards[n]).toContain(`passes ${length} = ${radices[d]!.join('·')}<`);
        });
      });
      const said = textsOf(svg).map(({ content }) => content);
      const moved = launches.flatMap(({ bytesRead, bytesWritten }) => [
        `reads ${bytesText(bytesRead)}`,
        `writes ${bytesText(bytesWritten)}`,
      ]);
      expect(said.filter((text) => /^(reads|writes) /.test(text))).toEqual(moved);
      const headings = facts.directions.map(({ direction }) => (direction === 'forward' ? 'Forward' : 'Inverse'));
      expect(said.filter((text) => /^(Forward|Inverse)$/.test(text))).toEqual(headings);
      expect(said[0]).toContain(facts.device.name);
    },
  );

  it('arrows lead from the lane that a launch reads to the one that it writes', async () => {
    const facts = await factsOf('h200', { size: [2 ** 27], directions: 'forward' });
    const svg = planSvg(facts);
    const lanes = boxesOf(svg).filter(({ kind }) => kind === 'buffer');
    const names = textsOf(svg).filter(({ content }) => /^(input|temp|output)$/.test(content));
    const laneAt = (x: number) => {
      const lane = lanes.find((box) => Math.abs(box.x + box.width / 2 - x) < 3)!;
      return names.find((name) => within(name, lane))!.content;
    };
    const arrows = [...svg.matchAll(/class="flow" d="M([\d.]+) [^"]*"[^>]*>\s*<path class="head" d="M([\d.]+)/g)];
    const led = arrows.map((ends) => ends.slice(1).map((x) => laneAt(Number(x))));
    expect(led).toEqual(facts.directions[0]!.launches.map(({ from, to }) => [from, to]));
    expect(new Set(led.flat())).toEqual(new Set(['input', 'temp', 'output']));
  });

  it('shows what Bluestein does to its points, in order', async () => {
    // Rader's algorithm is limited to small primes, so that 1009 points take Bluestein's.
    const tuning = { rader: { multiply: [2, 13], convolve: [2, 13] } } as const;
    const svg = planSvg(await factsOf('h200', { size: [1009], directions: 'forward', edgeStorage: 'half', tuning }));
    const boxes = boxesOf(svg).filter(({ kind }) => kind === 'stage');
    const texts = textsOf(svg);
    expect(boxes.map((stage) => texts.find((text) => within(text, stage))?.content)).toEqual([
      'load half',
      '1009 points, then zeros',
      '× chirp',
      'passes 2048 = 16·16·8',
      '× chirp spectrum',
      'inverse passes 2048 = 16·16·8',
      '× chirp',
      'keep 1009 points',
      'store half',
    ]);
    expect(svg).toContain('a cyclic convolution of 2048 points');
  });

  it('says where batches go through the launches in chunks', async () => {
    const apart = planSvg(await factsOf('wasm-cpu', { size: [64, 64], batches: 64 }));
    expect(apart).toContain('>2 launches, 2 chunks of batches through all of them one after another<');
    const together = planSvg(await factsOf('h200', { size: [512, 512], batches: 9 }));
    expect(together).toMatch(/>2 launches as one, 9 chunks of batches, the first launch \d+ ahead of the second</);
  });

  it('shows devices whatever their names are', async () => {
    const facts = await factsOf('h200', { size: [8] });
    const name = 'A <b> & "c" \u0000';
    const svg = planSvg({ ...facts, device: { ...facts.device, name } });
    expect(svg).toContain(escapeXml(name));
    expect(() => new Resvg(svg).free()).not.toThrow();
  });
});

describe('heldOf', () => {
  const launched = (...moves: [number, string, string][]) =>
    moves.map(([y, from, to]) => ({ y, facts: { from, to } as Parameters<typeof liveRangesOf>[1][number]['facts'] }));

  it('is from what writes a buffer to what reads it last', () => {
    const launches = launched(
      [10, 'input', 'temp'],
      [20, 'temp', 'temp'],
      [30, 'temp', 'output'],
      [40, 'output', 'output'],
    );
    expect(liveRangesOf('input', launches, false, 0, 50)).toEqual([[0, 10]]);
    expect(liveRangesOf('temp', launches, false, 0, 50)).toEqual([
      [10, 20],
      [20, 30],
    ]);
    expect(liveRangesOf('output', launches, false, 0, 50)).toEqual([
      [30, 40],
      [40, 50],
    ]);
  });

  it('counts both names of one memory in place', () => {
    const launches = launched([10, 'input', 'temp'], [20, 'temp', 'output']);
    expect(liveRangesOf('output', launches, true, 0, 30)).toEqual([
      [0, 10],
      [20, 30],
    ]);
  });
});

describe('wrap', () => {
  it('cuts between words, and never into one', () => {
    const style = { size: 10 };
    expect(wrap('one two three', 1000, style)).toEqual(['one two three']);
    expect(wrap('one two three', 45, style)).toEqual(['one two', 'three']);
    expect(wrap('immeasurable', 5, style)).toEqual(['immeasurable']);
    expect(wrap('a b · c d', 20, style, ' · ')).toEqual(['a b', 'c d']);
  });
});
