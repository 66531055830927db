/** Features of speech: 30 s at 16 kHz to what Whisper is given, one thread, from host array to host array. */
import { loadLibrary, loadSignalLibrary } from '../library.ts';
import type { Table } from '../table.ts';

export const speech: Table = {
  name: 'speech',
  title: '30 s of speech to mel features, one thread',
  async measure({ quick }) {
    const [{ openDevice }, { featureExtractor }] = await Promise.all([loadLibrary(), loadSignalLibrary()]);
    const device = await openDevice('cpu', { threads: 1 });
    const samples = Float32Array.from(
      { length: 480_000 },
      (_, n) => 0.3 * Math.sin(n * n * 1e-6) + 0.1 * Math.sin(n * 0.7),
    );
    const fastest = async (preset: string) => {
      const extractor = featureExtractor(preset, { device });
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < (quick ? 10 : 60); round++) {
        const start = performance.now();
        await extractor.extract(samples);
        best = Math.min(best, performance.now() - start);
      }
      return best;
    };
    const figures = [
      { label: 'whisper, 80 bands', value: await fastest('whisper'), unit: 'ms', atMost: 8 },
      { label: 'whisper-large-v3, 128 bands', value: await fastest('whisper-large-v3'), unit: 'ms' },
      { label: 'kaldi, 23 bands', value: await fastest('kaldi'), unit: 'ms' },
    ] as const;
    await device.close();
    return { rows: [], figures, notes: [] };
  },
};
