/**
 * Pushes chunks of samples through a stream and prints, as JSON, how many frames came out, the bytes of garbage that each
 * left, and by how much the JavaScript heap has grown in the end. Run with `--expose-gc` and a young generation that is not
 * collected meanwhile.
 */

import { StftStream } from '../../src/signal/sync.ts';
import { openCpuSync } from '../../src/sync.ts';

const FRAMES = 100_000;
/** The engine makes objects of its own until it has compiled everything. */
const WARM = 20_000;

const device = openCpuSync();
const stream = new StftStream({ device, nperseg: 256, hopLength: 64 });
const chunk = Float32Array.from({ length: 100 }, (_, k) => Math.sin(k));
// A variable would be an object for each number.
const sum = new Float64Array(1);
const onFrame = (spectrum: Float32Array): void => {
  sum[0]! += spectrum[0]!;
};
const push = (frames: number): number => {
  let made = 0;
  while (made < frames) made += stream.push(chunk, onFrame);
  return made;
};
const heap = (): number => process.memoryUsage().heapUsed;
const collect = (): void => (globalThis as { gc?: () => void }).gc?.();

push(WARM);
collect();
const before = heap();
const frames = push(FRAMES);
const garbage = (heap() - before) / frames;
collect();
console.log(JSON.stringify({ frames, garbage, grown: heap() - before, isNumber: Number(Number.isFinite(sum[0])) }));
stream.destroy();
device.close();
