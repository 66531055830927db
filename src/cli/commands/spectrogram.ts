/** `omnifft spectrogram`: draws the spectrogram of a recording. */

import { basename } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FftError } from '../../index.ts';
import { plainWindowNames, type WindowName } from '../../signal/windows/window-kinds.ts';
import { warn, withOptionNames } from '../failures.ts';
import { checkOutput, reportDone, writeOutput } from '../files.ts';
import { duration } from '../format.ts';
import { inputName, readWith } from '../inputs.ts';
import { type DeviceFlags, outputPath, positiveInteger, useDevice, withDevice, withJson } from '../options.ts';
import { type FrequencyScaleName, frequencyScales, LEAST_LOG_SIZE } from '../picture/frequency-scale.ts';
import { type ColourMap, captionOf, colourMaps, LEAST_PIXELS, MOST_PIXELS } from '../picture/style.ts';
import { secondsSinceStart, startProgress } from '../progress.ts';

interface SpectrogramFlags extends DeviceFlags {
  readonly output: string;
  readonly truncated: 'refuse' | 'accept';
  readonly size: number;
  readonly hop?: number;
  readonly window: WindowName;
  readonly frequencies: FrequencyScaleName;
  readonly dynamicRange?: number;
  readonly colours: ColourMap;
  readonly width: number;
  readonly height: number;
  readonly json: boolean;
}

export function addSpectrogram(program: Command): void {
  const command = program
    .command('spectrogram')
    .description('draw how the frequencies of a recording change over time')
    .argument(
      '<input.wav>',
      'WAV of PCM, floating point, A-law or µ-law; channels are mixed down to one; - for standard input',
    )
    .requiredOption(
      '-o, --output <output.png>',
      'where to write the picture, a PNG; - for standard output',
      outputPath('.png'),
    )
    .addOption(
      new Option('--truncated <what>', 'what to do with a recording that ends before the samples that it announces')
        .choices(['refuse', 'accept'])
        .default('refuse'),
    )
    .option('-s, --size <samples>', 'samples in a frame, the length of each transform', positiveInteger, 1024)
    .option('--hop <samples>', 'samples from one frame to the next (default: a quarter of the size)', positiveInteger)
    // Windows with parameters are left out, because no option passes parameters.
    .addOption(new Option('-w, --window <name>', 'window function').choices(plainWindowNames).default('hann'));
  withJson(withDevice(withPicture(command))).action(spectrogramFile);
}

/** Adds the options for the look of the picture. */
function withPicture(command: Command): Command {
  return command
    .addOption(
      new Option('--frequencies <scale>', 'axis of frequencies: even, by octaves, or by how high they sound')
        .choices(frequencyScales)
        .default('linear'),
    )
    .option(
      '--dynamic-range <decibels>',
      'from the loudest level to the lowest that is told apart (default: down to the noise floor, 40 to 100)',
      decibels,
    )
    .addOption(new Option('--colours <map>', 'colours of the levels').choices(colourMaps).default('magma'))
    .option('--width <pixels>', 'width of the picture', pixels(LEAST_PIXELS.width), 1600)
    .option('--height <pixels>', 'height of the picture', pixels(LEAST_PIXELS.height), 900);
}

/** The widest range of levels in decibels; single precision has nothing below it but silence. */
const MOST_DECIBELS = 400;

function decibels(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= 1 && value <= MOST_DECIBELS) return value;
  throw new InvalidArgumentError(`A number from 1 to ${MOST_DECIBELS} is needed.`);
}

/** Reads the width or height of a picture, in pixels. */
function pixels(least: number): (text: string) => number {
  return (text) => {
    const value = positiveInteger(text);
    if (value >= least && value <= MOST_PIXELS) return value;
    throw new InvalidArgumentError(`A number of pixels from ${least} to ${MOST_PIXELS} is needed.`);
  };
}

/** Checks that the options go together. @throws FftError `invalid-usage` */
function checkFlags({ frequencies, size }: SpectrogramFlags): void {
  if (frequencies !== 'log' || size >= LEAST_LOG_SIZE) return;
  const message = `--frequencies log needs frames of ${LEAST_LOG_SIZE} samples or more; --size is ${size}, of which no octave is told from another.`;
  throw new FftError('invalid-usage', message);
}

async function spectrogramFile(input: string, options: SpectrogramFlags): Promise<void> {
  checkFlags(options);
  await checkOutput(options.output);
  // Loaded on demand: the drawing libraries and the WAV reader take longer to load than other commands take to run.
  const { loadRenderer, spectrogramPng } = await import('../picture/render.ts');
  await loadRenderer();
  const { levelSpectrogram } = await import('../../signal/short-time/level-spectrogram.ts');
  const { mixDown, readWavFrom } = await import('../../signal/files/wav.ts');
  const recording = await readWith(input, (source) => readWavFrom(source, options));
  const warnings = (recording.warnings ?? []).map((warning) => `${inputName(input)}: ${warning}`);
  if (!options.json) warn(warnings);
  const progress = startProgress('transforming');
  try {
    const { result, device } = await useDevice({ ...options, precision: 'single' }, async (device) => {
      const { size, hop, window } = options;
      const { sampleRate } = recording;
      const result = await withOptionNames(['size', 'hop', 'window'], () =>
        levelSpectrogram(mixDown(recording), {
          ...{ sampleRate, device, size, window, onProgress: progress.update },
          ...(hop === undefined ? {} : { hop }),
        }),
      );
      return { result, device: device.name };
    });
    if (!result.levels.every(Number.isFinite)) {
      throw new FftError(
        'invalid-file',
        `${inputName(input)}: there are samples that are no numbers, or so large that their power is none; full scale is −1 to 1.`,
      );
    }
    await writeOutput(
      options.output,
      await spectrogramPng(result, captionOf(basename(inputName(input)), recording, result), options),
    );
    progress.stop();
    const { frames, bins, size, hop, window } = result;
    const { width, height, frequencies, colours } = options;
    const seconds = secondsSinceStart();
    const picture = { width, height, frequencies, colours };
    const summary = { output: options.output, frames, bins, size, hop, window, ...picture, device, seconds, warnings };
    if (options.json) return reportDone(options.output, JSON.stringify(summary));
    reportDone(
      options.output,
      `${options.output}: ${frames} transform${frames === 1 ? '' : 's'} of ${size} point${size === 1 ? '' : 's'}, ${duration(seconds)} in all on ${device}`,
    );
  } finally {
    progress.stop();
  }
}
