/**
 * Calls on host arrays that overlap, none of them awaited, must give what they give one after another. Results arrive when
 * the test says so, in an order that no device would choose: nothing here passes by luck.
 */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildSimulator } from '../../../test/device/simulator.ts';
import { Gate, overlappingDevices, quiescence } from '../../../test/support/gate.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { FftError, type PlanarData } from '../../problem/index.ts';
import { Device } from '../device.ts';
import { openDevice, type Plan } from '../index.ts';
import { hasHazard, type MemoryAccess, pendingCallsOf, quiet, runInOrder } from './call-hazards.ts';

type Array32 = Float32Array<ArrayBuffer>;
/** Problems of single precision. */
type Single = { readonly size: readonly number[] };

const random = randomFor('engine/calls/call-hazards');
const noise = (count: number) => Float32Array.from(uniform(random, count, 'single'));
const simulator = await buildSimulator();
afterAll(() => simulator?.remove());

describe.each(overlappingDevices(simulator))('calls that overlap, on %s', (_name, open) => {
  const n = 8;
  let device: Device;
  let gate: Gate;
  let plan: Plan<Single>;
  let inPlace: Plan<Single & { placement: 'in-place' }>;
  let planar: Plan<Single & { layout: 'planar' }>;
  /** To planes with every other number between them left alone. */
  let strided: Plan<Single>;

  beforeEach(async () => {
    const backend = await open();
    gate = new Gate(backend);
    device = new Device(backend);
    const problem = { size: [n], scale: { forward: n ** -0.5, inverse: n ** -0.5 } };
    plan = await device.plan(problem);
    inPlace = await device.plan({ ...problem, placement: 'in-place' });
    planar = await device.plan({ ...problem, layout: 'planar' });
    strided = await device.plan({ ...problem, strides: { output: [1, 2, 2 * n] } });
  });
  afterEach(() => {
    device.close();
    expect(quiet()).toBe(true);
  });

  /** What a call gives by itself. */
  async function alone(
    of: Plan<Single & { placement: 'in-place' | 'out-of-place' }>,
    direction: 'forward' | 'inverse',
    x: Float32Array,
  ): Promise<Float32Array> {
    gate.holding = false;
    const y = await of[direction](x.slice());
    gate.holding = true;
    return y;
  }

  it.each(['forward', 'inverse'] as const)('%s waits to write until earlier calls have read', async (direction) => {
    const [x, w] = [noise(2 * n), noise(2 * n)];
    const [y, z, pending] = [noise(n), new Float32Array(2 * n), new Float32Array(2 * n)];
    const early = planar.forward({ re: x.subarray(0, n), im: x.subarray(n) }, halves(pending));
    const first = y.slice();
    // Reads y, but has to wait for the first call because of its other plane.
    const reader = planar.inverse({ re: pending.subarray(0, n), im: y }, halves(z));
    const writer = planar[direction](halves(w), { re: y, im: new Float32Array(n) });
    await quiescence();
    expect(y).toEqual(first);
    await gate.releaseAll(Promise.all([early, reader, writer]));
    const re = await aloneOf(planar, 'forward', halves(x));
    const read = await aloneOf(planar, 'inverse', { re: re.re as Float32Array, im: first });
    expect(halves(z)).toEqual(read);
    expect(y).toEqual((await aloneOf(planar, direction, halves(w))).re);
  });

  async function aloneOf(
    of: typeof planar,
    direction: 'forward' | 'inverse',
    x: PlanarData<Float32Array>,
  ): Promise<PlanarData<Float32Array>> {
    gate.holding = false;
    const y = await of[direction](x);
    gate.holding = true;
    return y;
  }

  it('a result that is read stays until it has been read', async () => {
    const [x, w] = [noise(2 * n), noise(2 * n)];
    const [y, z] = [new Float32Array(2 * n), new Float32Array(2 * n)];
    const calls = [plan.forward(x, y), plan.inverse(y, z), plan.forward(w, y)];
    // Both results at once.
    for (const copy of gate.held.splice(0)) copy();
    await gate.releaseAll(Promise.all(calls));
    expect(z).toEqual(await alone(plan, 'inverse', await alone(plan, 'forward', x)));
    expect(y).toEqual(await alone(plan, 'forward', w));
  });

  it('the last call to write has the last word, whichever arrives first', async () => {
    const inputs = [noise(2 * n), noise(2 * n), noise(2 * n)];
    const y = new Float32Array(2 * n).fill(7);
    const calls = inputs.map((x) => plan.forward(x, y));
    await quiescence();
    expect(new Set(y)).toEqual(new Set([7]));
    await gate.releaseAll(Promise.all(calls));
    expect(y).toEqual(await alone(plan, 'forward', inputs[2]!));
  });

  it('a call that waits writes before those behind it', async () => {
    const [x, w] = [noise(2 * n), noise(2 * n)];
    const [y, z] = [new Float32Array(2 * n), new Float32Array(2 * n)];
    const calls = [plan.forward(x, y), plan.inverse(y, z), plan.forward(w, z)];
    await gate.releaseAll(Promise.all(calls));
    expect(z).toEqual(await alone(plan, 'forward', w));
  });

  it('in place, behind a call that has yet to read', async () => {
    const [x, z] = [noise(2 * n), new Float32Array(2 * n)];
    const data = x.slice();
    const calls = [inPlace.forward(data), plan.forward(data, z), inPlace.inverse(data), inPlace.inverse(data)];
    await gate.releaseAll(Promise.all(calls));
    const once = await alone(inPlace, 'forward', x);
    expect(z).toEqual(await alone(plan, 'forward', once));
    expect(data).toEqual(await alone(inPlace, 'inverse', await alone(inPlace, 'inverse', once)));
  });

  it('a failed call writes nothing, and those behind it go on', async () => {
    const [x, w] = [noise(2 * n), noise(2 * n)];
    const [y, z] = [new Float32Array(2 * n).fill(7), new Float32Array(2 * n)];
    const first = plan.forward(w, y);
    const second = plan.forward(x, y).catch((error) => error.code);
    const third = plan.forward(y, z);
    await gate.release();
    await first;
    await gate.release(0, new FftError('launch-failed', 'for this test'));
    expect(await second).toBe('launch-failed');
    await gate.releaseAll(third);
    expect(y).toEqual(await alone(plan, 'forward', w));
    expect(z).toEqual(await alone(plan, 'forward', y));
  });

  it('calls that only read an array that others read, or use others, run side by side', async () => {
    const [x, w] = [noise(2 * n), noise(2 * n)];
    const outputs = [0, 1, 2].map(() => new Float32Array(2 * n));
    const calls = [x, x, w].map((from, k) => plan.forward(from, outputs[k]!));
    expect(gate.held).toHaveLength(3);
    await gate.releaseAll(Promise.all(calls));
    for (const [k, from] of [x, x, w].entries()) expect(outputs[k]).toEqual(await alone(plan, 'forward', from));
  });

  it('calls of other plans and of another device on the same arrays', async () => {
    const cpu = await openDevice('cpu', { threads: 1 });
    const here = await cpu.plan({ size: [n], scale: { forward: n ** -0.5, inverse: n ** -0.5 } });
    const x = noise(2 * n);
    const [a, b, c] = [0, 1, 2].map(() => new Float32Array(2 * n)) as [Array32, Array32, Array32];
    const calls = [
      here.forward(x, a),
      plan.forward(a, b),
      here.forward(b, c),
      inPlace.forward(c),
      here.inverse(x, b),
      plan.forward(x, a),
    ];
    await gate.releaseAll(Promise.all(calls));
    // Four of them are the identity.
    for (const [k, value] of c.entries()) expect(value).toBeCloseTo(x[k]!, 4);
    expect(b).toEqual(here.inverseSync(x));
    expect(a).toEqual(await alone(plan, 'forward', x));
    cpu.close();
  });

  it('a device that closes leaves nothing behind', async () => {
    const [x, y, z] = [noise(2 * n), new Float32Array(2 * n), new Float32Array(2 * n).fill(7)];
    const calls = [plan.forward(x, y), plan.forward(y, z), plan.forward(y, y.slice()), plan.forward(x, z)];
    const ends = Promise.allSettled(calls);
    device.close();
    while (gate.held.length > 0) await gate.release();
    expect((await ends)[1]).toMatchObject({ status: 'rejected', reason: expect.any(FftError) });
    expect(quiet()).toBe(true);
  });

  it('views of one buffer that do not overlap wait for nothing', async () => {
    const rows = Array.from({ length: 5 }, () => noise(2 * n));
    const all = new Float32Array(5 * 2 * n);
    rows.forEach((row, k) => {
      all.set(row, 2 * n * k);
    });
    const views = rows.map((_, k) => all.subarray(2 * n * k, 2 * n * (k + 1)));
    const calls = views.map((view) => inPlace.forward(view));
    expect(gate.held).toHaveLength(5);
    for (let k = 4; k >= 0; k--) {
      await gate.release(k);
      await calls[k];
      expect(views[k]).toEqual(await alone(inPlace, 'forward', rows[k]!));
    }
  });

  it('planes that are swapped while a call waits are those it was given', async () => {
    const [x, y, z] = [noise(2 * n), new Float32Array(2 * n), new Float32Array(2 * n)];
    const [input, output] = [halves(y), halves(z)];
    const calls = [planar.forward(halves(x), halves(y)), planar.inverse(input, output)] as const;
    Object.assign(input, { re: new Float32Array(n), im: new Float32Array(n) });
    Object.assign(output, { re: new Float32Array(n), im: new Float32Array(n) });
    await gate.releaseAll(Promise.all(calls));
    expect(await calls[1]).toBe(output);
    for (const [k, value] of z.entries()) expect(value).toBeCloseTo(x[k]!, 4);
  });

  it('memory of the device that a waiting call reads or writes', async () => {
    const [x, w, u] = [noise(2 * n), noise(2 * n), noise(2 * n)];
    const [y, z] = [new Float32Array(2 * n), new Float32Array(2 * n)];
    const [a, b] = [device.alloc(plan.input.bytes), device.alloc(plan.input.bytes)];
    await plan.forward(u, b);
    const out = new Float32Array(2 * n);
    // The second and third wait for the first; the others for these.
    const calls = [
      plan.forward(x, y),
      plan.forward(y, a),
      planar.forward(halves(y), halves(new Float32Array(2 * n))),
      plan.inverse(a, z),
      plan.forward(a, b),
      plan.inverse(b, out),
      plan.forward(w, a),
    ];
    await gate.releaseAll(Promise.all(calls));
    const [once, last] = [new Float32Array(2 * n), new Float32Array(2 * n)];
    gate.holding = false;
    await plan.inverse(a, last);
    const twice = await plan.forward(await plan.forward(await plan.forward(x)));
    await plan.inverse(await plan.forward(await plan.forward(x)), once);
    expect(z).toEqual(once);
    expect(out).toEqual(await plan.inverse(twice));
    expect(last).toEqual(await plan.inverse(await plan.forward(w)));
  });

  it('calls that cannot wait are refused, and write nothing', async () => {
    const [x, w] = [noise(2 * n), noise(2 * n)];
    const [y, z, free] = [new Float32Array(2 * n), new Float32Array(2 * n), new Float32Array(2 * n)];
    const a = device.alloc(plan.input.bytes);
    await plan.forward(x, a);
    const source = new Float32Array(5 * n);
    source.set(w, 3 * n);
    const pending = source.subarray(0, 2 * n);
    const planes = { re: source.subarray(n, 2 * n), im: source.subarray(4 * n) };
    // The second waits for the first because of one plane, and has yet to read the other.
    const calls = [plan.forward(x, pending), planar.forward(planes, halves(y)), plan.forward(pending, a)];
    const before = source.slice();
    const refused = [
      () => plan.forwardSync(w, source.subarray(3 * n)),
      () => plan.forwardSync(source.subarray(0, 2 * n), free),
      () => plan.forwardSync(w, source.subarray(n, 3 * n)),
      () => planar.inverseSync(halves(w), { re: free.subarray(0, n), im: y.subarray(1, n + 1) }),
      () => inPlace.inverseSync(y),
      () => plan.forwardSync(a, free),
      () => plan.forwardSync(w, a),
    ];
    for (const call of refused) {
      expect(call).toThrow(expect.objectContaining({ code: 'aliased-buffers' }));
      expect(call).toThrow(/await that call first/);
    }
    expect(source).toEqual(before);
    expect(new Set([...free, ...y])).toEqual(new Set([0]));
    // Reading what others have yet to read, and memory beside theirs, is fine.
    plan.forwardSync(source.subarray(3 * n), z);
    expect(z).toEqual(await alone(plan, 'forward', w));
    plan.forwardSync(w, source.subarray(2 * n, 4 * n));
    source.set(before);
    await gate.releaseAll(Promise.all(calls));
    plan.forwardSync(w, source.subarray(3 * n));
    plan.forwardSync(a, free);
  });

  it.each([1, 2, 3, 4, 5, 6])('any calls whatever (%i)', async () => {
    const CALLS = 40;
    const memory = Array.from({ length: 3 }, () => noise(7 * n));
    const onDevice = [0, 1].map(() => device.alloc(plan.input.bytes));
    gate.holding = false;
    for (const [k, there] of onDevice.entries()) await plan.forward(memory[k]!.slice(0, 2 * n), there);
    const place = (length: number) => ({
      of: random.integer(0, memory.length - 1),
      start: random.integer(0, 7 * n - length),
      length,
    });
    type Place = ReturnType<typeof place>;
    const apart = (places: readonly Place[]) =>
      places.every((a, i) =>
        places.every(
          (b, j) => j <= i || a.of !== b.of || a.start + a.length <= b.start || b.start + b.length <= a.start,
        ),
      );
    const program = Array.from({ length: CALLS }, () => {
      const kind = random.pick([
        'plain',
        'plain',
        'in place',
        'planar',
        'strided',
        'to device',
        'from device',
        'enqueued',
      ] as const);
      const lengths = {
        plain: [2 * n, 2 * n],
        'in place': [2 * n],
        planar: [n, n, n, n],
        strided: [2 * n, 4 * n - 2],
        'to device': [2 * n],
        'from device': [2 * n],
        enqueued: [],
      }[kind];
      let places: Place[];
      do places = lengths.map(place);
      while (!apart(places));
      return { kind, places, direction: random.pick(['forward', 'inverse'] as const), there: random.integer(0, 1) };
    });
    const call = ({ kind, places, direction, there }: (typeof program)[number], arrays: readonly Float32Array[]) => {
      const views = places.map(({ of, start, length }) => arrays[of]!.subarray(start, start + length));
      const [a, b, c, d] = views as [Float32Array, Float32Array, Float32Array, Float32Array];
      if (kind === 'in place') return inPlace[direction](a);
      if (kind === 'planar') return planar[direction]({ re: a, im: b }, { re: c, im: d });
      if (kind === 'to device') return plan[direction](a, onDevice[there]!);
      if (kind === 'from device') return plan[direction](onDevice[there]!, a);
      if (kind === 'enqueued')
        return plan.enqueue(direction, { input: onDevice[there]!, output: onDevice[1 - there]! });
      if (kind === 'plain') return plan[direction](a, b);
      return direction === 'forward' ? strided.forward(a, b) : strided.inverse(b, a);
    };
    const wanted = memory.map((array) => array.slice());
    for (const step of program) await call(step, wanted);
    const left = await Promise.all(onDevice.map((there) => plan.forward(there)));
    // Once more from the same start.
    for (const [k, there] of onDevice.entries()) await plan.forward(memory[k]!.slice(0, 2 * n), there);
    gate.holding = true;
    const calls: Promise<unknown>[] = [];
    let over = 0;
    for (const step of program) {
      calls.push(call(step, memory).finally(() => over++));
      if (random.unit() < 0.2 && gate.held.length > 0) await gate.release(random.integer(0, gate.held.length - 1));
    }
    const all = Promise.all(calls);
    all.catch(() => undefined);
    while (over < CALLS) {
      await quiescence();
      if (gate.held.length > 0) await gate.release(random.integer(0, gate.held.length - 1));
    }
    await all;
    gate.holding = false;
    expect(memory).toEqual(wanted);
    expect(await Promise.all(onDevice.map((there) => plan.forward(there)))).toEqual(left);
  });
});

