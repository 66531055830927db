import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FftError, fftErrorCodes, show, throwIfAny } from './errors.ts';
import { parseDescriptor } from './normalize/descriptor.ts';
import { normalizeProblem } from './normalize/normalize.ts';
import type { ProblemInput } from './problem.ts';

describe('FftError', () => {
  it('is an Error with a code, one problem of its own and a cause', () => {
    const cause = new TypeError('underneath');
    const error = new FftError('invalid-size', 'size is 0.', { path: 'size', cause });
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('FftError');
    expect(error.cause).toBe(cause);
    expect(error.problems).toEqual([{ code: 'invalid-size', message: 'size is 0.', path: 'size' }]);
    expect(Object.isFrozen(error.problems)).toBe(true);
  });

  it('has no cause property where there is no cause', () => {
    expect('cause' in new FftError('destroyed', 'gone')).toBe(false);
  });

  it('takes the code of the first of several problems and names them all', () => {
    const problems = [
      { code: 'invalid-size', message: 'One.', path: 'size' },
      { code: 'invalid-offset', message: 'Two.', path: 'offsets.input' },
    ] as const;
    expect(() => throwIfAny(problems)).toThrow(
      expect.objectContaining({ code: 'invalid-size', message: 'One. Two.', problems }),
    );
    expect(() => throwIfAny([])).not.toThrow();
  });
});

describe('show', () => {
  it('keeps to one line, and steers no terminal', () => {
    expect(show('a\nb\t\x1b[31mc\u2028\x9b')).toBe("'a\\nb\\t\\u001b[31mc\\u2028\\u009b'");
    expect(() => parseDescriptor('scfo\n16')).toThrow(/^The descriptor 'scfo\\n16' .*there is '\\n'\.$/);
    expect(() => normalizeProblem({ size: [16], 'bat\nches': 2 } as object as ProblemInput)).toThrow(
      /^bat\\nches is no known/,
    );
  });

  it('writes lists out, but not without end', () => {
    const cyclic: unknown[] = [1];
    cyclic.push(cyclic);
    expect(show([[1, 'a'], [2n]])).toBe("[[1, 'a'], [the bigint 2n]]");
    expect(show(cyclic)).toBe('[1, [1, a list of 2 values]]');
  });

  it('quotes little of anything, and runs no code of the value', () => {
    const boom = () => {
      throw new Error('boom');
    };
    class Long {}
    Object.defineProperty(Long, 'name', { value: 'n\n'.repeat(1e5) });
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = [
      ...['x'.repeat(1e6), 2n ** 100_000n, Symbol('s'.repeat(1e5)), new Long(), proxy, new Proxy({}, { get: boom })],
      new Array(2 ** 32 - 1),
      Object.defineProperty([1], 0, { get: boom }),
    ];
    for (const value of hostile) expect(show(value)).toMatch(/^.{5,200}$/);
    expect(show(2n ** 64n)).toBe('the bigint 18446744073709551616n');
  });

  it('tells of as many problems as a message holds', () => {
    const problems = Array.from({ length: 500 }, (_, n) => ({
      code: 'invalid-size' as const,
      path: `size[${n}]`,
      message: `size[${n}] is 0.5, but a length must be a positive integer.`,
    }));
    const message = /^size\[0\] .{1000,1900} There are \d+ more problems\.$/;
    expect(() => throwIfAny(problems)).toThrow(
      expect.objectContaining({ problems, message: expect.stringMatching(message) }),
    );
    expect(new FftError('invalid-file', 'y'.repeat(1e6)).message.length).toBeLessThan(2000);
  });

  it('names classes only by names', () => {
    expect(show(new Map())).toBe('an object (Map)');
    for (const made of [undefined, null, {}, { name: Symbol('s') }, { name: { toString: 1 } }])
      expect(show({ constructor: made })).toBe('an object (of no class)');
    expect(show(Object.create(null))).toBe('an object (of no class)');
  });
});

describe('the closed list of codes', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]);

  it('is what docs/errors.md explains, in the same order', () => {
    expect(documented).toEqual([...fftErrorCodes]);
  });

  it('is in kebab-case and without repetition', () => {
    expect(new Set(fftErrorCodes).size).toBe(fftErrorCodes.length);
    for (const code of fftErrorCodes) expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
  });

  it('has a full row for each code', () => {
    for (const row of page.split('\n').filter((line) => /^\| `[a-z-]+` \|/.test(line))) {
      const cells = row.split('|').slice(1, -1);
      expect(cells, row).toHaveLength(4);
      for (const cell of cells) expect(cell.trim(), row).not.toBe('');
    }
  });
});
