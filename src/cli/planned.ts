/** Plans of profiles that commands write as files, by the names that these give them. */

import type { PlannedTransform } from '../engine/ahead/transform-data.ts';
import { bytesText } from '../engine/index.ts';
import { type DeviceProfile, FftError, type Plan, type ProblemInput } from '../index.ts';
import { normalizeProblem, type Problem } from '../problem/index.ts';
import { reportDone, writeOutput } from './files.ts';
import { readProblem, useDevice } from './options.ts';

/** A file to write. */
export interface NamedFile {
  readonly file: string;
  readonly contents: string | Uint8Array;
}

/** Plans problems for a profile, and makes something of the plans. */
export async function withPlans<T>(
  problems: ReadonlyMap<string, ProblemInput>,
  options: { readonly profile: string; readonly language?: string },
  use: (plans: ReadonlyMap<string, PlannedTransform>, profile: DeviceProfile) => T,
): Promise<T> {
  return await useDevice({ device: 'auto', ...options }, async (device) => {
    const plans = new Map<string, PlannedTransform>();
    for (const [name, problem] of problems) plans.set(name, (await device.plan(problem)) as unknown as Plan);
    return use(plans, device.profile);
  });
}

/** Writes files, and says which. @param transforms their names */
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

/** Problems by the names that they are exported by. */
export function namedProblems(texts: readonly string[]): Map<string, ProblemInput> {
  const problems = new Map<string, ProblemInput>();
  for (const text of texts) {
    const [, given, rest] = /^([A-Za-z_$][\w$]*)=(.*)$/s.exec(text) ?? [];
    const input = readProblem(rest ?? text);
    const name = given ?? nameOf(normalizeProblem(input));
    if (problems.has(name)) {
      const another = `Two transforms would be called ${name}: name one of them, as in other=${text}.`;
      throw new FftError('invalid-argument', another, { path: 'problems' });
    }
    problems.set(name, input);
  }
  return problems;
}

/** Such as `fft1024`, `r2c256x256`, `dct2_64` or `fft32_batch100`. */
function nameOf({ size, transform, batches }: Problem): string {
  const kinds = [...new Set(transform)].map((kind) => (kind === 'c2c' ? 'fft' : kind));
  const kind = kinds.join('_');
  return `${kind}${/\d$/.test(kind) ? '_' : ''}${size.join('x')}${batches > 1 ? `_batch${batches}` : ''}`;
}