function halves(array: Float32Array): { re: Float32Array; im: Float32Array } {
  return { re: array.subarray(0, array.length / 2), im: array.subarray(array.length / 2) };
}

describe('the order of calls', () => {
  const of = new ArrayBuffer(8);
  const device = {};
  type Ends = readonly [start: number, end: number];
  const access = ([start, end]: Ends, writes: boolean): MemoryAccess => ({ of, start, end, writes });
  const reading = (...stretches: Ends[]) => ({ device, accesses: stretches.map((ends) => access(ends, false)) });
  const writing = (...stretches: Ends[]) => ({ device, accesses: stretches.map((ends) => access(ends, true)) });
  /** Calls that end when the test says so, in the order of `ends`; `begun` has their numbers. */
  let ends: (() => void)[];
  let begun: number[];
  beforeEach(() => {
    ends = [];
    begun = [];
  });
  const make = (call: Parameters<typeof runInOrder>[0]) => {
    const number = ends.length;
    const over = new Promise<void>((resolve) => ends.push(resolve));
    return runInOrder(call, () => {
      begun.push(number);
      return over;
    });
  };

  it('a call begins when all before it have ended that share a byte with it, unless both only read', async () => {
    const BYTES = 60;
    const calls: { reads: boolean; start: number; end: number; over: boolean; ended: Promise<void> }[] = [];
    const mustWait = (n: number) =>
      calls.slice(0, n).some((other) => {
        const { start, end, reads } = calls[n]!;
        return !other.over && other.start < end && start < other.end && !(reads && other.reads);
      });
    for (let round = 0; round < 300; round++) {
      const start = random.integer(0, BYTES - 1);
      const call = { reads: random.unit() < 0.5, start, end: random.integer(start + 1, BYTES) };
      const stretch = [call.start, call.end] as const;
      calls.push({ ...call, over: false, ended: make(call.reads ? reading(stretch) : writing(stretch)) });
      for (let more = random.integer(0, 2); more > 0; more--) {
        const open = begun.filter((n) => !calls[n]!.over);
        if (open.length === 0) break;
        const n = random.pick(open);
        ends[n]!();
        await calls[n]!.ended;
        calls[n]!.over = true;
        await quiescence();
      }
      expect([...begun].sort((a, b) => a - b)).toEqual(calls.flatMap((_, n) => (mustWait(n) ? [] : [n])));
    }
    for (const end of ends) end();
    await Promise.all(calls.map(({ ended }) => ended));
    expect(quiet()).toBe(true);
  });

  it('bytes beside those that are used, and other memory, are free', async () => {
    const calls = [make(writing([8, 16])), make(reading([24, 32]))];
    expect(hasHazard(writing([0, 8], [16, 24], [32, 40]))).toBe(false);
    expect(hasHazard(reading([16, 40]))).toBe(false);
    expect(hasHazard(writing([16, 25]))).toBe(true);
    const elsewhere = [{ ...access([8, 32], true), of: new ArrayBuffer(8) }];
    expect(hasHazard({ device, accesses: elsewhere })).toBe(false);
    for (const end of ends) end();
    await Promise.all(calls);
    expect(quiet()).toBe(true);
  });

  it('a device that orders its own calls keeps only others waiting', async () => {
    const call = make({ ...writing([0, 8]), orderedByDevice: true });
    expect(hasHazard(writing([0, 8]))).toBe(false);
    expect(hasHazard({ ...reading([0, 8]), device: {} })).toBe(true);
    const waiting = make({ ...writing([4, 8]), device: {} });
    // It has yet to be given to its device.
    expect(hasHazard(reading([4, 8]))).toBe(true);
    for (const end of ends) end();
    await Promise.all([call, waiting]);
  });

  it('calls that fail let those behind them go on, and count until they have ended', async () => {
    const failure = new Error('for this test');
    const first = runInOrder(writing([0, 8]), () => Promise.reject(failure));
    const second = make(writing([0, 8]));
    const both = pendingCallsOf(device)!;
    await expect(first).rejects.toBe(failure);
    await quiescence();
    expect(begun).toEqual([0]);
    ends[0]!();
    await Promise.all([second, both]);
    expect(pendingCallsOf(device)).toBe(undefined);
  });

  const CALLS = 2000;
  const patterns: [string, (row: number, k: number) => Ends, number][] = [
    ['into one array', () => [0, CALLS], 0],
    ['of everything, then of rows', (row, k) => (k < CALLS / 2 ? [0, CALLS] : [row, row + 1]), 0.9],
  ];
  it.each(patterns)('thousands of calls %s end', async (_, place, readingShare) => {
    const calls: Promise<void>[] = [];
    for (let k = 0; k < CALLS; k++) {
      const stretch = place((k * 7919) % CALLS, k);
      calls.push(make((k * 0.618) % 1 < readingShare ? reading(stretch) : writing(stretch)));
    }
    for (const end of ends.reverse()) end();
    await Promise.all(calls);
    expect(quiet()).toBe(true);
  });
});
