/** Programs that do what the page shows, to copy. */
import type { ProblemInput } from 'omnifft';
import { html } from './dom.ts';
import type { Planned } from './session.ts';
import { isReal } from './tensor.ts';

/** Puts a program and a button that copies it into a `details`. */
export function offerCode(place: HTMLElement, code: string): void {
  const button = html('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select and copy';
    }
  });
  place.replaceChildren(html('summary', {}, 'The program for this'), button, html('pre', {}, code));
}

/** A program that makes a plan and runs it once, on zeros. */
export function programOf(problem: ProblemInput | string, { plan, direction, device }: Planned): string {
  const side = direction === 'forward' ? 'input' : 'output';
  const array = `new Float${plan.problem.precision === 'single' ? 32 : 64}Array`;
  const data = isReal(plan, side)
    ? `${array}(plan.${side}.length)`
    : plan.problem.layout[side] === 'planar'
      ? `{ re: ${array}(plan.${side}.length), im: ${array}(plan.${side}.length) }`
      : `${array}(2 * plan.${side}.length) /* re, im, re, im … */`;
  return `import { openDevice } from 'omnifft';

const device = await openDevice('${device.kind}');
const plan = await device.plan(${typeof problem === 'string' ? `'${problem}'` : JSON.stringify(problem)});
const signal = ${data};
const result = await plan.${direction}(signal);
console.log(plan.explain());
`;
}
