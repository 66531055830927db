/** What plans and devices hand out is nobody's handle on them; what is inherited is nobody's wish. */
import { afterAll, describe, expect, it } from 'vitest';
import { poison, snapshot } from '../../test/support/poison.ts';
import { randomFor, uniform } from '../../test/support/random.ts';
import { FftError } from '../problem/index.ts';
import { knownFields } from '../problem/input/fields.ts';
import { windowNames } from '../signal/windows/window-kinds.ts';
import { DeviceMemory, openProfile, profileNames } from './index.ts';
import { openCpuSync } from './open-sync.ts';

const device = openCpuSync();
afterAll(() => device.close());
const N = 64;
const signal = Float32Array.from(uniform(randomFor('engine/handed-out'), 2 * N, 'single'));

function thrownBy(call: () => unknown): FftError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(FftError);
    return error as FftError;
  }
  throw new Error('nothing was thrown');
}

/** Everything in it is replaced, however deep it lies. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, field] of Object.entries(value)) {
    spoil(field);
    if (typeof field !== 'object') (value as Record<string, unknown>)[name] = typeof field === 'number' ? 2 * field : 7;
  }
}

describe('what is handed out', () => {
  it('what is done to reports reaches no later plan', () => {
    const x = Float32Array.from(uniform(randomFor('engine/handed-out/reports'), 2 * 8 * 6 * 3, 'single'));
    const problem = { size: [8, 6], batches: 3 };
    const plan = device.planSync(problem);
    const [result, text] = [plan.forwardSync(x), plan.explain()];
    spoil(plan.toJSON());
    spoil(device.profile);
    plan.destroy();
    const again = device.planSync(problem);
    expect(again.explain()).toBe(text);
    expect(again.forwardSync(x)).toEqual(result);
    expect(device.planSync({ size: [4096] }).toJSON().directions[0]!.launches.length).toBe(1);
  });

  it('is frozen, and work is as large as before whatever was tried', () => {
    const plan = device.planSync({ size: [N, 4] });
    const { work } = plan.bytes;
    expect(() => (plan.input.shape as number[]).pop()).toThrow(TypeError);
    expect(() => Object.assign(plan.input, { bytes: 1 })).toThrow(TypeError);
    for (const name of ['input', 'output', 'problem']) {
      expect(() => Object.assign(plan, { [name]: { shape: [1] } })).toThrow(TypeError);
    }
    expect(plan.bytes.work).toBe(work);
    const [input, output] = [device.alloc(plan.input.bytes), device.alloc(plan.output.bytes)];
    const small = device.alloc(work / 4);
    const next = poison(device.alloc(work).float32);
    const before = snapshot(next);
    expect(thrownBy(() => plan.enqueue('forward', { input, output, work: small })).code).toBe('buffer-too-small');
    expect(snapshot(next)).toEqual(before);
    for (const list of [profileNames, windowNames]) expect(Object.isFrozen(list)).toBe(true);
  });

  it('kernels are copies of what runs', () => {
    const plan = device.planSync({ size: [N] });
    const bytes = () => plan.kernels[0]!.source as Uint8Array;
    const before = Array.from(bytes());
    bytes().fill(0);
    expect(Array.from(bytes())).toEqual(before);
  });

  it('memory cannot be made to look larger, and what only looks like memory is none', () => {
    const plan = device.planSync({ size: [N] });
    const memory = device.alloc(8);
    Object.assign(memory, { buffer: { bytes: 1e9 } });
    expect(thrownBy(() => plan.forwardSync(memory)).code).toBe('buffer-too-small');
    const imitated = Object.create(DeviceMemory.prototype) as DeviceMemory;
    expect(thrownBy(() => plan.forwardSync(imitated)).code).toBe('wrong-array-type');
  });
});

describe('what is put on Object.prototype', () => {
  const values = [3, 'double', true, { forward: 2, inverse: 2, input: 3, output: 3 }, [2]];
  const names = [
    ...knownFields,
    'threads',
    'sharedBytes',
    'coalescedBytes',
    'two',
    'input',
    'output',
    'from',
    're',
    'im',
  ];
  it.each(names)('%s changes no plan and no result', (name) => {
    const problem = () => ({ size: [N], batches: 1 });
    const plain = device.planSync(problem());
    const [saved, spectrum] = [plain.serialize(), Array.from(plain.forwardSync(signal))];
    for (const value of values) {
      Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: true, writable: true });
      let after: { readonly saved: string; readonly spectrum: ArrayLike<number> } | undefined;
      try {
        const plan = device.planSync(problem());
        after = { saved: plan.serialize(), spectrum: plan.forwardSync(signal) };
      } finally {
        delete (Object.prototype as Readonly<Record<string, unknown>> & { [key: string]: unknown })[name];
      }
      expect(after.saved).toBe(saved);
      expect(Array.from(after.spectrum)).toEqual(spectrum);
    }
  });
});

describe('arrays that say something else of themselves', () => {
  it.each(['length', 'byteOffset', 'buffer', 'byteLength', 'set', 'subarray', 'constructor'])('%s', (name) => {
    const plan = device.planSync({ size: [N] });
    const expected = Array.from(plan.forwardSync(signal));
    const lying = (array: Float32Array) => Object.defineProperty(array, name, { value: new ArrayBuffer(8) });
    const output = lying(new Float32Array(2 * N));
    plan.forwardSync(lying(signal.slice()), output);
    expect(Array.from(new Float32Array(signal.length), (_, n) => output[n])).toEqual(expected);
  });

  it('a length of its own does not stand for memory', () => {
    const plan = device.planSync({ size: [N] });
    const short = Object.defineProperty(new Float32Array(4), 'length', { value: 2 * N });
    expect(thrownBy(() => plan.forwardSync(short)).code).toBe('wrong-length');
  });
});

describe('bounds come before work', () => {
  it.each([
    ['size with 2^32 - 1 holes', () => device.planSync({ size: new Array(2 ** 32 - 1) }), 'invalid-field'],
    ['a signal for a size', () => device.planSync({ size: new Array(1e6).fill(0.5) }), 'invalid-field'],
    ['a cyclic field', () => device.planSync(cyclic() as never), 'unknown-field'],
    ['a long descriptor', () => device.planSync(`scfo${'9'.repeat(1e6)}`), 'invalid-descriptor'],
    ['a long name', () => device.planSync({ size: [8], ['x'.repeat(1e6)]: 1 } as never), 'unknown-field'],
    ['many names', () => device.planSync({ size: [8], ...wide() } as never), 'unknown-field'],
  ])('%s', (_, call, code) => {
    const start = performance.now();
    const error = thrownBy(call);
    expect(error.code).toBe(code);
    expect(error.message.length).toBeLessThan(2000);
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it('repeats of a measurement', async () => {
    const plan = device.planSync({ size: [8] });
    await expect(plan.measure('forward', { repeats: 2 ** 53 - 1 })).rejects.toMatchObject({ code: 'invalid-argument' });
  });

  it.each(['banks', 'groupPoints', 'sharedBytes', 'lockstepBytes', 'coalescedBytes', 'maxThreads', 'registers'])(
    'a profile with huge %s',
    async (name) => {
      const h200 = await openProfile('h200');
      const profile = { ...h200.profile, [name]: 2 ** 40 };
      await expect(openProfile(profile)).rejects.toMatchObject({
        code: 'invalid-argument',
        problems: [{ path: `profile.${name}` }],
      });
    },
  );

  it('a profile of bigints, cycles and long names', async () => {
    const { profile } = await openProfile('h200');
    const loop: Record<string, unknown> = { ...profile };
    loop.cluster = loop;
    for (const from of [{ ...profile, banks: 32n }, loop, { ...profile, name: 'n'.repeat(1e6) }]) {
      const refused = expect(openProfile(from as never)).rejects;
      await refused.toMatchObject({ code: 'invalid-argument', message: expect.stringMatching(/^.{20,1000}$/) });
    }
  });
});

function cyclic(): object {
  const record: Record<string, unknown> = { size: [8] };
  record.own = record.tuning = record;
  return record;
}

function wide(): object {
  return Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`field${n}`, n]));
}
