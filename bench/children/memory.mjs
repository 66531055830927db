// Fresh process with --expose-gc: makes and destroys plans on one device and prints the resident memory on the way: with
// the device open, after one plan for each problem, at the end. `young` is how much of it V8 keeps for new objects.
import { setTimeout as pause } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';

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

function young() {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').physical_space_size;
}

const device = await openDevice('cpu', { threads: 1 });
const opened = await resident();
const youngOpened = young();
for (const problem of problems) (await device.plan(problem)).destroy();
const first = await resident();
const youngFirst = young();
const start = performance.now();
for (let i = 0; i < Number(count); i++) (await device.plan(problems[i % problems.length])).destroy();
const each = (performance.now() - start) / Number(count);
const last = await resident();
await device.close();
console.log(JSON.stringify({ opened, first, young: youngFirst - youngOpened, last, each }));
