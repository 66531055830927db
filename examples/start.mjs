// `npm start`: a recording becomes a picture of its frequencies, on the CPU of this machine.
//
// The command line does much the same: `omnifft spectrogram examples/data/guitar.wav --hop 128 -o out/spectrogram.png`.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openDevice } from 'omnifft';
import { mixDown, readWav } from 'omnifft/signal';
import { captionOf, levelSpectrogram, spectrogramPng } from '../dist/cli/picture/index.js';

const source = new URL('data/guitar.wav', import.meta.url);
const target = new URL('../out/spectrogram.png', import.meta.url);

const recording = readWav(await readFile(source));
const samples = mixDown(recording);
const device = await openDevice('cpu');
try {
  const started = performance.now();
  const result = await levelSpectrogram(samples, { sampleRate: recording.sampleRate, device, size: 1024, hop: 128 });
  const milliseconds = performance.now() - started;
  const picture = await spectrogramPng(result, captionOf('An electric guitar, plucked', recording, result));
  await mkdir(new URL('.', target), { recursive: true });
  await writeFile(target, picture);

  const seconds = samples.length / recording.sampleRate;
  console.log(`Device   ${device.name}`);
  console.log(`Input    ${fileURLToPath(source)}: ${seconds.toFixed(1)} s of sound, ${recording.format}`);
  console.log(`Plan     ${result.plan.trimEnd().replaceAll('\n', '\n         ')}`);
  console.log(
    `Time     ${milliseconds.toFixed(1)} ms to plan, compile and run ${result.frames} transforms of ${result.size} points`,
  );
  console.log(`Picture  ${fileURLToPath(target)}`);
} finally {
  device.close();
}
