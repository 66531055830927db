/** Plans of profiles, for commands that write them as files under names that users choose. */

import type { PlannedTransform } from '../engine/ahead/transform-data.ts';
import { bytesText } from '../engine/index.ts';
import { type Device, type DeviceProfile, FftError, type Plan, type ProblemInput } from '../index.ts';
import { normalizeProblem, type Problem } from '../problem/index.ts';
import { reportDone, writeOutput } from './files.ts';
import { readProblem, useDevice } from './options.ts';

/** A file to write. */
export interface NamedFile {
  readonly file: string;
  readonly contents: string | Uint8Array;
}

/** Plans problems for a profile, and passes the plans to a function. */
export async function withPlans<T>(
  problems: ReadonlyMap<string, ProblemInput>,
  options: { readonly profile: string; readonly language?: string },
  use: (plans: ReadonlyMap<string, PlannedTransform>, profile: DeviceProfile, device: Device) => T | Promise<T>,
): Promise<T> {
  return await useDevice({ device: 'auto', ...options }, async (device) => {
    const plans = new Map<string, PlannedTransform>();
    for (const [name, problem] of problems) plans.set(name, (await device.plan(problem)) as unknown as Plan);
    return use(plans, device.profile, device);
  });
}

/** Writes files and reports them. @param transforms names of the exported transforms */
export async function writeFiles(
  files: readonly NamedFile[],
  transforms: readonly string[],
  json: boolean,
): Promise<void> {
  const written: { file: string; bytes: number }[] = [];
  for (const { file, contents } of files) {
    const bytes = typeof contents === 'string' ? new TextEncoder().encode(contents) : contents;
    await writeOutput(file, bytes);
    written.push({ file, bytes: bytes.length });
  }
  const said = { transforms, files: written };
  reportDone(files[0]!.file, json ? JSON.stringify(said, null, 2) : `${transforms.join(', ')}: ${filesText(written)}`);
}

function filesText(files: readonly { readonly file: string; readonly bytes: number }[]): string {
  return files.map(({ file, bytes }) => `${file} (${bytesText(bytes)})`).join(', ');
}

/** Problems by the names of their exports. */
export function namedProblems(texts: readonly string[]): Map<string, ProblemInput> {
  return namedTexts(texts, (text) => {
    const input = readProblem(text);
    return [exportName(normalizeProblem(input)), input];
  });
}

/**
 * Texts such as `1024` or `name=1024`, by the names of their exports.
 * @param read reads a text without a name, and gives its default name
 */
export function namedTexts<T>(
  texts: readonly string[],
  read: (text: string) => readonly [name: string, value: T],
): Map<string, T> {
  const all = new Map<string, T>();
  for (const text of texts) {
    const [, given, rest] = NAMED.exec(text) ?? [];
    const [usual, value] = read(rest ?? text);
    const name = given ?? usual;
    if (all.has(name)) throw checkTaken(name, text);
    all.set(name, value);
  }
  return all;
}

/** A text with a name in front. */
export const NAMED = /^([A-Za-z_$][\w$]*)=(.*)$/s;

/** The error for a name that is exported twice. */
export function checkTaken(name: string, text: string): FftError {
  const another = `Two transforms would be called ${name}: name one of them, as in other=${text}.`;
  return new FftError('invalid-argument', another, { path: 'problems' });
}

/** The default name of an export, such as `fft1024`, `r2c256x256`, `dct2_64` or `fft32_batch100`. */
function exportName({ size, transform, batches }: Problem): string {
  const kinds = [...new Set(transform)].map((kind) => (kind === 'c2c' ? 'fft' : kind));
  const kind = kinds.join('_');
  return `${kind}${/\d$/.test(kind) ? '_' : ''}${size.join('x')}${batches > 1 ? `_batch${batches}` : ''}`;
}
