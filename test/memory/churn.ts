/**
 * Makes and destroys 5000 plans and prints, as JSON, the resident memory before the first plan, with full caches and
 * at the end. Run with `--expose-gc`.
 */
import { openDevice, type ProblemInput } from '../../src/index.ts';

const PLANS = 5000;
/**
 * Plans that fill the device's caches first, so that what follows has to make room for itself, and give the engine time to
 * compile what they run: its machine code grows the process, too.
 */
const FILL = 600;
const NEW_EVERY = 25;

const problems: ProblemInput[] = [];
for (const n of [1, 8, 60, 100, 243, 256, 500, 1024]) {
  problems.push({ size: [n] }, { size: [n], precision: 'double', placement: 'in-place' });
  problems.push({ size: [n], batches: 7, layout: 'planar', directions: 'forward' }, { size: [n, 6], normalize: true });
}

for (const n of [16, 60]) problems.push({ size: [n], convolution: {}, directions: 'forward' });

const settle = async (): Promise<number> => {
  for (let i = 0; i < 4; i++) {
    (globalThis as { gc?: () => void }).gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage.rss();
};

/**
 * The next problem: one of those above, or now and then one that nobody has asked for yet. All new ones are of one size:
 * memory that larger calls once needed would count as left behind.
 */
function problemOf(made: number): ProblemInput {
  if (made % NEW_EVERY === 0 || made < FILL) {
    return { size: [20], batches: 500, scale: { forward: 1 / (made + 2) }, directions: 'forward' };
  }
  return problems[made % problems.length] as ProblemInput;
}

const device = await openDevice('cpu', { threads: 1 });
const before = await settle();
let filled = before;
for (let made = 0; made < FILL + PLANS; made++) {
  const plan = await device.plan(problemOf(made));
  const { precision, layout } = plan.problem;
  // Some plans also get memory of their own for a call.
  if (made % 11 === 0) {
    const planar = layout.input === 'planar';
    const length = plan.input.length * (planar ? 1 : 2);
    const make = () => (precision === 'double' ? new Float64Array(length) : new Float32Array(length));
    await plan.forward(planar ? { re: make(), im: make() } : make());
  }
  if (plan.problem.convolution) {
    const data = new Float32Array(2 * plan.input.length);
    const kernel = await plan.prepareKernel(data as never);
    await plan.convolve(data as never, kernel);
    kernel.free();
  }
  plan.destroy();
  if (made === FILL + 2 * problems.length) filled = await settle();
}
const after = await settle();
console.log(JSON.stringify({ before, filled, after }));
device.close();
