/** The reason why there is no CPU device is the true one in each runtime. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { cpuAvailability } from './host.ts';

afterEach(() => vi.unstubAllGlobals());

/** A runtime whose WebAssembly refuses to compile with this message. */
function refusing(message: string): object {
  return {
    validate: () => true,
    Module: class {
      constructor() {
        throw new WebAssembly.CompileError(message);
      }
    },
    CompileError: Error,
  };
}

describe('the CPU device', () => {
  it.each<[string, unknown, RegExp]>([
    ['no WebAssembly', undefined, /this JavaScript engine has no WebAssembly/],
    ['WebAssembly without SIMD', { validate: () => false }, /WebAssembly has no SIMD/],
    [
      'an embedder that forbids compilation',
      refusing('WebAssembly.Module(): Wasm code generation disallowed by embedder'),
      /must not be compiled at run time here.*disallowed by embedder/,
    ],
    [
      "a policy, in Chromium's words",
      refusing(
        'WebAssembly.Module(): Refused to compile: violates the following Content Security policy directive: "script-src \'self\'"',
      ),
      /content security policy lacks 'wasm-unsafe-eval'/,
    ],
    [
      "a policy, in Firefox's words",
      refusing('call to WebAssembly.Module() blocked by CSP'),
      /lacks 'wasm-unsafe-eval'/,
    ],
  ])('says that there is %s', (_, stub, reason) => {
    vi.stubGlobal('WebAssembly', stub);
    expect(cpuAvailability()).toMatchObject({ available: false, reason: expect.stringMatching(reason) });
  });
});
