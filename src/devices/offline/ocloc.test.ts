/** Intel's offline compiler, as far as it can be tested without an installation: it comes with Intel's drivers, which few machines have. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findProgram } from '../../../test/support/optional.ts';
import { compilingDevices } from '../../engine/compiling-devices.ts';
import { compileWithOcloc } from './ocloc.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('ocloc', () => {
  it('is asked for where it is missing', () => {
    vi.stubEnv('PATH', '/nowhere');
    const refusal = expect.objectContaining({
      code: 'device-unavailable',
      message: expect.stringContaining('intel-opencl-icd'),
    });
    expect(() => compileWithOcloc('', 'nothing', 'dg2')).toThrow(refusal);
  });

  it.runIf(findProgram(['ocloc']))('compiles plans, and says what is wrong with text that is none', async () => {
    const [device] = await compilingDevices('arc');
    const saved = (await device!.plan({ size: [16] })).serialize({ binaries: true });
    expect(new TextDecoder('latin1').decode(saved)).toContain('\x7fELF');
    device!.close();
    const refusal = expect.objectContaining({ code: 'compile-failed', message: expect.stringContaining('undeclared') });
    expect(() => compileWithOcloc('__kernel void broken() { undeclared = 1; }', 'broken', 'dg2')).toThrow(refusal);
  });
});
