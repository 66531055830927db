/** Recordings written by SoX, in every form of WAV that it and libsndfile have, against its own raw samples. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram, missing } from '../../../test/support/optional.ts';
import { runProgram } from '../../../test/support/programs.ts';
import { randomFor } from '../../../test/support/random.ts';
import { FftError } from '../../problem/errors.ts';
import { readWav } from './wav.ts';

const FORMS: readonly (readonly [name: string, format: string, args: readonly string[]])[] = [
  ['8-bit PCM', 'wav', ['-e', 'unsigned', '-b', '8']],
  ['16-bit PCM', 'wav', ['-e', 'signed', '-b', '16']],
  ['24-bit PCM', 'wav', ['-e', 'signed', '-b', '24']],
  ['32-bit PCM', 'wav', ['-e', 'signed', '-b', '32']],
  ['32-bit float', 'wav', ['-e', 'float', '-b', '32']],
  ['64-bit float', 'wav', ['-e', 'float', '-b', '64']],
  ['A-law', 'wav', ['-e', 'a-law']],
  ['µ-law', 'wav', ['-e', 'mu-law']],
  ['16-bit PCM', 'wav', ['-e', 'signed', '-b', '16', '-B']],
  ['24-bit PCM', 'wav', ['-e', 'signed', '-b', '24', '-B']],
  ['32-bit float', 'wav', ['-e', 'float', '-b', '32', '-B']],
  ['16-bit PCM', 'w64', ['-e', 'signed', '-b', '16']],
  ['24-bit PCM', 'w64', ['-e', 'signed', '-b', '24']],
  ['32-bit float', 'w64', ['-e', 'float', '-b', '32']],
  ['A-law', 'w64', ['-e', 'a-law']],
];

const program = findProgram(['sox']);
missing('sox', program ? undefined : 'there is no sox on the PATH');

describe.runIf(program)('SoX', () => {
  const folder = mkdtempSync(join(tmpdir(), 'omnifft-sox-'));
  const random = randomFor('recordings of SoX');
  afterAll(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  // No dither: the same samples in and out.
  const sox = (...args: readonly string[]) => runProgram(program!, ['-D', '-V1', ...args]);

  /** Two channels of 1000 frames. */
  function recording(): string {
    const samples = Float32Array.from({ length: 2000 }, () => 1.8 * random.unit() - 0.9);
    writeFileSync(at('in.f32'), new Uint8Array(samples.buffer));
    return at('in.f32');
  }

  it.each(FORMS)('%s in %s with %j', (name, format, args) => {
    const raw = ['-t', 'raw', '-e', 'float', '-b', '32', '-r', '11025', '-c', '2'];
    const file = at(`out.${format}`);
    sox(...raw, recording(), '-t', format, ...args, file);
    // What SoX reads out of floating point in Wave64, it scales by the loudest sample: there, what it was given is the same.
    const reference = name.endsWith('float') ? at('in.f32') : at('out.f32');
    sox(file, ...raw, at('out.f32'));
    const { sampleRate, channels, format: read } = readWav(readFileSync(file));
    expect({ sampleRate, read, channels: channels.length }).toEqual({ sampleRate: 11025, read: name, channels: 2 });
    const expected = new Float32Array(new Uint8Array(readFileSync(reference)).buffer);
    expect(channels[0]).toHaveLength(1000);
    for (let k = 0; k < expected.length; k++) {
      // SoX computes in integers of 32 bits.
      expect(Math.abs(channels[k % 2]![k >> 1]! - expected[k]!), `sample ${k}`).toBeLessThan(2 ** -24);
    }
  });

  it.each(FORMS)('%s in %s with %j, written to a pipe, is read to its end', (name, format, args) => {
    const raw = ['-t', 'raw', '-e', 'float', '-b', '32', '-r', '11025', '-c', '2'];
    sox(...raw, recording(), '-t', format, ...args, at(`out.${format}`));
    // SoX knows the length of what it reads from a file.
    const command = 'cat "$recording" | "$program" "$@" - | cat';
    const given = ['-D', '-V1', ...raw, '-', '-t', format, ...args];
    const env = { ...process.env, program: program!, recording: at('in.f32') };
    const { stdout } = spawnSync('sh', ['-c', command, 'sh', ...given], { env });
    const { channels, warnings } = readWav(stdout);
    expect(channels).toEqual(readWav(readFileSync(at(`out.${format}`))).channels);
    expect({ name, warnings }).toEqual({ name, warnings: [expect.stringMatching(/does not say how many samples/)] });
  });

  it.each([['ima-adpcm'], ['ms-adpcm'], ['gsm-full-rate']])('%s is refused, with what to run', (encoding) => {
    const mono = ['-t', 'raw', '-e', 'float', '-b', '32', '-r', '8000', '-c', '1'];
    sox(...mono, recording(), '-e', encoding, at('packed.wav'));
    expect(() => readWav(readFileSync(at('packed.wav')))).toThrow(FftError);
    expect(() => readWav(readFileSync(at('packed.wav')))).toThrow(/(ADPCM|GSM).*ffmpeg -i INPUT/);
  });
});
