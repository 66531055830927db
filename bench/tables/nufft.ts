/**
 * Non-uniform transforms, one thread, from memory of the device to memory of the device: points per second, what all of it takes over a plan of
 * the fine grid alone, and over direct sums.
 */
import { fill } from '../data.ts';
import { type Device, loadLibrary, loadNufft, type Memory, type NufftPlan, type RealArray } from '../library.ts';
import type { Figure, Table } from '../table.ts';

const EPS = 1e-6;

/** The least milliseconds of a call, over rounds. */
async function least(rounds: number, call: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await call();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

function filled<A extends Float32Array | Float64Array>(array: A, seed: number): A {
  fill(array, seed);
  return array;
}

function memoryWith(device: Device, values: RealArray): Memory {
  const memory = device.alloc(values.byteLength);
  memory.array.set(values);
  return memory;
}

/** A plan with random points, and its memory. */
async function planned(device: Device, type: 1 | 2, modes: readonly number[], points: number, seed: number) {
  const { plan } = await loadNufft();
  const made: NufftPlan = await plan(type, modes, { eps: EPS, device });
  const axes = modes.map((_, axis) => filled(new Float64Array(points), seed + axis).map((x) => Math.PI * x));
  await made.setPoints(...axes);
  const all = modes.reduce((product, count) => product * count, 1);
  const [from, to] = type === 1 ? [points, all] : [all, points];
  const given = filled(new Float32Array(2 * from), seed + 7);
  const [input, output] = [given, new Float32Array(2 * to)].map((values) => memoryWith(device, values)) as [
    Memory,
    Memory,
  ];
  return { made, axes, given, input, output };
}

/** Type 1 in one dimension: sums over all points, with rotations that go from mode to mode. */
function directSums(x: RealArray, strengths: RealArray, modes: number): Float64Array {
  const result = new Float64Array(2 * modes);
  x.forEach((at, j) => {
    const [cos, sin] = [Math.cos(at), Math.sin(at)];
    const first = -Math.floor(modes / 2) * at;
    let [re, im] = [Math.cos(first), Math.sin(first)];
    const [a, b] = [strengths[2 * j]!, strengths[2 * j + 1]!];
    for (let k = 0; k < modes; k++) {
      result[2 * k]! += a * re - b * im;
      result[2 * k + 1]! += a * im + b * re;
      [re, im] = [re * cos - im * sin, re * sin + im * cos];
    }
  });
  return result;
}

export const nufft: Table = {
  name: 'nufft',
  title: `non-uniform transforms to ${EPS}, single precision, as many modes as points, one thread`,
  async measure({ quick, seed }) {
    const { openDevice } = await loadLibrary();
    const device = await openDevice('cpu', { threads: 1 });
    const points = quick ? 2 ** 14 : 2 ** 18;
    const rounds = quick ? 3 : 12;
    const figures: Figure[] = [];
    for (const modes of [[points], [2 ** 9, points / 2 ** 9], [2 ** 6, 2 ** 6, points / 2 ** 12]]) {
      for (const type of [1, 2] as const) {
        const { made, axes, input, output } = await planned(device, type, modes, points, seed);
        const set = await least(3, () => made.setPoints(...axes));
        const time = await least(rounds, () => made.execute(input, output));
        const grid = await device.plan({ size: made.fineGrid, placement: 'in-place', directions: 'forward' });
        const memory = device.alloc(8 * made.fineGrid.reduce((a, b) => a * b, 1));
        memory.array.fill(0);
        const alone = await least(rounds, () => grid.forward(memory.array, memory.array));
        const label = `${modes.length}-D, type ${type}`;
        figures.push({ label: `${label}: million points a second`, value: points / time / 1000, unit: '' });
        figures.push({ label: `${label}: over a plan of the fine grid`, value: time / alone, unit: '×' });
        if (type === 1) {
          figures.push({
            label: `${modes.length}-D: setPoints, microseconds a point`,
            value: (1000 * set) / points,
            unit: '',
          });
        }
        for (const one of [made, grid]) one.destroy();
        for (const one of [input, output, memory]) one.free();
      }
    }
    const few = 2 ** 11;
    const { made, axes, given, input, output } = await planned(device, 1, [few], few, seed);
    const time = await least(4 * rounds, () => made.execute(input, output));
    let wanted: Float64Array = new Float64Array();
    const direct = await least(rounds, async () => {
      wanted = directSums(axes[0]!, given, few);
    });
    const error = Math.hypot(...wanted.map((value, n) => value - output.array[n]!)) / Math.hypot(...wanted);
    if (!(error < 10 * EPS)) throw new Error(`a non-uniform transform is off by ${error}`);
    figures.push({
      label: `1-D, type 1, ${few} points: direct sums take`,
      value: direct / time,
      unit: '×',
      atLeast: 100,
    });
    made.destroy();
    for (const one of [input, output]) one.free();
    await device.close();
    return { rows: [], figures, notes: [] };
  },
};
