/** Sliders say what they are at: each gets an output beside it, with the unit that it names in `data-unit`. */
import { html } from './dom.ts';
import { short } from './numbers.ts';

export function startSliders(): void {
  for (const slider of document.querySelectorAll<HTMLInputElement>('input[type=range][data-unit]')) {
    const output = html('output', { for: slider.id });
    const say = () => {
      output.textContent = `${short(slider.valueAsNumber)} ${slider.dataset.unit}`;
      slider.setAttribute('aria-valuetext', output.textContent);
    };
    slider.addEventListener('input', say);
    slider.after(output);
    say();
  }
}

/** Moves a slider as its user would. */
export function slideTo(slider: HTMLInputElement, value: number): void {
  slider.valueAsNumber = value;
  slider.dispatchEvent(new Event('input'));
}
