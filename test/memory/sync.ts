/**
 * Makes and destroys plans in one go, without a turn of the event loop, and prints, as JSON, the JavaScript heap before and
 * after the second half of them. Run with `--expose-gc`.
 */
import { openDevice } from '../../src/index.ts';

const PLANS = 500;

const device = await openDevice('cpu', { threads: 1 });
const heap = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
};
let before = 0;
for (let made = 0; made < PLANS; made++) {
  if (made === PLANS / 2) before = heap();
  device.planSync({ size: [64], batches: 1 + made }).destroy();
}
console.log(JSON.stringify({ before, after: heap() }));
device.close();
