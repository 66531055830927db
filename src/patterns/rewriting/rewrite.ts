/** Rewriting: rules applied to programs one after another, with a trace of the steps. */
import { FftError, show } from '../../problem/errors.ts';
import { nestingProblemIn } from '../language/nesting.ts';
import { print } from '../language/print.ts';
import { type Inputs, Program, requireProgram } from '../language/program.ts';
import { firstPlace, throughout } from './places.ts';
import type { Rule } from './rule.ts';

/** A strategy: a way to apply a rule to a program. */
export interface Strategy {
  readonly rule: Rule;
  readonly places: 'first, if any' | 'all';
}

/** A step of rewriting: a strategy, or a rule, which is applied at the outermost, leftmost place where it matches. */
export type Step = Rule | Strategy;

/** The record of one step, with the programs as texts. */
export interface TraceEntry {
  readonly rule: string;
  readonly before: string;
  readonly after: string;
}

/** Applies a rule once if it matches anywhere; otherwise leaves the program as it is. */
export function attempt(rule: Rule): Strategy {
  return { rule, places: 'first, if any' };
}

/** Applies a rule at all places where it matches the program, outermost first. */
export function everywhere(rule: Rule): Strategy {
  return { rule, places: 'all' };
}

/**
 * Rewrites a program by applying rules one after another.
 * @throws FftError `invalid-program` where a rule matches nowhere; `invalid-argument`
 */
export function rewrite<I extends Inputs>(
  program: Program<I>,
  ...steps: readonly Step[]
): { readonly program: Program<I>; readonly trace: readonly TraceEntry[] } {
  requireProgram(program, 'rewrite');
  const trace: TraceEntry[] = [];
  let current = program;
  for (const step of steps) {
    const { rule, places } = strategyOf(step);
    const body = places === 'all' ? throughout(current.body, rule) : firstPlace(current.body, rule);
    if (!body) {
      if (places !== 'first') continue;
      const where = rule.where === undefined ? '' : `, where ${rule.where}`;
      const message = `${rule.name}: it takes ${rule.left}${where}; there is none in ${print(current)}.`;
      throw new FftError('invalid-program', message, { path: rule.name });
    }
    const problem = nestingProblemIn(body);
    if (problem) throw new FftError('invalid-program', `${rule.name}: ${problem}`, { path: rule.name });
    const next = new Program(current.inputs, current.parameters, body, current.note);
    trace.push(Object.freeze({ rule: rule.name, before: print(current), after: print(next) }));
    current = next;
  }
  return { program: current, trace: Object.freeze(trace) };
}

function strategyOf(step: Step): { readonly rule: Rule; readonly places: Strategy['places'] | 'first' } {
  const given: unknown = step;
  if (typeof given === 'object' && given !== null) {
    if ('rule' in given) return step as Strategy;
    if ('apply' in given) return { rule: step as Rule, places: 'first' };
  }
  throw new FftError(
    'invalid-argument',
    `rewrite takes rules, attempt(rule) and everywhere(rule); it was given ${show(step)}.`,
  );
}
