/** The picture that the page opens on: a signal as it goes on, its spectrum, and how that changes. */
import { openDevice, type Plan } from 'omnifft';
import { plainWindowNames, type WindowName } from '../../src/signal/windows/window-kinds.ts';
import { windowFunction } from '../../src/signal/windows/windows.ts';
import { offerCode } from './code.ts';
import { byId, html } from './dom.ts';
import {
  fetchedSource,
  type LiveSource,
  MOST_SAMPLES,
  microphoneSource,
  recordingSource,
  slidingTones,
} from './live-sources.ts';
import { frequency, short } from './numbers.ts';
import { dataOf, type LinePlot, showPlot } from './plot.ts';
import { readRecording } from './recording.ts';
import { SAMPLE_RATE } from './signals.ts';
import { Waterfall } from './waterfall.ts';

const SIZES = [512, 1024, 2048, 4096, 8192, 16384];
const FLOOR = -110;
/** Milliseconds from one picture to the next, at least. */
const PAUSE = 30;
/** Phases of what is no louder than this say nothing, in decibels. */
const HEARD = -70;

interface Setup {
  readonly plan: Plan<{ transform: 'r2c'; directions: 'forward' }>;
  readonly window: Float64Array;
  /** What turns a bin into the amplitude of its wave. */
  readonly gain: number;
  readonly samples: Float32Array;
  readonly windowed: Float32Array;
  readonly bins: Float32Array;
  readonly levels: Float32Array;
}

export async function startLive(): Promise<void> {
  const device = await openDevice('cpu', { threads: 1 });
  const [source, window] = ['live-source', 'live-window'].map((id) => byId<HTMLSelectElement>(id)) as [
    HTMLSelectElement,
    HTMLSelectElement,
  ];
  const size = byId<HTMLInputElement>('live-size');
  const [logarithmic, phase, still] = ['live-log', 'live-phase', 'live-still'].map((id) =>
    byId<HTMLInputElement>(id),
  ) as [HTMLInputElement, HTMLInputElement, HTMLInputElement];
  size.max = String(MOST_SAMPLES);
  byId('live-sizes').append(...SIZES.map((value) => html('option', { value })));
  window.append(...plainWindowNames.map((value) => html('option', { value, selected: value === 'hann' }, value)));
  const slider = (id: string) => byId<HTMLInputElement>(id).valueAsNumber;
  const tones = slidingTones(() => ({
    tone: slider('live-tone'),
    sweep: slider('live-sweep'),
    noise: slider('live-noise'),
  }));
  let playing: LiveSource = tones;
  const waterfall = new Waterfall(byId<HTMLCanvasElement>('waterfall'), FLOOR);
  const figure = byId('live-spectrum');
  let setup: Setup;
  let plot: ReturnType<typeof showPlot>;

  const draw = () => {
    plot = showPlot(figure, shownOf(setup, phase.checked, logarithmic.checked));
    const place = () => {
      const { min, max } = plot.scales.x ?? {};
      const span = { from: min ?? 0, to: max ?? SAMPLE_RATE / 2, logarithmic: logarithmic.checked };
      waterfall.place(plot.over, span);
    };
    plot.hooks.setScale = [...(plot.hooks.setScale ?? []), place];
    plot.hooks.setSize = [...(plot.hooks.setSize ?? []), place];
    place();
  };
  const prepare = async () => {
    if (!size.reportValidity() || Number.isNaN(size.valueAsNumber)) return;
    const length = size.valueAsNumber;
    const plan = await device.plan({ size: [length], transform: 'r2c', directions: 'forward' });
    setup?.plan.destroy();
    const taper = windowFunction(window.value as WindowName, length);
    const sum = taper.reduce((total, factor) => total + factor, 0);
    const arrays = {
      samples: new Float32Array(length),
      windowed: new Float32Array(length),
      bins: new Float32Array(2 * halfOf(length)),
    };
    setup = { plan, window: taper, gain: 2 / sum, ...arrays, levels: new Float32Array(halfOf(length)).fill(FLOOR) };
    offerCode(byId('live-code'), codeOf(length, window.value));
    draw();
  };
  const choose = async () => {
    byId('live-sliders').hidden = source.value !== 'sliders';
    byId('live-file-field').hidden = source.value !== 'file';
    const error = byId('live-error');
    error.textContent = '';
    try {
      const next = await sourceOf(source.value, tones);
      if (playing !== tones) playing.close();
      playing = next;
    } catch (failure) {
      error.textContent = failure instanceof Error ? failure.message : String(failure);
    }
  };
  source.addEventListener('change', choose);
  byId('live-file').addEventListener('change', choose);
  for (const control of [size, window]) control.addEventListener('change', prepare);
  for (const control of [logarithmic, phase]) control.addEventListener('change', draw);
  await prepare();

  let shown = 0;
  let before = 0;
  const isSeen = seen(byId('live'));
  const step = (now: number) => {
    requestAnimationFrame(step);
    // Times that the page measures are those of a page that does nothing else.
    if (now - before < PAUSE || still.checked || !isSeen() || document.body.dataset.state === 'busy') return;
    before = now;
    measure(setup, playing, now / 1000);
    plot.setData(dataOf(shownOf(setup, phase.checked, logarithmic.checked)), false);
    // What is zoomed into stays, so that nothing else draws the new values.
    plot.redraw();
    waterfall.add(setup.levels, spacingOf(setup), now / 1000);
    sayPeak(setup);
    document.body.dataset.live = String(++shown);
  };
  requestAnimationFrame(step);
}

