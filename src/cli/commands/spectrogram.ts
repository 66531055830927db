/** `omnifft spectrogram`: a picture of a recording. */

import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { FftError } from '../../index.ts';
import { plainWindowNames, type WindowName } from '../../signal/window-kinds.ts';
import { checkOutput, report, writeOutput } from '../files.ts';
import { duration } from '../format.ts';
import { inputName, readWith } from '../inputs.ts';
import { type DeviceOptions, outputPath, positiveInteger, useDevice, withDevice, withJson } from '../options.ts';
import { captionOf } from '../picture/caption.ts';
import { startProgress } from '../progress.ts';
import { withOptionNames } from '../words.ts';

interface SpectrogramOptions extends DeviceOptions {
  readonly output: string;
  readonly size: number;
  readonly hop?: number;
  readonly window: WindowName;
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
    .option('-s, --size <samples>', 'samples in a frame, the length of each transform', positiveInteger, 1024)
    .option('--hop <samples>', 'samples from one frame to the next (default: a quarter of the size)', positiveInteger)
    // Those without parameters: there is no option to give any.
    .addOption(new Option('-w, --window <name>', 'window function').choices(plainWindowNames).default('hann'));
  withJson(withDevice(command)).action(spectrogramFile);
}

async function spectrogramFile(input: string, options: SpectrogramOptions): Promise<void> {
  await checkOutput(options.output);
  // Other commands do not need what reads WAV.
  const { mixDown, spectrogram } = await import('../../signal/index.ts');
  const { readWavFrom } = await import('../../signal/wav.ts');
  const recording = await readWith(input, (source) => readWavFrom(source));
  const progress = startProgress('transforming');
  try {
    const { result, seconds, device } = await useDevice({ ...options, precision: 'single' }, async (device) => {
      const { size, hop, window } = options;
      const { sampleRate } = recording;
      const started = performance.now();
      const result = await withOptionNames(['size', 'hop', 'window'], () =>
        spectrogram(mixDown(recording), {
          ...{ sampleRate, device, size, window, onProgress: progress.update },
          ...(hop === undefined ? {} : { hop }),
        }),
      );
      return { result, seconds: (performance.now() - started) / 1000, device: device.name };
    });
    if (!result.levels.every(Number.isFinite)) {
      throw new FftError(
        'invalid-file',
        `${inputName(input)}: there are samples that are no numbers, or so large that their power is none; full scale is −1 to 1.`,
      );
    }
    // The drawing libraries take longer to load than the other commands to run.
    const { spectrogramPng } = await import('../picture/render.ts');
    await writeOutput(
      options.output,
      await spectrogramPng(result, captionOf(basename(inputName(input)), recording, result)),
    );
    progress.stop();
    const { frames, bins, size, hop, window } = result;
    const summary = { output: options.output, frames, bins, size, hop, window, device, seconds };
    if (options.json) return report(options.output, JSON.stringify(summary));
    report(
      options.output,
      `${options.output}: ${frames} transform${frames === 1 ? '' : 's'} of ${size} point${size === 1 ? '' : 's'}, ${duration(seconds)} on ${device}`,
    );
  } finally {
    progress.stop();
  }
}
