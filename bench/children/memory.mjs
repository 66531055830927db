// Fresh process with --expose-gc: makes and destroys plans on one device and prints the resident memory before and after.
import { setTimeout as pause } from 'node:timers/promises';

const [, , library, count] = process.argv;
const { openDevice } = await import(library);

const problems = [
  { size: [64], precision: 'single' },
  { size: [1000], precision: 'double' },
  { size: [1024], precision: 'single', batches: 16 },
  { size: [4096], precision: 'double' },
  { size: [32, 48], precision: 'single' },
  { size: [8, 8, 8], precision: 'double' },
  { size: [65536], precision: 'single' },
  { size: [360], precision: 'single', placement: 'in-place' },
];

/** Resident bytes once the collector has had its say; the least of a few looks. */
async function resident() {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 5; i++) {
    globalThis.gc();
    await pause(50);
    least = Math.min(least, process.memoryUsage.rss());
  }
  return least;
}

const device = await openDevice('cpu', { threads: 1 });
const opened = await resident();
for (const problem of problems) (await device.plan(problem)).destroy();
const first = await resident();
const start = performance.now();
for (let i = 0; i < Number(count); i++) (await device.plan(problems[i % problems.length])).destroy();
const each = (performance.now() - start) / Number(count);
const last = await resident();
await device.close();
console.log(JSON.stringify({ opened, first, last, each }));
