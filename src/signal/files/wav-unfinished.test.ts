/** WAV files whose writer did not know how long they get, files cut short, and files whose chunks are out of place. */
import { describe, expect, it } from 'vitest';
import { damage } from '../../../test/support/damage.ts';
import { randomFor } from '../../../test/support/random.ts';
import { bigSized, bytesOf, chunk, chunk64, file, fmt, packed, riff, wave64 } from '../../../test/support/wav.ts';
import { FftError } from '../../problem/errors.ts';
import { readWav } from './wav.ts';

const random = randomFor('unfinished WAV files');
const frames = random.integer(5, 40);
const samples = Array.from({ length: 2 * frames }, () => random.integer(-(2 ** 15), 2 ** 15 - 1));
const expected = [0, 1].map((channel) =>
  Float32Array.from({ length: frames }, (_, k) => samples[2 * k + channel]! / 2 ** 15),
);
const data = packed(samples, 2);
const layout = { tag: 1, bits: 16, channels: 2 };
const format = chunk('fmt ', fmt(layout));
const sizes = (size: bigint) => {
  const body = new DataView(new ArrayBuffer(28));
  for (const at of [0, 8, 16]) body.setBigUint64(at, size, true);
  return chunk('ds64', bytesOf(body));
};
const ones = 2n ** 64n - 1n;
/** Half a frame more, as where a recorder was switched off. */
const cut = Uint8Array.from([...data, 1, 2]);

const wave64Start = [chunk64('fmt ', fmt(layout)), chunk64('junk', new Uint8Array(3))];

/** A Wave64 file up to the first sample, with any size. */
function header64(size: bigint): Uint8Array {
  const bytes = wave64([...wave64Start, chunk64('data', new Uint8Array(0))]);
  new DataView(bytes.buffer).setBigUint64(bytes.length - 8, size, true);
  return bytes;
}

const unfinished64 = (size: bigint) => Uint8Array.from([...header64(size), ...cut]);
/** What stands after the header of a file, after another header. */
const repeated = (...rest: readonly Uint8Array[]) =>
  Uint8Array.from(Buffer.concat([header64(23n), header64(24n), ...rest]));

