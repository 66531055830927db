/** The page of programs: one is shown, rewritten, compiled for a device or for the profile of one, run, checked and timed. */
import { type Device, listDevices, openDevice, openProfile } from 'omnifft';
import { type CompiledProgram, interpret, type Program, print, rewrite } from 'omnifft/lift';
import { byId, html } from './dom.ts';
import { showHeatmap } from './heatmap.ts';
import { showKernels } from './kernel-view.ts';
import { duration, short } from './numbers.ts';
import { showPlot } from './plot.ts';
import { type Sample, samples } from './samples.ts';
import { startTheme } from './theme.ts';

/** What a program can be compiled for though no page can run it: profiles of devices. */
const PROFILES = {
  h200: 'CUDA, an H200',
  mi300x: 'HIP, an MI300X',
  'arc-a770': 'OpenCL, an Arc A770',
  m2: 'WebGPU, an M2',
} as const;

const sampleField = byId<HTMLSelectElement>('sample');
const targetField = byId<HTMLSelectElement>('target');
const rewrittenField = byId<HTMLInputElement>('rewritten');
const againButton = byId<HTMLButtonElement>('again');

type Compiling = Pick<Device, 'compile'>;

const devices = new Map<string, Promise<Compiling>>();

function deviceFor(target: string): Promise<Compiling> {
  let device = devices.get(target);
  if (!device) {
    device = target in PROFILES ? openProfile(target as 'h200') : openDevice(target as 'cpu');
    devices.set(target, device);
  }
  return device;
}

/** What is on the page, until something else is chosen. */
interface Shown {
  readonly sample: Sample;
  readonly program: Program;
  readonly compiled: CompiledProgram;
  inputs: Readonly<Record<string, Float32Array>>;
}

let shown: Shown | undefined;
let last: Promise<void> = Promise.resolve();

/** One thing after another; what goes wrong is said beside the program. */
function enqueue(work: () => Promise<void>): void {
  document.body.dataset.state = 'busy';
  const mine = last.then(work).catch((error) => {
    byId('program-problem').textContent = String(error);
  });
  last = mine;
  mine.finally(() => {
    if (last === mine) document.body.dataset.state = 'idle';
  });
}

async function show(): Promise<void> {
  const sample = samples[sampleField.value]!;
  const { program: rewritten, trace } = rewrite(sample.program, ...sample.rules);
  const program = rewrittenField.checked ? rewritten : sample.program;
  byId('program-problem').textContent = '';
  byId('program-source').textContent = sample.source;
  byId('program-type').textContent = `${program.type}, printed: ${print(program)}`;
  const steps = trace.map(({ rule, after }) => html('li', {}, html('strong', {}, rule), html('pre', {}, after)));
  byId('steps').replaceChildren(
    ...(steps.length > 0 ? steps : [html('li', {}, 'No rule is applied to this program.')]),
  );
  shown?.compiled.destroy();
  shown = undefined;
  const compiled = await (await deviceFor(targetField.value)).compile(program as typeof sample.program);
  shown = { sample, program, compiled, inputs: sample.inputs() };
  await showKernels(compiled.kernels.map((kernel, n) => ({ ...kernel, label: `${n + 1}: ${kernel.name}` })));
  await run(shown);
}

async function run({ sample, program, compiled, inputs }: Shown): Promise<void> {
  againButton.hidden = sample.again === undefined || targetField.value in PROFILES;
  if (targetField.value in PROFILES) {
    byId('time').textContent = byId('program-error').textContent = 'not here: it is the profile of a device';
    byId('outcome-plot').replaceChildren();
    return;
  }
  const output = (await compiled.run(inputs)) as Float32Array;
  byId('program-error').textContent = short(errorOf(output, interpret(program, inputs)), 2);
  draw(sample, output);
  byId('time').textContent = duration(await timeOf(compiled, inputs, output));
}

/** The largest difference, in relation to the largest value. */
function errorOf(values: Float32Array, expected: ArrayLike<number>): number {
  const most = (list: ArrayLike<number>) => Array.from(list).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  return most(Array.from(values, (value, n) => value - expected[n]!)) / (most(expected) || 1);
}

const TIMED_MILLISECONDS = 100;

/** Milliseconds of a run, data of the page to data of the page: the mean of those that a tenth of a second has room for. */
async function timeOf(compiled: CompiledProgram, inputs: Shown['inputs'], output: Float32Array): Promise<number> {
  const begin = performance.now();
  let runs = 0;
  do {
    await compiled.run(inputs, output.slice());
    runs++;
  } while (performance.now() - begin < TIMED_MILLISECONDS);
  return (performance.now() - begin) / runs;
}

function draw({ title, shown: { width, height } }: Sample, values: Float32Array): void {
  const figure = byId('outcome-plot');
  if (height === 1) {
    const x = { label: 'index', from: 0, to: width - 1 };
    showPlot(figure, { title, x, y: { label: '' }, curves: [{ name: 'result', values }] });
    return;
  }
  const [from, to] = [Math.min(...values), Math.max(...values)];
  showHeatmap(figure, { title, width, height, values, from, to, unit: '', centred: false });
}

async function start(): Promise<void> {
  startTheme();
  sampleField.append(...Object.entries(samples).map(([value, { title }]) => html('option', { value }, title)));
  const here = (await listDevices()).filter(
    ({ kind, available }) => available && (kind === 'cpu' || kind === 'webgpu'),
  );
  const names: Readonly<Record<string, string>> = { cpu: 'this CPU (WebAssembly)', webgpu: 'WebGPU, here' };
  targetField.append(
    ...here.map(({ kind }) => html('option', { value: kind }, names[kind] ?? kind)),
    ...Object.entries(PROFILES).map(([value, name]) => html('option', { value }, name)),
  );
  for (const field of [sampleField, targetField, rewrittenField]) field.addEventListener('change', () => enqueue(show));
  againButton.addEventListener('click', () =>
    enqueue(async () => {
      if (!shown?.sample.again) return;
      const cells = (await shown.compiled.run(shown.inputs)) as Float32Array;
      shown.inputs = { ...shown.inputs, [shown.sample.again]: cells };
      await run(shown);
    }),
  );
  await show();
}

enqueue(start);
