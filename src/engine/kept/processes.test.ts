/** One process keeps compiled code, others use it: tests of the built library in separate processes. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'omnifft-kept-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const library = (name: string) => JSON.stringify(new URL(`../../../dist/${name}.js`, import.meta.url).href);

/** Transforms the same numbers each time, and prints a digest of all results. It ends at once, as programs do that call exit. */
const PROGRAM = `
  import { createHash } from 'node:crypto';
  import { openDevice } from ${library('index')};
  import { rfft } from ${library('numpy/sync')};
  const hash = createHash('sha256');
  const signal = (length) => Float32Array.from({ length }, (_, n) => Math.sin(n * n));
  const device = await openDevice('cpu', { threads: 1 });
  for (const problem of [{ size: [1000] }, { size: [60, 12], transform: 'r2c', normalize: true }, 'scfo512*3']) {
    const plan = await device.plan(problem);
    const reals = plan.problem.transform[0] === 'r2c' ? 1 : 2;
    hash.update(await plan.forward(signal(reals * plan.input.length)));
  }
  hash.update(rfft(signal(240)).data);
  process.stdout.write(hash.digest('hex'));
  process.exit(0);
`;
const program = join(root, 'program.mjs');
writeFileSync(program, PROGRAM);

function run(environment: Readonly<Record<string, string>>): string {
  const env = { PATH: process.env.PATH, ...environment };
  const { stdout, stderr, status } = spawnSync(process.execPath, [program], { encoding: 'utf8', env });
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

/** Names, and when each was written. */
function entries(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /^[0-9a-f]{40}$/.test(name));
  return names.map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`).sort();
}

it('a second process uses what the first one has kept, and gets the same numbers, bit for bit', () => {
  const folder = join(root, 'xdg', 'omnifft');
  const told = { XDG_CACHE_HOME: join(root, 'xdg') };
  const first = run(told);
  const kept = entries(folder);
  expect(kept).toHaveLength(4);
  expect(run(told)).toBe(first);
  // Nothing was missed, so nothing was written.
  expect(entries(folder)).toEqual(kept);
  for (const entry of kept) {
    const path = join(folder, entry.split(' ')[0]!);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
  }
  const damaged = entries(folder);
  expect(run(told)).toBe(first);
  expect(entries(folder).filter((entry) => damaged.includes(entry))).toEqual([]);
});

it('OMNIFFT_CACHE names the folder, or keeps nothing; a folder that cannot be is none', () => {
  const folder = join(root, 'named');
  const elsewhere = { XDG_CACHE_HOME: join(root, 'unused'), HOME: join(root, 'unused') };
  const first = run({ ...elsewhere, OMNIFFT_CACHE: folder });
  expect(entries(folder)).toHaveLength(4);
  expect(run({ ...elsewhere, OMNIFFT_CACHE: 'off' })).toBe(first);
  writeFileSync(join(root, 'file'), '');
  expect(run({ ...elsewhere, OMNIFFT_CACHE: join(root, 'file', 'below') })).toBe(first);
  expect(existsSync(join(root, 'unused'))).toBe(false);
  expect(run({})).toBe(first);
});
