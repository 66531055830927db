/**
 * Outputs of the command line: open descriptors, links, and paths that cannot be written. Commands run on the CPU, because drivers of other devices
 * may write to stderr.
 */

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readNpy, writeNpy } from '../numpy/files/npy.ts';
import { main, sampleArray, workplace } from './fixture.ts';

const { folder, omnifft, put } = workplace();

describe.skipIf(process.platform !== 'linux')('outputs that are open already', () => {
  const array = put('piped.npy', writeNpy(sampleArray([6, 5], 'complex64')));
  const said = join(folder, 'said.txt');

  /** Runs a shell command in which `omnifft` transforms the array; reports of `omnifft` go to the file `said`. */
  function shell(command: string): { status: number | null; stdout: Buffer } {
    const program = 'omnifft() { "$program" "$main" transform "$array" --device cpu "$@"; }; exec 2>"$said";';
    const env = { ...process.env, program: process.execPath, main, array, said };
    return spawnSync('sh', ['-c', `${program} ${command}`], { env, cwd: folder });
  }

  it.each([
    'omnifft -o /dev/stdout | cat',
    'omnifft -o - | cat',
    'omnifft -o /dev/fd/1 | cat',
    'omnifft -o /proc/self/fd/1 | cat',
    'omnifft -o /dev/fd/3 3>&1 | cat',
    'omnifft -o /dev/fd/3 3>&1 >/dev/null | cat',
    // Without a pipe of the shell's, the standard output is a socket of Node's.
    'omnifft -o /dev/stdout',
  ])('%s', (command) => {
    const { status, stdout } = shell(command);
    const beside = command.includes('/dev/null') ? /^$/ : /^\/\S+: complex64 \(6, 5\), .*\n$/;
    expect(readFileSync(said, 'utf8')).toMatch(beside);
    expect(status).toBe(0);
    expect(stdout.length).toBe(128 + 6 * 5 * 8);
    expect(readNpy(stdout)).toMatchObject({ shape: [6, 5], dtype: 'complex64' });
  });

  it.each([
    ['a group', '{ echo HEADER; omnifft -o /dev/stdout; echo TAIL; } > open.bin'],
    ['an end', 'echo HEADER > open.bin; omnifft -o /dev/stdout >> open.bin; echo TAIL >> open.bin'],
    ['a link', '{ echo HEADER; ln -sf /dev/stdout named; omnifft -o named; echo TAIL; } > open.bin'],
    ['another descriptor', '{ echo HEADER; omnifft -o /dev/fd/3 3>&1 >/dev/null; echo TAIL; } > open.bin'],
  ])('keep what was written before and after: %s', (_name, command) => {
    expect(shell(command).status).toBe(0);
    const bytes = readFileSync(join(folder, 'open.bin'));
    expect(bytes.subarray(0, 7).toString()).toBe('HEADER\n');
    expect(bytes.subarray(-5).toString()).toBe('TAIL\n');
    expect(readNpy(bytes.subarray(7)).shape).toEqual([6, 5]);
    expect(bytes.length).toBe(7 + 128 + 6 * 5 * 8 + 5);
  });

  it('follow inputs that are open already', () => {
    // The output is a socket of Node's, or a pipe of the shell's.
    for (const command of [
      'exec "$program" "$main" transform - -o - --device cpu',
      'cat | "$program" "$main" transform - -o - --device cpu | cat',
    ]) {
      const env = { ...process.env, program: process.execPath, main };
      const input = writeNpy(sampleArray([6, 5], 'complex64'));
      const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { env, cwd: folder, input });
      expect([status, stderr.toString().replace(/, axes .*/, '')]).toEqual([0, '/dev/stdout: complex64 (6, 5)\n']);
      expect(readNpy(stdout)).toMatchObject({ shape: [6, 5], dtype: 'complex64' });
      expect(readdirSync(folder)).not.toContain('-');
    }
    const nothing = spawnSync(process.execPath, [main, 'transform', '-', '-o', '-'], { input: '', encoding: 'utf8' });
    expect(nothing).toMatchObject({ status: 1, stdout: '' });
    expect(nothing.stderr).toMatch(/^omnifft: standard input: .*\[invalid-file\]\n$/);
  });

  it('may have lost their names', () => {
    const { status, stdout } = shell(
      'exec 4>&1 1>gone.bin 3<gone.bin; rm gone.bin; omnifft -o /dev/stdout; cat <&3 >&4',
    );
    expect(status).toBe(0);
    expect(readNpy(stdout).shape).toEqual([6, 5]);
  });

  it('are no ordinary paths: a file is replaced even where it is standard output, too', () => {
    expect(shell('omnifft -o both.npy > both.npy').status).toBe(0);
    expect(readNpy(readFileSync(join(folder, 'both.npy'))).shape).toEqual([6, 5]);
  });
});

