/**
 * A native library as a subject, in a child process that stays alive and answers one line per request, so that its
 * rounds alternate with ours although it is another process. While it runs, this process waits, and the other way round.
 *
 *   plan P PRECISION BATCHES LENGTH…   slowest axis first; P is any small number that is not in use → `ok`; SciPy knows
 *                                      real-…, cosines-… and convolve-…, too: of these the lengths of the data, then of the kernel
 *   load P SEED                        → `ok`
 *   bins P INDEX…                      runs once → `re im re im …`
 *   time P CALLS                       → microseconds of one call, by the child's clock
 *   close P                            → `ok`
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Subject, Workload } from '../subject.ts';

export class NativePeer {
  readonly name: string;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly waiting: { resolve(line: string): void; reject(error: Error): void }[] = [];
  private messages = '';
  private plans = 0;

  constructor(name: string, command: string, args: readonly string[]) {
    this.name = name;
    this.child = spawn(command, args, { env: { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' } });
    this.child.stderr.on('data', (chunk) => (this.messages += chunk));
    createInterface({ input: this.child.stdout }).on('line', (line) => this.waiting.shift()?.resolve(line));
    const fail = (why: string) => {
      for (const { reject } of this.waiting.splice(0)) reject(new Error(`${name}: ${why} ${this.messages}`.trim()));
    };
    this.child.on('error', (error) => fail(error.message));
    this.child.on('exit', (code) => fail(`ended with ${code}.`));
    this.child.stdin.on('error', () => {});
  }

  private ask(...words: (string | number)[]): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.child.exitCode !== null) return reject(new Error(`${this.name} has ended. ${this.messages}`));
      this.waiting.push({ resolve, reject });
      this.child.stdin.write(`${words.join(' ')}\n`);
    });
  }

  async prepare({ size, precision, batches = 1, real = false, sums, kernel }: Workload): Promise<Subject> {
    const plan = this.plans++;
    if (sums && sums !== 'dct2') throw new Error(`${this.name} is not asked for ${sums}.`);
    const kind = kernel ? 'convolve-' : sums ? 'cosines-' : real ? 'real-' : '';
    const lengths = [size, kernel ?? []].flatMap((own) => [...own].reverse());
    await this.ask('plan', plan, `${kind}${precision}`, batches, ...lengths);
    return {
      name: this.name,
      load: async (seed) => void (await this.ask('load', plan, seed)),
      bins: async (indices) => Float64Array.from((await this.ask('bins', plan, ...indices)).split(' '), Number),
      time: async (calls) => Number(await this.ask('time', plan, calls)),
      close: async () => void (await this.ask('close', plan)),
    };
  }

  close(): void {
    this.child.stdin.end();
  }
}
