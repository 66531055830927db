import { expect, it } from 'vitest';
import type { CpuKernel } from './kernel.ts';
import { warmUp } from './warmup.ts';

it('plans that share a kernel wait for it together', async () => {
  // A kernel that never becomes faster, so that the whole waiting time is used up.
  const kernel = {
    source: new Uint8Array(8),
    coldCall: 1e-12,
    idle: () => {},
    warming: undefined,
  } as unknown as CpuKernel;
  const ended: string[] = [];
  const first = warmUp([kernel]).then(() => ended.push('first'));
  const second = warmUp([kernel, kernel]).then(() => ended.push('second'));
  expect(ended).toEqual([]);
  await second;
  expect(ended).toEqual(['first', 'second']);
  await first;
});
