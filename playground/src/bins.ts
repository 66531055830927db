/** Bins that one draws or types, and the signal that they make: the inverse of a real transform. */
import { type Device, openDevice, type Plan } from 'omnifft';
import { offerCode } from './code.ts';
import { byId } from './dom.ts';
import { dataOf, type LinePlot, type Place, showPlot } from './plot.ts';

/** What a wave is of: cos(2π k t / N + phase) times the amplitude. */
type Quantity = 'amplitude' | 'phase';

/** Each bin is a wave: one value for each from 0 to half the length. */
interface Waves {
  readonly amplitude: Float64Array;
  /** Degrees. */
  readonly phase: Float64Array;
}

interface Setup {
  readonly plan: Plan<{ transform: 'r2c'; directions: 'inverse' }>;
  readonly length: number;
  readonly waves: Waves;
  readonly bins: Float32Array;
  readonly signal: Float32Array;
}

/** Known series: the amplitude and the phase, in degrees, of the wave k. */
const SHAPES: Readonly<Record<string, (k: number, half: number) => readonly [number, number]>> = {
  square: (k) => [k % 2 ? 4 / (Math.PI * k) : 0, -90],
  sawtooth: (k) => [k ? 2 / (Math.PI * k) : 0, k % 2 ? -90 : 90],
  triangle: (k) => [k % 2 ? 8 / (Math.PI * k) ** 2 : 0, 0],
  impulse: (k, half) => [(k ? 1 : 0.5) / half, 0],
  nothing: () => [0, 0],
};
/** Of a known series this share of the bins is taken at first, so that one sees what the others add. */
const SHARE = 1 / 4;
const RANGE = { amplitude: { from: 0, to: 1.3 }, phase: { from: -180, to: 180 } } as const;
/** Presses of a key from one end of a range to the other. */
const STEPS = 26;
const UNIT = { amplitude: '', phase: ' (°)' } as const;

export async function startBins(): Promise<void> {
  const device = await openDevice('cpu', { threads: 1 });
  const field = (id: string) => byId<HTMLInputElement>(id);
  const [length, bin] = [field('bins-length'), field('bins-bin')];
  const typed = { amplitude: field('bins-amplitude'), phase: field('bins-phase') };
  const drawn = byId<HTMLSelectElement>('bins-drawn');
  let setup: Setup;
  let plots: { readonly spectrum: ReturnType<typeof showPlot>; readonly signal: ReturnType<typeof showPlot> };

  const quantity = () => drawn.value as Quantity;
  const update = () => {
    transform(setup);
    plots.spectrum.setData(dataOf(spectrumOf(setup, quantity())));
    plots.signal.setData(dataOf(signalOf(setup)));
    for (const name of ['amplitude', 'phase'] as const) {
      typed[name].value = String(Number((setup.waves[name][bin.valueAsNumber] ?? 0).toPrecision(3)));
    }
    document.body.dataset.bins = String(Number(document.body.dataset.bins ?? 0) + 1);
  };
  const drag = (from: Place, to: Place) => {
    bin.valueAsNumber = paint(setup.waves[quantity()], from, to);
    update();
  };
  const step = (right: number, up: number) => {
    const values = setup.waves[quantity()];
    const { from, to } = RANGE[quantity()];
    bin.valueAsNumber = Math.min(values.length - 1, Math.max(0, bin.valueAsNumber + right));
    const changed = values[bin.valueAsNumber]! + (up * (to - from)) / STEPS;
    values[bin.valueAsNumber] = Math.min(to, Math.max(from, changed));
    update();
  };
  const draw = () => {
    plots = {
      spectrum: showPlot(byId('bins-spectrum'), { ...spectrumOf(setup, quantity()), drag, step }),
      signal: showPlot(byId('bins-signal'), signalOf(setup)),
    };
    update();
  };
  const prepare = async () => {
    if (!length.reportValidity() || Number.isNaN(length.valueAsNumber)) return;
    setup = await setupOf(device, length.valueAsNumber, setup);
    bin.max = String(setup.waves.amplitude.length - 1);
    if (!bin.validity.valid) bin.valueAsNumber = 1;
    offerCode(byId('bins-code'), codeOf(setup.length));
    draw();
  };
  length.addEventListener('change', prepare);
  drawn.addEventListener('change', draw);
  bin.addEventListener('change', update);
  for (const name of ['amplitude', 'phase'] as const) {
    typed[name].addEventListener('change', () => {
      if (!bin.reportValidity() || !typed[name].reportValidity()) return;
      setup.waves[name][bin.valueAsNumber] = typed[name].valueAsNumber || 0;
      update();
    });
  }
  byId('bins-shapes').addEventListener('click', ({ target }) => {
    if (!(target instanceof HTMLButtonElement)) return;
    shape(setup.waves, target.value);
    update();
  });
  await prepare();
}

