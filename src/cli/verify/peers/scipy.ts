/** SciPy (pocketfft), in a Python process that answers one line for each request line. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { FftError } from '../../../index.ts';
import { type Peer, realKind } from './peer.ts';

/**
 * A request has kind, direction, lengths (slowest first), precision, and the numbers of one or more transforms in base 64. An answer is in base 64.
 */
const PROGRAM = `
import base64, sys
import numpy as np
import scipy.fft as fft
for line in sys.stdin:
    kind, direction, size, precision, data = line.split()
    shape = [int(n) for n in size.split("x")]
    axes = list(range(1, len(shape) + 1))
    real, complex_ = (np.float32, np.complex64) if precision == "single" else (np.float64, np.complex128)
    x = np.frombuffer(base64.b64decode(data), real)
    if kind == "c2c":
        y = (fft.fftn if direction == "forward" else fft.ifftn)(x.view(complex_).reshape(-1, *shape), axes=axes, norm="backward" if direction == "forward" else "forward")
    elif kind == "r2c" and direction == "forward":
        y = fft.rfftn(x.reshape(-1, *shape), axes=axes)
    elif kind == "r2c":
        y = fft.irfftn(x.view(complex_).reshape(-1, *shape[:-1], shape[-1] // 2 + 1), shape, axes, norm="forward")
    else:
        y = (fft.dctn if kind.startswith("dct") else fft.dstn)(x.reshape(-1, *shape), int(kind[-1]), axes=axes)
    assert y.dtype in (real, complex_)
    print(base64.b64encode(np.ascontiguousarray(y).tobytes()).decode(), flush=True)
`;

/** Opens SciPy. @throws FftError (as a rejection) `device-unavailable` if no \`python3\` on the path has SciPy */
export async function openScipy(): Promise<Peer> {
  const python = findPython();
  if (python === undefined) throw new FftError('device-unavailable', 'no python3 on the path has SciPy');
  const child = spawn(python, ['-c', PROGRAM]);
  const answers = new Answers(child);
  return {
    name: 'SciPy',
    // SciPy's DCT-I needs at least two points.
    has: ({ precision, transform, size }) =>
      (precision === 'single' || precision === 'double') &&
      transform !== 'dht' &&
      !(transform === 'dct1' && Math.min(...size) < 2),
    async run(task, input) {
      const make = task.precision === 'single' ? Float32Array : Float64Array;
      const { buffer } = make.from(input);
      const data = Buffer.from(buffer).toString('base64');
      const kind = task.transform.startsWith('d') ? realKind(task) : task.transform;
      const size = [...task.size].reverse().join('x');
      const answer = await answers.ask(`${kind} ${task.direction} ${size} ${task.precision} ${data}\n`);
      const bytes = Buffer.from(answer, 'base64');
      return new make(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    },
    close: () => child.stdin.end(),
  };
}

class Answers {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly waiting: { resolve(line: string): void; reject(error: Error): void }[] = [];
  private said = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    createInterface({ input: child.stdout }).on('line', (line) => this.waiting.shift()?.resolve(line));
    child.stderr.on('data', (text) => (this.said += text));
    child.stdin.on('error', () => {});
    const fail = (why: string) => {
      const error = new FftError('internal-error', `SciPy ${why}: ${this.said.trim().split('\n').at(-1)}`);
      for (const { reject } of this.waiting.splice(0)) reject(error);
    };
    child.on('error', ({ message }) => fail(message));
    child.on('close', (code) => fail(`ended with ${code}`));
  }

  ask(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.child.stdin.write(line);
    });
  }
}

/** The first Python on the path that has SciPy, which need not be the first Python. */
function findPython(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = [process.env.PYTHON, ...folders.map((folder) => join(folder, 'python3'))];
  return candidates.find(
    (python) => python && existsSync(python) && spawnSync(python, ['-c', 'import scipy.fft']).status === 0,
  );
}
