/** The playground: a problem is planned, run on a signal, drawn, checked and timed. */
import { listDevices, type OpenableKind, version } from 'omnifft';
import { startBins } from './bins.ts';
import { offerCode, programOf } from './code.ts';
import { byId, html } from './dom.ts';
import { startFilter } from './filter.ts';
import { startImage } from './image.ts';
import { showKernels } from './kernel-view.ts';
import { startLive } from './live.ts';
import { accuracy, type Speed, speeds } from './measure.ts';
import { duration, short } from './numbers.ts';
import { planPicture } from './plan-picture.ts';
import { clearProblemError, lines, readProblem, SAMPLES, showProblemError } from './problem-field.ts';
import { showResult } from './result-view.ts';
import { type Planned, Session } from './session.ts';
import { SignalControls } from './signal-controls.ts';
import { startSliders } from './sliders.ts';
import { type Arrays, arraysFor, fill } from './tensor.ts';
import { startTheme } from './theme.ts';

const form = byId<HTMLFormElement>('ask');
const field = byId<HTMLTextAreaElement>('problem');
const errors = byId('problem-error');
const threads = byId<HTMLInputElement>('threads');
const results = byId('numbers');

const session = new Session();
let planned: Planned | undefined;
/** The plan whose times are shown. */
let timed: Planned | undefined;
/** Counts what was asked for: work for an older wish stops where it can. */
let wish = 0;
let last: Promise<void> = Promise.resolve();

/** One thing after another; a wish that a later one overtakes is not begun. */
function enqueue(work: (current: () => boolean) => Promise<void>): void {
  const mine = ++wish;
  const current = () => mine === wish;
  document.body.dataset.state = 'busy';
  results.setAttribute('aria-busy', 'true');
  last = last
    .then(() => (current() ? work(current) : undefined))
    .catch((error) => {
      document.body.dataset.stale = '';
      showProblemError(field, errors, error);
    })
    .finally(() => {
      if (!current()) return;
      document.body.dataset.state = 'idle';
      results.removeAttribute('aria-busy');
    });
}

function planAndRun(): void {
  clearProblemError(field, errors);
  const text = field.value;
  const kind = new FormData(form).get('device') as OpenableKind | null;
  const count = threads.value === '' || !threads.validity.valid ? undefined : threads.valueAsNumber;
  enqueue(async (current) => {
    planned = undefined;
    planned = await session.make(readProblem(text), kind ?? 'cpu', count);
    history.replaceState(null, '', `#${encodeURIComponent(text.trim())}`);
    await showPlan(planned);
    offerCode(byId('plan-code'), programOf(readProblem(text), planned));
    await transform(planned);
    await time(planned, current);
  });
}

/** For another signal: the plan stays. Without one there is nothing to do, and the next takes the signal as it is then. */
function runAgain(): void {
  if (!planned) return;
  enqueue(async (current) => {
    if (!planned) return;
    await transform(planned);
    // Its times may have been given up for this.
    if (timed !== planned) await time(planned, current);
  });
}

const controls = new SignalControls(runAgain);

async function showPlan({ plan, direction, milliseconds, remembered }: Planned): Promise<void> {
  const facts = plan.toJSON();
  byId('plan-text').textContent = plan.explain();
  const shown = facts.directions.find((one) => one.direction === direction);
  const picture = byId('plan-picture');
  if (shown) picture.replaceChildren(planPicture(shown, picture.clientWidth));
  byId('plan-facts').textContent =
    `The ${direction} transform on ${facts.device.name}: ${plan.directions.length === 2 ? 'the inverse is planned too; ' : ''}` +
    'arrows are launches, with the bytes that they read.';
  byId('plan-time').textContent = `${duration(milliseconds)}${remembered ? ', remembered from before' : ''}`;
  await showKernels(plan.kernels.map((kernel) => ({ ...kernel, label: `${kernel.direction}: ${kernel.title}` })));
}

/** Runs the plan on the signal as it is now, and says how exact the result is. */
async function transform(now: Planned): Promise<void> {
  const { plan, direction } = now;
  const { input, result } = await runOnce(now);
  showResult(now, input, result);
  const { error, bound, against } = await accuracy(session, now, input, result);
  const output = byId('error');
  output.textContent = short(error, 2);
  output.dataset.error = String(error);
  output.dataset.bound = String(bound);
  delete document.body.dataset.stale;
  byId('error-note').textContent = `relative to ${against}; allowed are ${short(bound, 2)}`;
  document.body.dataset.shown = `${plan.problem.size.join('x')} ${direction} ${now.device.kind}`;
}

