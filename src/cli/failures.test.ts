/** Messages of the library in the words of the command line: every name of a call is replaced by a command. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { FftError } from '../problem/errors.ts';
import { inCommands, withOptionNames } from './failures.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The texts in a source file that have more than one word. */
function textsOf(path: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    else if (ts.isTemplateExpression(node)) {
      // A placeholder is replaced by some word.
      texts.push(node.head.text + node.templateSpans.map(({ literal }) => `x${literal.text}`).join(''));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(root + path, 'utf8'), ts.ScriptTarget.Latest, true));
  return texts.filter((text) => text.includes(' '));
}

describe('inCommands', () => {
  it.each([
    ["openDevice('auto', { precision: 'double' }) finds one.", '--device auto finds one.'],
    ["open it with that: openDevice('opencl', { context }).", 'open it with that: --device opencl.'],
    ['openDevice() opens one; listDevices() says which.', '--device opens one; `omnifft devices` says which.'],
    ['size[0] is 0 (in Python: numpy.save(file, a))', 'size[0] is 0 (in Python: numpy.save(file, a))'],
  ])('%s', (message, expected) => expect(inCommands(message)).toBe(expected));

  it('leaves no call that opens or lists devices in any message of the library', () => {
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (path) => /^(engine|devices|problem|plan|numpy|signal)\/.*\.ts$/.test(path) && !path.endsWith('.test.ts'),
    );
    const named = files.flatMap(textsOf).filter((text) => /\b(openDevice|listDevices)\b/.test(text));
    expect(named.length).toBeGreaterThan(3);
    for (const text of named) expect(inCommands(text)).not.toMatch(/openDevice|listDevices/);
  });
});

describe('withOptionNames', () => {
  const failing = (message: string, path: string) => () =>
    Promise.reject(new FftError('invalid-argument', message, { path }));

  it('names options where a message begins with one', async () => {
    for (const [message, path] of [
      ['size takes an integer', 'size'],
      ['size[0] = 17 has a prime', 'size[0]'],
    ] as const) {
      const error = await withOptionNames(['hop', 'size'], failing(message, path)).catch((error) => error);
      const said = message.replace(/^size(\[0\])?/, '--size');
      expect(error).toMatchObject({ code: 'invalid-argument', message: said });
      expect(error.problems).toEqual([{ code: 'invalid-argument', message: said, path: '--size' }]);
    }
  });

  it('leaves other words and other errors as they are', async () => {
    await expect(withOptionNames(['size'], failing('sizes differ', 'sizes'))).rejects.toMatchObject({
      message: 'sizes differ',
    });
    await expect(withOptionNames(['size'], () => Promise.reject(new TypeError('size is 0')))).rejects.toThrow(
      TypeError,
    );
    await expect(withOptionNames(['size'], async () => 7)).resolves.toBe(7);
  });
});