describe.skipIf(process.platform !== 'linux')('links to files that are not there yet', () => {
  it('are followed', async () => {
    const input = put('linked.npy', writeNpy(sampleArray([6], 'complex64')));
    mkdirSync(join(folder, 'far/away'), { recursive: true });
    symlinkSync('far/away', join(folder, 'near'));
    // Relative to near/, which is far/away/, the link leads to far/second.npy.
    symlinkSync('near/../second.npy', join(folder, 'first.npy'));
    symlinkSync('away/third.npy', join(folder, 'far/second.npy'));
    expect((await omnifft('transform', input, '-o', 'first.npy')).code).toBe(0);
    for (const link of ['first.npy', 'far/second.npy'])
      expect(lstatSync(join(folder, link)).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(folder, 'far/away/third.npy')).isFile()).toBe(true);
    expect(readNpy(readFileSync(join(folder, 'first.npy'))).shape).toEqual([6]);
  });
});

describe.skipIf(process.platform !== 'linux')('what cannot be written', () => {
  /** Transforms a file where no file may have more than 8 blocks of 512 bytes. */
  function transformLimited(input: string, output: string) {
    const command = [process.execPath, main, 'transform', input, '-o', output, '--device', 'cpu'];
    return spawnSync('sh', ['-c', 'ulimit -f 8; exec "$0" "$@"', ...command], { encoding: 'utf8', cwd: folder });
  }

  it('is found out while it is written piece by piece, too', async () => {
    const input = put('pieces.npy', writeNpy(sampleArray([4096], 'complex128')));
    const before = readdirSync(folder).sort();
    const { status, stderr } = transformLimited(input, 'new.npz');
    expect(stderr).toMatch(/^omnifft: Cannot write .*\[unwritable-output\]\n$/);
    expect(status).toBe(1);
    expect(readdirSync(folder).sort()).toEqual(before);
  });

  it.each(['in place', 'a new file', 'a link'])('leaves what was there: %s', async (which) => {
    const whole = writeNpy(sampleArray([4096], 'complex128'));
    const input = put('large.npy', whole);
    const link = join(folder, 'link.npy');
    if (which === 'a link') symlinkSync(input, link);
    const output = { 'in place': input, 'a new file': join(folder, 'new.npy'), 'a link': link }[which]!;
    const before = readdirSync(folder).sort();
    const { status, stderr } = transformLimited(input, output);
    expect(stderr).toMatch(/^omnifft: Cannot write .*\[unwritable-output\]\n$/);
    expect(status).toBe(1);
    expect(readdirSync(folder).sort()).toEqual(before);
    expect(readFileSync(input)).toEqual(Buffer.from(whole));
    // With enough space the output is written: a link stays a link, and a file keeps its permissions.
    chmodSync(input, 0o640);
    expect((await omnifft('transform', input, '-o', output)).code).toBe(0);
    expect(readNpy(readFileSync(output)).shape).toEqual([4096]);
    expect(lstatSync(output).isSymbolicLink()).toBe(which === 'a link');
    expect(statSync(input).mode & 0o777).toBe(0o640);
    rmSync(output);
  });

  it('is found out before any work: a link into a folder that is not there, and links in a circle', async () => {
    symlinkSync('no/target.npy', join(folder, 'stray.npy'));
    symlinkSync('circle.npy', join(folder, 'circle.npy'));
    // The input does not exist either, which would be reported if it were opened first.
    for (const output of ['stray.npy', 'circle.npy']) {
      const { code, stderr } = await omnifft('transform', 'none.npy', '-o', output);
      expect(stderr).toMatch(/^omnifft: Cannot write .*\[unwritable-output\]\n$/);
      expect(code).toBe(1);
      expect(lstatSync(join(folder, output)).isSymbolicLink()).toBe(true);
    }
  });

  it('is said in one line where it is standard output', () => {
    for (const args of [
      ['devices'],
      ['explain', 'scfo64', '--device', 'cpu'],
      ['bench', 'scfo64', '--device', 'cpu', '--json'],
    ]) {
      const full = openSync('/dev/full', 'w');
      const { status, stderr } = spawnSync(process.execPath, [main, ...args], {
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      });
      closeSync(full);
      // Listing devices queries their drivers, which may write to stderr.
      const own = args[0] === 'devices' ? stderr.replace(/^.*\n(?=.)/s, '') : stderr;
      const said = args.includes('--json') ? JSON.parse(own).error : { message: own.slice('omnifft: '.length) };
      expect(said.message).toMatch(/^Cannot write to standard output: the disk is full\./);
      expect(own).toMatch(/^[^\n]*unwritable-output[^\n]*\n$/);
      expect(status).toBe(1);
    }
  });
});
