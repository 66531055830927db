/**
 * Transforms a frame of audio over and over without waiting and prints, as JSON, how much of the JavaScript heap one call takes.
 * Run with `--expose-gc` and a young generation that is not collected meanwhile.
 */
import { openDevice } from '../../src/index.ts';

const CALLS = 100_000;

const device = await openDevice('cpu', { threads: 1 });
const plan = await device.plan({ size: [1024], transform: 'r2c' });
const [input, output] = [new Float32Array(1024), new Float32Array(1026)];
const run = () => {
  for (let call = 0; call < CALLS; call++) {
    input[call % 1024] = Math.sin(call);
    plan.forwardSync(input, output);
  }
};
// The engine compiles what runs often.
run();
(globalThis as { gc?: () => void }).gc?.();
const before = process.memoryUsage().heapUsed;
run();
const garbage = (process.memoryUsage().heapUsed - before) / CALLS;
console.log(JSON.stringify({ garbage, isNumber: Number(Number.isFinite(output[3])) }));
plan.destroy();
device.close();
