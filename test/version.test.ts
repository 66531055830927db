import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { version } from '../src/index.ts';

it('is the version of the package', () => {
  const { version: packaged } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(version).toBe(packaged);
});