function failure(run: () => unknown): FftError {
  try {
    run();
  } catch (error) {
    if (error instanceof FftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** What has been read, and that there is one warning, which says `warning`. */
function expectWarned(bytes: Uint8Array, warning: RegExp, options = {}): void {
  const { warnings, ...recording } = readWav(bytes, options);
  expect(recording).toEqual({ sampleRate: 8000, channels: expected, format: '16-bit PCM' });
  expect(warnings).toEqual([expect.stringMatching(warning)]);
}

describe('a writer that did not know the size', () => {
  // ffmpeg, SoX (a multiple of the frame, too), recorders, libsndfile and Python's `wave`.
  const placeholders = [
    0xffffffff, 0x7fffffff, 0x7ffff000, 0x7fffeffc, 0x80000000, 0x7fffff00, 0xffff1000, 0xffffffdb, 0,
  ];
  it.each<[string, Uint8Array]>([
    ...placeholders.map((size): [string, Uint8Array] => [
      `RIFF with 0x${size.toString(16)}`,
      riff('RIFF', format, chunk('data', cut, size)),
    ]),
    ['RF64 with zeros', riff('RF64', sizes(0n), format, chunk('data', cut, 0xffffffff))],
    ['RF64 with ones', riff('RF64', sizes(ones), format, chunk('data', cut, 0xffffffff))],
    ['RF64 with neither size', riff('RF64', sizes(0n), format, chunk('data', cut, 0))],
    ['RF64 with sizes of 32 bits', riff('RF64', sizes(0xffffffffn), format, chunk('data', cut, 0xffffffff))],
    ['BW64 without sizes', riff('BW64', format, chunk('data', cut, 0xffffffff))],
    ['RF64 without sizes, from SoX', riff('RF64', format, chunk('data', cut, 0x7ffff000))],
    ...[2n ** 63n - 1n, ones, 2n ** 63n, 0n, 23n, 24n, 2n ** 32n - 1n].map((size): [string, Uint8Array] => [
      `W64 with ${size}`,
      unfinished64(size),
    ]),
    // Where libsndfile cannot go back, it writes its header before the samples, once more, and after them.
    ['W64 with two headers', repeated(cut)],
    ['W64 with three headers', repeated(cut, header64(0n))],
    [
      'RIFX',
      Uint8Array.from([
        ...Buffer.from('RIFX____WAVE'),
        ...bigSized(chunk('fmt ', Uint8Array.of(0, 1, 0, 2, 0, 0, 0x1f, 0x40, 0, 0, 0x7d, 0, 0, 4, 0, 16))),
        ...bigSized(chunk('data', cut, 0xffffffff)).subarray(0, 8),
        ...samples.flatMap((value) => [(value >> 8) & 0xff, value & 0xff]),
      ]),
    ],
  ])('is read to the end, with a warning: %s', (_name, bytes) => {
    expectWarned(bytes, /does not say how many samples/);
  });

  it('is none where the size is true, or where nothing but other chunks follows', () => {
    const empty = riff('RIFF', format, chunk('data', new Uint8Array(0)), chunk('LIST', new Uint8Array(20)));
    expect(failure(() => readWav(empty)).message).toMatch(/no samples/);
    const long = riff('RF64', sizes(BigInt(data.length)), format, chunk('data', data, 0xffffffff), chunk('LIST', data));
    expect(readWav(long)).toEqual({ sampleRate: 8000, channels: expected, format: '16-bit PCM' });
  });

  it('has written no sample yet', () => {
    for (const size of [0, 0xffffffff, 0x7ffff000]) {
      const bytes = riff('RIFF', format, chunk('data', new Uint8Array(0), size));
      expect(failure(() => readWav(bytes)).message).toMatch(/no samples/);
    }
    expect(failure(() => readWav(repeated())).message).toMatch(/no samples/);
  });
});

describe('a file cut short', () => {
  it.each<[string, Uint8Array, number]>([
    ['RIFF', file({ ...layout, announce: 1000 }, cut), 1000],
    ['RF64', riff('RF64', sizes(2n ** 33n), format, chunk('data', cut, 0xffffffff)), 2 ** 33],
    ['W64', unfinished64(1024n), 1000],
  ])('is refused, or read as far as it goes where that is asked for: %s', (_name, bytes, announced) => {
    const { code, message } = failure(() => readWav(bytes));
    expect(code).toBe('invalid-file');
    expect(message).toContain("{ truncated: 'accept' }");
    expect(message).toContain(`announces ${announced} bytes of samples and has ${cut.length}.`);
    expect(failure(() => readWav(bytes, { truncated: 'refuse' })).message).toBe(message);
    expectWarned(bytes, /truncated: it announces/, { truncated: 'accept' });
  });

  it('is refused where not one frame is there', () => {
    const bytes = file({ ...layout, announce: 1000 }, data.subarray(0, 3));
    // With its padding that would be a frame.
    expect(failure(() => readWav(bytes.subarray(0, -1), { truncated: 'accept' })).message).toMatch(/no samples/);
  });

  it.each<[unknown, RegExp]>([
    [{ truncated: 'yes' }, /^truncated is 'yes'; it is 'refuse' or 'accept'/],
    [{ truncated: true }, /^truncated is true; it is/],
    [{ accept: true }, /accept is not known; readWav takes truncated/],
    [7, /options of readWav are 7/],
  ])('is read with options that are known only: %o', (options, message) => {
    expect(failure(() => readWav(file(layout, data), options as never)).message).toMatch(message);
  });
});

describe('chunks that do not follow one another', () => {
  const sound = chunk('data', data);
  // Its last byte, the padding, is left out.
  const unpadded = (id: string, length: number) => chunk(id, new Uint8Array(length).fill(0x20)).subarray(0, 8 + length);

  it.each([1, 3, 7, 27])('need no padding: %i bytes', (length) => {
    const note = unpadded('note', length);
    for (const chunks of [
      [note, format, sound],
      [format, note, sound],
      [format, note, unpadded('cue ', 5), sound],
      [format, note, chunk('LIST', new Uint8Array(6)), unpadded('cue ', 5), sound],
    ]) {
      expect(readWav(riff('RIFF', ...chunks))).toEqual({ sampleRate: 8000, channels: expected, format: '16-bit PCM' });
    }
    const start64 = chunk64('note', new Uint8Array(length)).subarray(0, 24 + length);
    expect(readWav(wave64([start64, chunk64('fmt ', fmt(layout)), chunk64('data', data)])).channels).toEqual(expected);
  });

  it('are found whatever the first sample and the size, without padding', () => {
    // One byte further on, "ata" and the lowest byte of the size look like a name, and the rest like a size that fits.
    const silent = new Uint8Array(0x2040);
    const bytes = riff('RIFF', format, unpadded('note', 3), chunk('data', silent));
    expect(readWav(bytes).channels.map(({ length }) => length)).toEqual([0x810, 0x810]);
  });

  const text = new TextEncoder().encode('metadata, data and data: fmt ');
  it.each<[string, Uint8Array]>([
    ['a size past the end', chunk('LIST', text, 1_000_000)],
    ['a size in the other byte order', bigSized(chunk('LIST', text))],
    ['a size of all ones', chunk('JUNK', text, 0xffffffff)],
    ['a size that is too small', chunk('LIST', text, 2)],
    ['a size that is too large', chunk('LIST', text, text.length + 21)],
    ['no name at all', new Uint8Array(64).fill(200)],
    ['more than is searched at a time', new Uint8Array(2 ** 16 - 40 + random.integer(0, 16)).fill(200)],
  ])('are searched for, with a warning: %s', (_name, other) => {
    for (const end of [sound, chunk('data', data, 0xffffffff)]) {
      const { warnings, ...recording } = readWav(riff('RIFF', format, other, end));
      expect(recording).toEqual({ sampleRate: 8000, channels: expected, format: '16-bit PCM' });
      expect(warnings?.[0]).toMatch(/"data" chunk had to be searched for, and was found at byte \d+\.$/);
      expect(warnings).toHaveLength(end === sound ? 1 : 2);
    }
    const { warnings, ...recording } = readWav(riff('RIFF', other, format, sound));
    expect(recording.channels).toEqual(expected);
    expect(warnings).toEqual([expect.stringMatching(/"fmt " chunk had to be searched for/)]);
    const long = readWav(wave64([chunk64('fmt ', fmt(layout)), new Uint8Array(40).fill(200), chunk64('data', data)]));
    expect(long.channels).toEqual(expected);
  });

  it('never make a reader fail otherwise, whatever the bytes', async () => {
    const files = [
      riff('RIFF', format, unpadded('note', 3), chunk('data', cut, 0x7ffff000)),
      riff('RF64', sizes(0n), chunk('LIST', text, 1_000_000), format, chunk('data', cut, 0xffffffff)),
      repeated(cut, header64(0n)),
    ];
    const refused = await damage('unfinished WAV damage', files, 2000, (bytes) =>
      readWav(bytes, { truncated: 'accept' }),
    );
    expect(refused).toBeGreaterThan(200);
  });
});
