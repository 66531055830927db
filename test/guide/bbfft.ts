/** The rows of the bbfft document: descriptors and tools. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatDescriptor, type ProblemInput, parseDescriptor } from '../../src/index.ts';
import { all, type Check, command, cpu, fails, insist, refused, right, rowsOf } from './toolkit.ts';

const { rows, row } = rowsOf('bbfft');
export const bbfftRows = rows;

/** Descriptors are problems that come out right. */
const runs = (...descriptors: readonly string[]): Check =>
  right(...descriptors.map((text) => parseDescriptor(text) as ProblemInput));
const malformed = (...descriptors: readonly string[]): Check =>
  all(...descriptors.map((text) => fails('invalid-descriptor', () => parseDescriptor(text))));
const example = (text: string) => row('examples', text, runs(text));

const letters = ['s', 'd'].flatMap((precision) =>
  ['cf', 'cb', 'rf', 'rb'].flatMap((kind) => ['i', 'o'].map((placement) => `${precision}${kind}${placement}12*3`)),
);

/** Elements of the sides of plans with default strides. */
const lengths: Check = async () => {
  const device = await cpu();
  for (const [text, input, output] of [
    ['scfo3.8*5', 120, 120],
    ['srfo7*3', 21, 12],
    ['srfi7*3', 24, 12],
    ['srfo2.6x5*3', 180, 120],
    ['dcfi4x5x6', 120, 120],
  ] as const) {
    const plan = await device.plan(text);
    insist(
      plan.input.length === input && plan.output.length === output,
      `${text}: ${plan.input.length}, ${plan.output.length}`,
    );
  }
};

const folder =
  (use: (folder: string) => Check): Check =>
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'omnifft-'));
    try {
      await use(place)();
    } finally {
      rmSync(place, { recursive: true });
    }
  };

row('grammar', 'every letter of precision, domain, direction and placement', runs(...letters));
row(
  'grammar',
  'shape M.N1xN2xN3*K, up to three axes',
  all(runs('scfo8', 'scfo3.4x5*2', 'scfo2.3x4x5*2'), malformed('scfo2x3x4x5')),
);
row(
  'grammar',
  'strides of both sides, as many as the dimension and two',
  all(runs('scfo8*2i1,1,9o1,2,17'), refused('invalid-descriptor', 'scfo8i1,1')),
);
row('grammar', 'leading zeros', runs('scfo008'));
row('grammar', 'letters of either case', runs('SCFO8'));
row('grammar', 'a stride of 0 where there is one element', runs('scfo8i0,1,8'));
row('grammar', 'number of x', 'does not apply: a misprint of the document, which its examples show');
row('note', 'in place, both sides have strides or none', malformed('scfi8i1,1,8', 'scfi8o1,1,8'));
for (const text of ['srfi5', 'dcbi4*5', 'dcbi4.5', 'drfo5x6x7', 'srbo4.5x6*7', 'scfo16*32i1,1,20']) example(text);
row('examples', 'dcbi4.5 has five points', async () => {
  const { size, leftBatches } = parseDescriptor('dcbi4.5') as ProblemInput;
  insist(size.join() === '5' && leftBatches === 4, `size ${size}, left batches ${leftBatches}`);
});
row('default strides', 'packed; in place reals have room for their bins', lengths);
row(
  'malformed',
  'descriptors with a slip are refused',
  malformed(
    '',
    's',
    'scfq8',
    'xcfo8',
    'scfo',
    'scfo8x',
    'scfo8*',
    'scfo8.',
    'scf8',
    'scfo8 ',
    ' scfo8',
    'scfo-8',
    'scfo8*2*3',
    'scfo8i',
    'scfo8i1,',
    'scfo8o1,1,8i1,1,8',
    'scfo1.2.3',
  ),
);
row('format', 'descriptors of problems are those that they came of', async () => {
  for (const text of ['srfi5', 'dcbi4*5', 'dcbi4.5', 'drfo5x6x7', 'srbo4.5x6*7', ...letters]) {
    insist(formatDescriptor(parseDescriptor(text) as never) === text, `${text} is written otherwise`);
  }
});
row(
  'tools',
  'bbfft-aot-generate',
  folder((place) => command(['aot-generate', 'scfo16', '--profile', 'wasm-cpu', '-o', join(place, 'plans.fft')])),
);
row(
  'tools',
  'bbfft-offline-generate',
  folder((place) => command(['offline-generate', 'scfo16', '--profile', 'arc', '-o', join(place, 'kernels.c')])),
);
