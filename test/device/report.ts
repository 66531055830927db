/** Verdicts as they come in, and what they come to. */
import { failed, type Verdict } from './correctness.ts';

/** Seconds from which on an attempt is said to be slow: compilers may take long over large kernels. */
const SLOW = 2;

/** What was tried so far, and how it went. */
export class Report {
  private tried = 0;
  /** The largest error as a share of what is allowed, and of what. */
  private worst = { share: 0, what: '' };
  private readonly bad: string[] = [];
  private readonly filter: string;
  private readonly quiet: boolean;

  /** @param filter what attempts have in their names. @param quiet says only what fails. */
  constructor(filter: string, quiet: boolean) {
    this.filter = filter;
    this.quiet = quiet;
  }

  async attempt(what: string, work: () => Promise<Verdict[]>): Promise<void> {
    if (!what.includes(this.filter)) return;
    const start = performance.now();
    try {
      for (const verdict of await work()) this.add(verdict);
      const seconds = (performance.now() - start) / 1000;
      if (seconds > SLOW) console.log(`slow ${seconds.toFixed(1)} s  ${what}`);
    } catch (error) {
      this.tried++;
      this.bad.push(`FAIL ${what}: ${(error as Error).message}`);
      console.log(this.bad.at(-1));
    }
  }

  private add(verdict: Verdict): void {
    this.tried++;
    const share = verdict.error / verdict.allowed;
    if (share > this.worst.share) this.worst = { share, what: verdict.what };
    const line = `${failed(verdict) ? 'FAIL' : 'ok  '} ${share.toFixed(2)} ${verdict.error.toExponential(2)}  ${verdict.what}`;
    if (failed(verdict)) this.bad.push([line, ...verdict.damage.slice(0, 3)].join('\n     '));
    if (failed(verdict) || !this.quiet) console.log(line);
  }

  end(): void {
    const { bad, tried, worst } = this;
    console.log(`\n${bad.join('\n')}\nThe largest error: ${worst.what}`);
    const share = worst.share.toFixed(2);
    console.log(`${tried - bad.length} passed, ${bad.length} failed; the largest error is ${share} of what is allowed`);
    if (bad.length > 0) process.exitCode = 1;
  }
}
