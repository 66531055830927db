/** The signal's part of the page: which kind, its parameters, recordings. */

import { plainWindowNames, type WindowName } from '../../src/signal/windows/window-kinds.ts';
import { windowFunction } from '../../src/signal/windows/windows.ts';
import { byId, html } from './dom.ts';
import { readRecording, recordMicrophone } from './recording.ts';
import { recordingSource, SAMPLE_RATE, type Signal, type Source, syntheticSources } from './signals.ts';

const RECORDED = { microphone: 'Microphone', file: 'Audio file' } as const;

export class SignalControls {
  private readonly changed: () => void;
  private readonly source = byId<HTMLSelectElement>('source');
  private readonly window = byId<HTMLSelectElement>('window');
  private readonly parameters = byId('parameters');
  private readonly note = byId('signal-note');
  private readonly error = byId('signal-error');
  /** What was recorded last, by kind. */
  private readonly recordings = new Map<string, Source>();

  /** @param changed called when another signal is wanted */
  constructor(changed: () => void) {
    this.changed = changed;
    for (const [name, { title }] of Object.entries(syntheticSources))
      this.source.append(html('option', { value: name }, title));
    for (const [name, title] of Object.entries(RECORDED)) this.source.append(html('option', { value: name }, title));
    for (const name of plainWindowNames) this.window.append(html('option', { value: name }, name));
    this.source.addEventListener('change', () => this.show());
    this.window.addEventListener('change', changed);
    this.parameters.addEventListener('change', (event) => {
      if (event.target instanceof HTMLInputElement && event.target.type === 'number' && event.target.reportValidity())
        changed();
    });
    this.show();
  }

  /** The signal as it is now. */
  get signal(): Signal {
    const chosen = this.current ?? syntheticSources.tones;
    const values = chosen.parameters.map(({ name, value }) => {
      const field = document.getElementById(`parameter-${name}`);
      const given = field instanceof HTMLInputElement && field.validity.valid ? field.valueAsNumber : Number.NaN;
      return [name, Number.isFinite(given) ? given : value] as const;
    });
    const window = this.window.value as WindowName;
    return {
      samples: chosen.make(Object.fromEntries(values)),
      separable: chosen.separable,
      window: (length) => (window === 'rectangular' ? undefined : windowFunction(window, length)),
    };
  }

  /** Undefined where nothing has been recorded yet. */
  private get current(): Source | undefined {
    const name = this.source.value;
    return name in syntheticSources
      ? syntheticSources[name as keyof typeof syntheticSources]
      : this.recordings.get(name);
  }

  /** The controls of the chosen kind. */
  private show(): void {
    const name = this.source.value;
    this.error.replaceChildren();
    this.note.textContent = '';
    if (name === 'microphone') this.parameters.replaceChildren(...this.microphone());
    else if (name === 'file') this.parameters.replaceChildren(this.file());
    else {
      const { parameters } = syntheticSources[name as keyof typeof syntheticSources];
      this.parameters.replaceChildren(
        ...parameters.map(({ name, label, ...attributes }) =>
          html(
            'label',
            { class: 'field' },
            label,
            html('input', { type: 'number', id: `parameter-${name}`, ...attributes }),
          ),
        ),
      );
    }
    if (this.current) this.changed();
    else this.note.textContent = 'The result shows two tones until there is a recording.';
  }

  private microphone(): HTMLElement[] {
    const seconds = html('input', { type: 'number', id: 'seconds', value: 1, min: 0.1, max: 60, step: 'any' });
    const button = html('button', { type: 'button', id: 'record' }, 'Record');
    button.addEventListener('click', () => {
      const wanted = seconds.reportValidity() ? seconds.valueAsNumber : Number.NaN;
      if (Number.isFinite(wanted)) void this.take('microphone', button, () => recordMicrophone(wanted));
    });
    return [html('label', { class: 'field' }, 'Seconds', seconds), button];
  }

  private file(): HTMLElement {
    const input = html('input', { type: 'file', id: 'file', accept: 'audio/*,.wav' });
    input.addEventListener('change', () => {
      const file = input.files?.[0];
      if (file) void this.take('file', input, () => readRecording(file));
    });
    return html('label', { class: 'field' }, 'File', input);
  }

  /** Gets samples from outside while its control rests. */
  private async take(
    kind: keyof typeof RECORDED,
    control: HTMLButtonElement | HTMLInputElement,
    get: () => Promise<Float32Array>,
  ): Promise<void> {
    control.disabled = true;
    this.error.replaceChildren();
    this.note.textContent = kind === 'microphone' ? 'Recording …' : 'Decoding …';
    try {
      const samples = await get();
      this.recordings.set(kind, recordingSource(RECORDED[kind], samples));
      const seconds = (samples.length / SAMPLE_RATE).toFixed(2);
      this.note.textContent = `${samples.length} samples, ${seconds} s at ${SAMPLE_RATE} Hz; it starts again where it ends.`;
      if (this.source.value === kind) this.changed();
    } catch (error) {
      this.note.textContent = '';
      this.error.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      control.disabled = false;
    }
  }
}
