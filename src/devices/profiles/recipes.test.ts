/**
 * The planner's decisions for common problems on common devices, as text, so that a change of the planner or of a profile shows its effects. `npx
 * vitest run src/devices/profiles -u` (in this order) rewrites the text.
 */

import { expect, it } from 'vitest';
import { planDirection } from '../../../test/support/planned.ts';
import { type Leaf, passesOf, stagedOf } from '../../plan/tree/leaf.ts';
import { normalizeProblem, type ProblemInput } from '../../problem/index.ts';
import { namedProfiles } from './index.ts';
import type { ProfileName } from './names.ts';

const profiles: readonly ProfileName[] = ['h200', 'mi250x', 'webgpu-default', 'wasm-cpu'];

const problems: readonly (readonly [title: string, problem: ProblemInput])[] = [
  ['64 × 4096', { size: [64], batches: 4096 }],
  ['1024 × 64', { size: [1024], batches: 64 }],
  ['1000 × 64', { size: [1000], batches: 64 }],
  ['8192 × 8', { size: [8192], batches: 8 }],
  ['30030', { size: [30030] }],
  ['2^16', { size: [2 ** 16] }],
  ['10^6', { size: [10 ** 6] }],
  ['2^20 × 4', { size: [2 ** 20], batches: 4 }],
  ['2^24', { size: [2 ** 24] }],
  ['256²', { size: [256, 256] }],
  ['4096²', { size: [4096, 4096] }],
  ['64³', { size: [64, 64, 64] }],
  ['1000×24×13', { size: [1000, 24, 13] }],
];

/**
 * `256 = 16·16 ×8 @128 batch→axis, copied in`: radices, transforms per group, threads, along what lanes walk.
 * `[256 256] = 16·16, 16·16 ×1 @512 on 8 blocks`: several transforms of one tile.
 */
function recipe(leaf: Leaf): string {
  const group = `×${leaf.tile} @${leaf.threads}`;
  const [first, ...more] = passesOf(leaf);
  if (more.length > 0) {
    const stages = [first!, ...more].map(({ radices }) => radices.join('·')).join(', ');
    return `[${leaf.lengths.join(' ')}] = ${stages} ${group} on ${leaf.blocks} blocks`;
  }
  const { radices, lanesAlong } = first!;
  const staged = stagedOf(leaf);
  const { input, output } = lanesAlong;
  const along = input === output ? input : `${input}→${output}`;
  const copied = [staged.input ? ', copied in' : '', staged.output ? ', copied out' : ''].join('');
  return `${leaf.lengths[0]} = ${radices.join('·')} ${group} ${along}${copied}`;
}

it('the recipes of some problems on some devices', async () => {
  const lines: string[] = [];
  for (const name of profiles) {
    const { profile } = namedProfiles[name];
    for (const precision of ['single', 'double'] as const) {
      if ('precisions' in profile && !(profile.precisions as readonly string[]).includes(precision)) continue;
      lines.push('', `${name}, ${precision}`);
      for (const [title, problem] of problems) {
        const { launches } = planDirection(normalizeProblem({ ...problem, precision }), 'forward', profile, false);
        launches.forEach(({ leaf, from, to }, n) => {
          lines.push(`${(n === 0 ? title : '').padEnd(12)} ${`${from}→${to}`.padEnd(14)} ${recipe(leaf)}`);
        });
      }
    }
  }
  await expect(`${lines.join('\n').trimStart()}\n`).toMatchFileSnapshot('recipes.txt');
});
