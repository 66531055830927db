/** Ctrl-C and SIGTERM in a terminal, and the state that the terminal is left in. */

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { findProgram, missing } from '../../test/support/optional.ts';
import { writeOutput } from './files.ts';
import { main, workplace } from './fixture.ts';

const { folder } = workplace();
const python = findProgram(['python3']);
missing('python', python ? undefined : 'there is no python3 on the PATH');

/**
 * Runs a program under a terminal of its own and interrupts it as soon as it has hidden the cursor and turned wrapping off, by a key or a signal;
 * prints how it ended (minus the signal's number where that has killed it) and all that it wrote.
 */
const TERMINAL = `
import os, pty, signal, sys
how, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
written, sent = b'', False
while True:
    try:
        written += os.read(terminal, 4096) or sys.exit('nothing more')
    except OSError:
        break
    if not sent and b'\\x1b[?25l' in written and b'\\x1b[?7l' in written:
        sent = True
        if how == 'Ctrl-C':
            os.write(terminal, b'\\x03')
        else:
            os.kill(child, getattr(signal, how))
_, status = os.waitpid(child, 0)
os.write(1, b'%d\\n' % os.waitstatus_to_exitcode(status) + written)
`;

function interrupted(how: string, ...command: readonly string[]): Promise<{ code: number; written: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(python!, ['-c', TERMINAL, how, ...command], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (piece) => {
      said += piece;
    });
    child.on('error', reject);
    child.on('close', () => {
      const [code] = said.split('\n', 1);
      resolve({ code: Number(code), written: said.slice(code!.length + 1) });
    });
  });
}

describe.skipIf(process.platform !== 'linux' || python === undefined)('a command with a progress bar', () => {
  // A run that would take far longer than the test.
  const endless = ['verify', '--device', 'cpu', '--no-peers', '--lengths', '64', '--rounds', '1000000'];

  it.concurrent.each([
    ['Ctrl-C', 130],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('gives the terminal its cursor and its wrapping back: %s', async (how, expected) => {
    const { code, written } = await interrupted(how, process.execPath, main, ...endless);
    expect(code, written).toBe(expected);
    // DECTCEM, whether the cursor is shown, and DECAWM, whether lines wrap: l turns off, h on.
    for (const mode of ['?25', '?7']) {
      expect(written).toContain(`\x1b[${mode}l`);
      expect(written.lastIndexOf(`\x1b[${mode}h`)).toBeGreaterThan(written.lastIndexOf(`\x1b[${mode}l`));
    }
    expect(written).not.toMatch(/\n\s+at /);
  });
});

describe('a file that is being written', () => {
  it('is not left there in part', async () => {
    let goOn = () => {};
    const more = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* pieces() {
      yield new Uint8Array(1000);
      await more;
    }
    const writing = writeOutput(join(folder, 'whole.bin'), pieces());
    await vi.waitFor(() => expect(readdirSync(folder)).toHaveLength(1));
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never);
    process.emit('SIGTERM', 'SIGTERM');
    expect(exit.mock.calls).toEqual([[143]]);
    exit.mockRestore();
    expect(readdirSync(folder)).toEqual([]);
    goOn();
    await expect(writing).rejects.toThrow(/Cannot write/);
    // Signals have their default effect again.
    expect(process.listeners('SIGTERM').map(({ name }) => name)).not.toContain('end');
  });
});
