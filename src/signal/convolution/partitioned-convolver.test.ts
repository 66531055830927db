import { afterAll, describe, expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { openCpuSync } from '../../sync.ts';
import { PartitionedConvolver, type PartitionedConvolverOptions } from '../sync.ts';

const random = randomFor('src/signal/partitioned-convolver');
const device = openCpuSync();
afterAll(() => device.close());

type Options = Omit<PartitionedConvolverOptions, 'device'>;
const make = (options: Options) => new PartitionedConvolver({ device, ...options });
const rowsOf = (count: number, length: number) =>
  Array.from({ length: count }, () => uniform(random, length, 'double'));

/** All that comes of a signal, block by block. */
function run(convolver: PartitionedConvolver, signal: readonly Float64Array[]): Float64Array[] {
  const { blockSize, channels } = convolver;
  const length = signal[0]!.length;
  const result = Array.from({ length: channels }, () => new Float64Array(length).fill(Number.NaN));
  for (let at = 0; at < length; at += blockSize) {
    const part = (channel: Float64Array) => channel.subarray(at, at + blockSize);
    convolver.process(signal.map(part), result.map(part));
  }
  return result;
}

/** Some samples of a sum of convolutions, by its definition. */
function direct(signals: readonly Float64Array[], rows: readonly Float64Array[], samples: readonly number[]) {
  return Float64Array.from(samples, (n) =>
    signals.reduce((sum, x, s) => rows[s]!.reduce((own, h, k) => own + (k <= n ? h * x[n - k]! : 0), sum), 0),
  );
}

describe('PartitionedConvolver', () => {
  it.each([
    { length: 1, blockSize: 8, channels: 1, rows: 1 },
    { length: 300, blockSize: 128, channels: 1, rows: 1 },
    { length: 5000, blockSize: 100, channels: 2, rows: 1 },
    { length: 6000, blockSize: 16, channels: 2, rows: 2 },
    { length: 9001, blockSize: 128, channels: 2, rows: 4 },
  ])(
    'is the sum of products of signal and response without delay, $length samples in blocks of $blockSize, $rows rows for $channels channels',
    ({ length, blockSize, channels, rows }) => {
      for (const partition of ['uniform', 'non-uniform'] as const) {
        for (const precision of ['single', 'double'] as const) {
          const response = rowsOf(rows, length);
          const signal = rowsOf(channels, Math.ceil((1.5 * length) / blockSize + 5) * blockSize);
          const convolver = make({ response, blockSize, channels, partition, precision });
          expect(convolver.partitions.length > 1).toBe(partition === 'non-uniform' && length > 1000);
          const found = run(convolver, signal);
          const total = signal[0]!.length;
          const samples = Array.from({ length: 80 }, (_, k) => (k < 20 ? k % total : random.integer(0, total - 1)));
          found.forEach((channel, c) => {
            const isMatrix = rows === channels ** 2 && channels > 1;
            const from = isMatrix ? signal : [signal[c]!];
            const by = isMatrix ? from.map((_, k) => response[k * channels + c]!) : [response[rows === 1 ? 0 : c]!];
            const wanted = direct(from, by, samples);
            const own = samples.map((n) => channel[n]!);
            expect(relativeError(own, wanted)).toBeLessThan(precision === 'single' ? 2e-6 : 1e-14);
          });
          convolver.destroy();
        }
      }
    },
  );

  it('exchanges the response without a click or a gap, and is exactly the new one after that', () => {
    for (const partition of ['uniform', 'non-uniform'] as const) {
      const length = 6000;
      const [before, after] = [new Float64Array(length).fill(1 / length), new Float64Array(length).fill(3 / length)];
      const convolver = make({ response: before, partition, precision: 'double' });
      const ones = new Float64Array(128).fill(1);
      const output = new Float64Array(128);
      for (let k = 0; k < length / 128 + 1; k++) convolver.process(ones, output);
      expect(Math.max(...output.map((value) => Math.abs(value - 1)))).toBeLessThan(1e-12);
      convolver.setResponse(after);
      expect(convolver.isExchanging).toBe(true);
      let [last, largest, blocks] = [1, 0, 0];
      while (convolver.isExchanging && ++blocks < 2000) {
        convolver.process(ones, output);
        for (const value of output) {
          // From 1 to 3 without going back, in steps as small as a fade over a thousand samples or so has.
          expect(value).toBeGreaterThan(last - 1e-9);
          largest = Math.max(largest, value - last);
          last = value;
        }
      }
      expect(blocks).toBeLessThan(2000);
      convolver.process(ones, output);
      for (const value of output) expect(value).toBeCloseTo(3, 9);
      expect(largest).toBeLessThan(2 / 500);
      // With a signal, too, and a response that is shorter.
      const short = uniform(random, 700, 'double');
      convolver.setResponse(short);
      const signal = uniform(random, 128 * 400, 'double');
      const found = run(convolver, [signal])[0]!;
      expect(convolver.isExchanging).toBe(false);
      const samples = Array.from({ length: 50 }, () => random.integer(128 * 380, signal.length - 1));
      expect(
        relativeError(
          samples.map((n) => found[n]!),
          direct([signal], [short], samples),
        ),
      ).toBeLessThan(1e-13);
      convolver.destroy();
    }
  });

  it('spreads its work: no call takes more than twice the mean', () => {
    const convolver = make({ response: rowsOf(2, 60_000), channels: 2 });
    const period = convolver.partitions.at(-1)!.size / 128;
    const block = [new Float32Array(128).fill(0.1), new Float32Array(128).fill(0.2)];
    const output = block.map((channel) => channel.slice());
    // The least time of each call of a period, of many periods: others use the processor, too.
    const least = new Float64Array(period).fill(Number.POSITIVE_INFINITY);
    for (let call = 0; call < 6000; call++) {
      const start = performance.now();
      convolver.process(block, output);
      least[call % period] = Math.min(least[call % period]!, performance.now() - start);
    }
    const mean = least.reduce((sum, time) => sum + time, 0) / period;
    expect(Math.max(...least) / mean).toBeLessThan(2);
    convolver.destroy();
  });

  it('takes silence for channels that are not there, works in place, and begins anew after a reset', () => {
    const response = rowsOf(1, 500);
    const convolver = make({ response, channels: 2, blockSize: 64, precision: 'double' });
    const signal = uniform(random, 64 * 10, 'double');
    const [left, right] = run(convolver, [signal]) as [Float64Array, Float64Array];
    expect(right.every((value) => value === 0)).toBe(true);
    convolver.reset();
    const both = [signal.slice(), signal.slice()];
    for (let at = 0; at < signal.length; at += 64) {
      const block = both.map((channel) => channel.subarray(at, at + 64));
      expect(convolver.process(block, block)).toBe(block);
    }
    expect(both).toEqual([left, left]);
    convolver.destroy();
  });

  it('is planned from what another has found out', () => {
    const response = rowsOf(1, 3000);
    const [one, signal] = [make({ response }), [uniform(random, 128 * 40, 'double')]];
    const other = make({ response, from: one.serialize() });
    expect(run(other, signal)).toEqual(run(one, signal));
    const refused =
      (from: string, length = 3000) =>
      () =>
        make({ response: rowsOf(1, length), from });
    expect(refused('{')).toThrow(expect.objectContaining({ code: 'invalid-saved-plan' }));
    expect(refused('[1]')).toThrow(expect.objectContaining({ code: 'invalid-saved-plan' }));
    expect(refused(one.serialize(), 100)).toThrow(expect.objectContaining({ code: 'invalid-saved-plan' }));
    for (const convolver of [one, other]) convolver.destroy();
  });

  it('takes an AudioBuffer, a recording or rows of an array as the response', () => {
    const [left, right] = [new Float32Array(300).fill(0.5), new Float32Array(300).fill(0.25)];
    const buffer = {
      ...{ numberOfChannels: 2, length: 300, sampleRate: 48000 },
      getChannelData: (channel: number) => [left, right][channel]!,
    };
    const array = { data: Float32Array.of(...left, ...right), shape: [2, 300], dtype: 'float32' } as const;
    const signal = rowsOf(2, 128 * 5);
    const results = [[left, right], buffer, array, { channels: [left, right] }].map((response) => {
      const convolver = make({ response, channels: 2 });
      const result = run(convolver, signal);
      convolver.destroy();
      return result;
    });
    for (const result of results) expect(result).toEqual(results[0]);
  });

  it('refuses what it cannot do, and says what would do', () => {
    const response = new Float32Array(10).fill(1);
    const refusals: [object, string][] = [
      [{ device: undefined, response }, 'invalid-argument'],
      [{ response, channels: 0 }, 'invalid-argument'],
      [{ response, blockSize: 0 }, 'invalid-argument'],
      [{ response, partition: 'even' }, 'invalid-argument'],
      [{ response, maxLength: 9 }, 'invalid-argument'],
      [{ response: [response, response], channels: 3 }, 'invalid-argument'],
      [{ response: [] }, 'invalid-argument'],
      [{ response: 'hall.wav' }, 'invalid-argument'],
      [{ response: [response, new Float32Array(9)], channels: 2 }, 'wrong-length'],
      [{ response, block: 128 }, 'unknown-field'],
    ];
    for (const [options, code] of refusals) {
      expect(() => make(options as Options), JSON.stringify(Object.keys(options))).toThrow(
        expect.objectContaining({ code }),
      );
    }
    const convolver = make({ response });
    const block = new Float32Array(128);
    expect(() => convolver.process(new Float32Array(127), block)).toThrow(
      expect.objectContaining({ code: 'wrong-length' }),
    );
    expect(() => convolver.process(block, [block, block])).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }),
    );
    expect(() => convolver.setResponse(new Float32Array(11))).toThrow(/maxLength/);
    expect(() => convolver.setResponse([response, response])).toThrow(
      expect.objectContaining({ code: 'invalid-argument' }),
    );
    convolver.destroy();
    convolver.destroy();
    expect(() => convolver.process(block, block)).toThrow(expect.objectContaining({ code: 'destroyed' }));
  });
});
