/** Features of modules that are built ahead of time: the same as `logMel` computes, by nothing but the module. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { relativeError } from '../../../test/support/accuracy.ts';
import { randomFor, uniform } from '../../../test/support/random.ts';
import { buildWasm, type ModulePart } from '../../engine/ahead/wasm.ts';
import { type Device, openProfile } from '../../index.ts';
import { logMel } from '../index.ts';
import { logMelModule } from './feature-module.ts';
import { presetNames } from './feature-presets.ts';
import type { BuiltFeatures } from './feature-runtime.ts';

const random = randomFor('src/signal/feature-module');
const profiled = (await openProfile('wasm-cpu')) as unknown as Device;

type LogMel = (samples: Float32Array, options?: { readonly module?: WebAssembly.Module }) => BuiltFeatures;

function built(part: ModulePart, separate = false) {
  const options = { profile: profiled.profile, relaxed: false, separate };
  return buildWasm(new Map(), options, new Map([['logMel', part]]));
}

async function imported(script: string): Promise<LogMel> {
  const encoded = Buffer.from(script).toString('base64');
  return ((await import(/* @vite-ignore */ `data:text/javascript;base64,${encoded}`)) as { logMel: LogMel }).logMel;
}

it.each(presetNames)('computes what logMel does, preset %s', async (preset) => {
  const { script, types } = built(await logMelModule(preset, profiled));
  expect(gzipSync(script).length).toBeLessThan(30_000);
  expect(types).toContain('export declare const logMel: (samples: Float32Array');
  const own = await imported(script);
  // Less than a block, several of them, and again: memory holds what was there before.
  for (const length of [3000, random.integer(60_000, 150_000), 3000]) {
    const x = Float32Array.from(uniform(random, length, 'single'), (value, n) => value * Math.sin(n / 7));
    const wanted = await logMel(x, { preset });
    const { data, shape } = own(x);
    expect(shape).toEqual(wanted.shape);
    expect(relativeError(data, Float64Array.from(wanted.data))).toBeLessThan(1e-6);
  }
});

it('refuses what is no signal, and takes code that was compiled elsewhere', async () => {
  const part = await logMelModule('kaldi', profiled);
  const { script, code } = built(part, true);
  const own = await imported(script);
  expect(() => own(new Float32Array(399))).toThrow('The samples must be a Float32Array of 400 or more.');
  expect(() => own(new Float64Array(500) as never)).toThrow(RangeError);
  const x = Float32Array.from(uniform(random, 1000, 'single'));
  expect(() => own(x)).toThrow(/give \{ module \}/);
  const { shape } = own(x, { module: new WebAssembly.Module(code.plain as Uint8Array<ArrayBuffer>) });
  expect(shape).toEqual([4, 23]);
});
