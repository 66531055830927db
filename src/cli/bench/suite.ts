/** `omnifft bench --suite`: times a whole problem set; the results as rows, as a table and as a picture. */
import { bytesText } from '../../engine/index.ts';
import { type Device, FftError } from '../../index.ts';
import { alignedRows, duration, threeDigits } from '../format.ts';
import { type ChartLine, chart } from '../picture/chart.ts';
import { type BenchSuite, benchSuites, type System, spread } from './suites.ts';
import { Copies, type Timed, timeSystem } from './system.ts';

export interface SuiteRow extends Timed {
  readonly problem: string;
}

export interface SuiteResult {
  readonly suite: string;
  readonly sample: number;
  readonly device: string;
  /** The mean score of the rows, as VkFFT's samples print it. */
  readonly score: number;
  readonly rows: readonly SuiteRow[];
  /** Systems that could not be timed, with the reasons. */
  readonly left: readonly { readonly problem: string; readonly reason: string; readonly code: string }[];
}

/** The default limit of a buffer in bytes: VkFFT's limit on GPUs; on processors a size that exceeds every cache. */
const BUFFER_BYTES = { cpu: 2 ** 26, others: 2 ** 30 } as const;

/**
 * Times the systems of a suite.
 * @param megabytes the limit of a buffer, instead of the default
 * @param count the number of systems to time, spread evenly over the suite; all if left out
 * @throws FftError the first reason if no system could be timed; every error that is not about a single system
 */
export async function benchSuite(
  device: Device,
  suite: BenchSuite,
  { megabytes, count }: { readonly megabytes?: number; readonly count?: number },
  update: (done: number, all: number, what: string) => void,
): Promise<SuiteResult> {
  const most = megabytes === undefined ? BUFFER_BYTES[device.kind === 'cpu' ? 'cpu' : 'others'] : megabytes * 2 ** 20;
  const copies = new Copies(device);
  const systems = spread(suite.systems, count);
  const rows: SuiteRow[] = [];
  const left: SuiteResult['left'][number][] = [];
  let first: FftError | undefined;
  for (const [n, system] of systems.entries()) {
    update(n, systems.length, systemName(system));
    try {
      rows.push({ problem: systemName(system), ...(await timeSystem(device, suite, system, most, copies)) });
    } catch (error) {
      if (!(error instanceof FftError && REFUSALS.has(error.code))) throw error;
      first ??= error;
      left.push({ problem: systemName(system), reason: error.message, code: error.code });
    }
  }
  if (rows.length === 0 && first) throw first;
  const score = rows.reduce((sum, row) => sum + row.score, 0) / rows.length;
  return { suite: suite.name, sample: suite.sample, device: device.name, score, rows, left };
}

/** Codes of errors that are about a single system. */
const REFUSALS: ReadonlySet<string> = new Set([
  'out-of-memory',
  'device-limit',
  'unsupported-length',
  'unsupported-precision',
  'unsupported-feature',
]);

function systemName({ size, transform }: System): string {
  return `${size.join('×')}${transform === 'c2c' ? '' : ` ${transform}`}`;
}

const HEAD = ['', 'systems', 'buffer', 'forward', 'inverse', 'both', 'GFLOP/s', 'GB/s', 'of copy', 'score'];

export function suiteTable({ suite, sample, device, score, rows, left }: SuiteResult): string {
  const cells = rows.map((row) => [
    ...[row.problem, String(row.batches), bytesText(row.bytes)],
    ...[row.forward, row.inverse, row.seconds].map((time) => (time === undefined ? '' : duration(time))),
    ...[threeDigits(row.gflops), threeDigits(row.gigabytes), row.copyFraction?.toFixed(2) ?? ''],
    row.score.toFixed(0),
  ]);
  // One line for each code of an error, with the systems that it left out.
  const reasons = [...new Set(left.map(({ code }) => code))].map((code) => left.filter((one) => one.code === code));
  return [
    `${suite} (VkFFT's sample ${sample}) on ${device}`,
    alignedRows([HEAD, ...cells]),
    `score ${score.toFixed(0)}: KiB of the buffer for each ms of both directions, as singles; the mean`,
    ...reasons.map((of) => `left out: ${of.map(({ problem }) => problem).join(', ')}: ${of[0]!.reason}`),
  ].join('\n');
}

/** The bandwidth of each system over its number of points, with a line for each number of axes and kind of transform. */
export function suitePicture({ suite, sample, device, rows }: SuiteResult): string {
  const points = ({ size }: SuiteRow) => size.reduce((product, n) => product * n, 1);
  const seriesOf = ({ size, transform }: SuiteRow) =>
    `${AXES[size.length - 1]}${transform === 'c2c' ? '' : `, ${transform}`}`;
  const byPoints = [...rows].sort((a, b) => points(a) - points(b));
  const lines = [...new Set(rows.map(seriesOf))].map((name): ChartLine => {
    const own = byPoints.filter((row) => seriesOf(row) === name);
    return { name, points: own.map((row) => [points(row), row.gigabytes]) };
  });
  const copied = byPoints.filter(({ copyFraction }) => copyFraction !== undefined);
  const copy = copied.map((row) => [points(row), row.gigabytes / row.copyFraction!] as const);
  return chart({
    title: rows.some(({ forward }) => forward === undefined) ? suite : `${suite}, forward and back in place`,
    about: `VkFFT's sample ${sample}; ${device}`,
    ...{ across: 'Points of one transform', up: 'GB/s, in and out', fromZero: true },
    lines: [...lines, ...(copy.length > 0 ? [{ name: 'a copy', points: copy, bound: true } as const] : [])],
  });
}

const AXES = ['one axis', 'two axes', 'three axes'] as const;

/** The names of the suites with the numbers of VkFFT's samples. */
export function suiteList(): string {
  const cells = benchSuites.map(({ name, sample, about, precision, systems }) => [
    ...[name, String(sample), precision, `${systems.length} problems`, about],
  ]);
  return alignedRows([['suite', 'VkFFT', 'precision', '', 'FFT and inverse FFT of'], ...cells]);
}
