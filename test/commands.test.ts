/** The commands of a clone: what they install, and how they say what they do. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = new URL('../', import.meta.url);
const script = (name: string) => fileURLToPath(new URL(`scripts/${name}`, root));

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
}

it('npm start installs little: what the package is built of, and nothing that only tests, pages or benchmarks need', () => {
  const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const reached = new Set(['scripts']);
  for (const path of reached) {
    for (const name of Object.keys(packages[path]!.dependencies ?? {})) {
      const nested = `${path}/node_modules/${name}`;
      reached.add(nested in packages ? nested : `node_modules/${name}`);
    }
  }
  // Each is a request; the 490 of all workspaces take minutes.
  expect(reached.size).toBeGreaterThan(10);
  expect(reached.size).toBeLessThan(60);
  for (const large of ['webgpu', '@sparticuz/chromium', '@biomejs/biome', 'vitest', 'vite', 'vitepress']) {
    expect(reached).not.toContain(`node_modules/${large}`);
  }
});

it.each(['--help', '-h'])('npm test -- %s says how to call it, and runs nothing', (option) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script('test.mjs'), option], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const word of ['--exhaustive', '--bare', '-t ', 'src/plan', 'OMNIFFT_SEED']) expect(stdout).toContain(word);
});

it('a command that there is not is refused with the names of those that there are', () => {
  const { status, stderr } = spawnSync(process.execPath, [script('setup.mjs'), 'tests'], { encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/no command tests; there are start, build, test/);
});