/** Another length; the waves stay, as far as there are bins for them. */
async function setupOf(device: Device, length: number, before: Setup | undefined): Promise<Setup> {
  const plan = await device.plan({ size: [length], transform: 'r2c', directions: 'inverse', normalize: true });
  before?.plan.destroy();
  const half = (length >> 1) + 1;
  const waves = { amplitude: new Float64Array(half), phase: new Float64Array(half) };
  if (before) {
    for (const name of ['amplitude', 'phase'] as const) waves[name].set(before.waves[name].subarray(0, half));
  } else shape(waves, 'square');
  return { plan, length, waves, bins: new Float32Array(2 * half), signal: new Float32Array(length) };
}

function shape({ amplitude, phase }: Waves, name: string): void {
  const half = amplitude.length;
  const most = name === 'impulse' ? half : Math.ceil(half * SHARE);
  for (let k = 0; k < half; k++) [amplitude[k], phase[k]] = k < most ? SHAPES[name]!(k, half) : [0, 0];
}

/** A wave of amplitude 1 is half a bin and half its mirror image; at 0 and at half the rate there is but one of them, and a real one. */
function transform({ plan, length, waves, bins, signal }: Setup): void {
  waves.amplitude.forEach((amplitude, k) => {
    const isAlone = k === 0 || 2 * k === length;
    const size = amplitude * (isAlone ? length : length / 2);
    const angle = (waves.phase[k]! * Math.PI) / 180;
    bins[2 * k] = size * Math.cos(angle);
    bins[2 * k + 1] = isAlone ? 0 : size * Math.sin(angle);
  });
  plan.inverseSync(bins, signal);
}

/** Sets all bins from one place to the next, along a straight line. @returns the last of them */
function paint(values: Float64Array, from: Place, to: Place): number {
  const binAt = ({ x }: Place) => Math.min(values.length - 1, Math.max(0, Math.round(x)));
  const [first, last] = [binAt(from), binAt(to)];
  for (let k = Math.min(first, last); k <= Math.max(first, last); k++) {
    const share = first === last ? 1 : (k - first) / (last - first);
    values[k] = from.y + share * (to.y - from.y);
  }
  return last;
}

function spectrumOf({ waves }: Setup, quantity: Quantity): LinePlot {
  const values = waves[quantity];
  return {
    title: `Bins: drag across them to set the ${quantity} of each, or use the arrow keys`,
    // Half a bin on either side, so that the outer bars are whole.
    x: { label: 'bin', from: 0, to: values.length - 1, margin: 0.5 },
    y: { label: `${quantity}${UNIT[quantity]}`, ...RANGE[quantity] },
    curves: [{ name: `${quantity}${UNIT[quantity]}`, values }],
    bars: true,
  };
}

function signalOf({ signal, length }: Setup): LinePlot {
  return {
    title: 'Their signal',
    x: { label: 'sample', from: 0, to: length - 1 },
    y: { label: 'value' },
    curves: [{ name: 'value', values: signal }],
  };
}

function codeOf(length: number): string {
  return `import { openDevice } from 'omnifft';

const device = await openDevice('cpu', { threads: 1 });
const plan = await device.plan({ size: [${length}], transform: 'r2c', directions: 'inverse', normalize: true });

/** ${length} samples of waves: amplitudes and phases, in radians, of ${(length >> 1) + 1} bins. */
export function signalOf(amplitudes, phases) {
  const bins = new Float32Array(2 * amplitudes.length); // re, im, re, im …
  amplitudes.forEach((amplitude, k) => {
    const isAlone = k === 0 || 2 * k === ${length}; // without a mirror image, and real
    const size = amplitude * (isAlone ? ${length} : ${length} / 2);
    bins[2 * k] = size * Math.cos(phases[k]);
    bins[2 * k + 1] = isAlone ? 0 : size * Math.sin(phases[k]);
  });
  return plan.inverseSync(bins);
}
`;
}