async function runOnce({ plan, direction }: Planned): Promise<{ input: Arrays; result: Arrays }> {
  const precision = plan.problem.precision === 'single' ? 'single' : 'double';
  const read = direction === 'forward' ? 'input' : 'output';
  const input = arraysFor(plan, read, precision);
  fill(plan, read, input, controls.signal);
  if (plan.problem.placement === 'out-of-place') return { input, result: (await plan[direction](input)) as Arrays };
  const data = 're' in input ? { re: input.re.slice(), im: input.im.slice() } : input.slice();
  return { input, result: (await plan[direction](data)) as Arrays };
}

async function time(now: Planned, current: () => boolean): Promise<void> {
  const body = byId<HTMLTableElement>('speed').tBodies[0];
  const note = byId('speed-note');
  body?.replaceChildren();
  note.textContent = 'Measuring …';
  const rows: Speed[] = [];
  for await (const speed of speeds(now)) {
    if (!current()) return;
    rows.push(speed);
    const peer = rows.find(({ what }) => what === 'fft.js');
    body?.replaceChildren(...rows.map((row) => speedRow(row, peer)));
  }
  timed = now;
  const compared = rows.some(({ what }) => what === 'fft.js');
  note.textContent = compared
    ? 'Medians of repeated runs; GFLOP/s count 5 N log₂ N operations, and half of that for real numbers.'
    : 'Medians of repeated runs; fft.js transforms one axis whose length is a power of two.';
}

function speedRow({ what, note, milliseconds, gigaflops }: Speed, peer: Speed | undefined): HTMLTableRowElement {
  const ratio = peer && what !== peer.what ? `${short(peer.milliseconds / milliseconds)} × as fast` : '';
  return html(
    'tr',
    { 'data-milliseconds': milliseconds, 'data-gigaflops': gigaflops, 'data-what': what },
    html('th', { scope: 'row' }, what, html('small', {}, note)),
    html('td', {}, duration(milliseconds)),
    html('td', {}, short(gigaflops)),
    html('td', {}, ratio),
  );
}

async function showDevices(): Promise<void> {
  const devices = await listDevices();
  const fieldset = byId('devices');
  for (const { kind, name } of devices.filter(({ available }) => available)) {
    const radio = html('input', { type: 'radio', name: 'device', value: kind, id: `device-${kind}` });
    radio.checked = fieldset.querySelector('input') === null;
    fieldset.append(html('label', {}, radio, ` ${kind} `, html('small', {}, name === kind.toUpperCase() ? '' : name)));
  }
  const missing = devices.filter(({ available }) => !available);
  const list = byId('missing').querySelector('ul');
  list?.replaceChildren(...missing.map(({ kind, reason }) => html('li', {}, `${kind}: ${reason ?? ''}`)));
  byId('missing').hidden = missing.length === 0;
  fieldset.addEventListener('change', () => {
    byId('threads-field').hidden = new FormData(form).get('device') !== 'cpu';
    planAndRun();
  });
}

function showSamples(): void {
  for (const sample of SAMPLES) {
    const button = html('button', { type: 'button' }, sample);
    button.addEventListener('click', () => {
      field.value = sample;
      planAndRun();
    });
    byId('samples').append(button);
  }
}

async function start(): Promise<void> {
  startTheme();
  startSliders();
  const isolated = crossOriginIsolated ? '' : ', on one thread: this page is not cross-origin isolated';
  byId('where').textContent = `omnifft ${version}, compiled in this browser${isolated}`;
  threads.value = String(crossOriginIsolated ? navigator.hardwareConcurrency : 1);
  threads.disabled = !crossOriginIsolated;
  showSamples();
  for (const section of [startLive, startBins, startImage, startFilter]) {
    section().catch((error) => errors.replaceChildren(...lines(error)));
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    planAndRun();
  });
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    planAndRun();
  });
  try {
    field.value = decodeURIComponent(location.hash.slice(1)) || SAMPLES[0];
  } catch {
    field.value = SAMPLES[0];
  }
  try {
    await showDevices();
  } catch (error) {
    errors.replaceChildren(...lines(error));
    return;
  }
  planAndRun();
}

void start();