async function sourceOf(name: string, tones: LiveSource): Promise<LiveSource> {
  if (name === 'microphone') return microphoneSource();
  if (name === 'guitar') return fetchedSource('../examples/data/guitar.wav');
  const file = byId<HTMLInputElement>('live-file').files?.[0];
  return name === 'file' && file ? recordingSource(await readRecording(file)) : tones;
}

/** The spectrum of the latest samples, in decibels. */
function measure(
  { plan, window, gain, samples, windowed, bins, levels }: Setup,
  source: LiveSource,
  seconds: number,
): void {
  source.latest(samples, seconds);
  for (let n = 0; n < samples.length; n++) windowed[n] = samples[n]! * window[n]!;
  plan.forwardSync(windowed, bins);
  for (let k = 0; k < levels.length; k++) {
    levels[k] = Math.max(FLOOR, 20 * Math.log10(gain * Math.hypot(bins[2 * k]!, bins[2 * k + 1]!) + 1e-9));
  }
}

function phasesOf({ bins, levels }: Setup): (number | null)[] {
  return Array.from(levels, (level, k) => (level > HEARD ? Math.atan2(bins[2 * k + 1]!, bins[2 * k]!) : null));
}

/** Bins of a real signal of so many samples. */
const halfOf = (length: number) => (length >> 1) + 1;

/** Hertz from bin to bin. */
const spacingOf = ({ samples }: Setup) => SAMPLE_RATE / samples.length;

function shownOf(setup: Setup, phases: boolean, logarithmic: boolean): LinePlot {
  const { levels } = setup;
  const right = { label: 'phase (rad)', from: -4, to: 4 };
  return {
    title: 'Spectrum. 0 dB: a sine of amplitude 1. Drag to zoom, double click to see all.',
    x: { label: 'frequency (Hz)', from: 0, to: (levels.length - 1) * spacingOf(setup) },
    y: { label: 'level (dB)', from: FLOOR, to: 0 },
    curves: [
      { name: 'level (dB)', values: levels },
      ...(phases ? [{ name: 'phase (rad)', values: phasesOf(setup), right }] : []),
    ],
    logarithmic,
  };
}

function sayPeak(setup: Setup): void {
  const { levels } = setup;
  let peak = 1;
  for (let k = 2; k < levels.length; k++) if (levels[k]! > levels[peak]!) peak = k;
  byId('live-peak').textContent = `strongest: ${frequency(peak * spacingOf(setup))}, ${short(levels[peak]!, 3)} dB`;
}

/** Tells whether an element is on the screen. */
function seen(element: Element): () => boolean {
  let isThere = true;
  new IntersectionObserver(([entry]) => {
    isThere = entry?.isIntersecting ?? true;
  }).observe(element);
  return () => isThere && !document.hidden;
}

function codeOf(size: number, window: string): string {
  return `import { openDevice } from 'omnifft';
import { windowFunction } from 'omnifft/signal';

const device = await openDevice('cpu', { threads: 1 });
const plan = await device.plan({ size: [${size}], transform: 'r2c', directions: 'forward' });
const taper = windowFunction('${window}', ${size});
const gain = 2 / taper.reduce((sum, factor) => sum + factor, 0);
const [windowed, bins] = [new Float32Array(${size}), new Float32Array(${2 * halfOf(size)})];

/** Levels of ${halfOf(size)} bins in decibels; 0 is a sine of amplitude 1. */
export function levelsOf(samples) {
  for (let n = 0; n < ${size}; n++) windowed[n] = samples[n] * taper[n];
  plan.forwardSync(windowed, bins);
  return Float32Array.from({ length: ${halfOf(size)} }, (_, k) => 20 * Math.log10(gain * Math.hypot(bins[2 * k], bins[2 * k + 1])));
}
`;
}
