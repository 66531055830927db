import { describe, expect, it } from 'vitest';
import { missing } from '../../../test/support/optional.ts';
import { loadKoffi, openLibrary } from './library.ts';

const request = { what: 'The library of these tests', install: "Run 'apt install nothing'." };
const mathNames = {
  linux: ['libno-such-thing.so.7', 'libm.so.6', 'libm.so'],
  darwin: ['libno-such-thing.dylib', '/usr/lib/libSystem.B.dylib'],
  win32: ['no-such-thing.dll', 'ucrtbase.dll'],
}[process.platform as 'linux' | 'darwin' | 'win32'];

const noKoffi = missing(
  'koffi',
  await loadKoffi().then(
    () => undefined,
    (error: Error) => error.message,
  ),
);

describe.runIf(noKoffi)('without koffi', () => {
  it('says what to install', async () => {
    await expect(openLibrary({ ...request, names: mathNames })).rejects.toMatchObject({
      code: 'device-unavailable',
      message: expect.stringContaining("'npm install koffi'"),
    });
  });
});

describe.skipIf(noKoffi)('openLibrary', () => {
  it('takes the first library that is there, and calls it', async () => {
    const library = await openLibrary({ ...request, names: mathNames });
    expect(library.name).toBe(mathNames[1]);
    const cosine = library.func('cos', 'double', ['double']);
    expect(cosine(0.5)).toBe(Math.cos(0.5));
    const later = await new Promise((resolve, reject) => {
      cosine.async(0.5, (error: unknown, result: number) => (error ? reject(error) : resolve(result)));
    });
    expect(later).toBe(Math.cos(0.5));
    expect(library.optional('no_such_function', 'int', [])).toBeUndefined();
  });

  it('says what is missing, where it looked and what to install', async () => {
    const names = ['libno-such-thing.so.7', '/no/such/folder/libother.so'];
    await expect(openLibrary({ ...request, names })).rejects.toMatchObject({
      code: 'device-unavailable',
      message:
        'The library of these tests was not found (looked for libno-such-thing.so.7, /no/such/folder/libother.so). ' +
        "Run 'apt install nothing'.",
    });
  });

  it('says which function a library is too old for', async () => {
    const library = await openLibrary({ ...request, names: mathNames });
    expect(() => library.func('no_such_function', 'int', [])).toThrow(
      expect.objectContaining({
        code: 'device-unavailable',
        message: expect.stringMatching(/no function no_such_function: it is too old/),
      }),
    );
  });

  it('loads koffi once', async () => {
    expect(await loadKoffi()).toBe(await loadKoffi());
  });
});
