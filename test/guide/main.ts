/**
 * Runs every row of the source documents and prints a line for each: `npm run guide-rows`, with part of a document's name or of a section
 * for some of them. Ends with 1 where a row is wrong that is not known to be missing.
 *
 * Rows are shared out among as many processes as there are processors: each asks for the next one when it has finished one.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { rows } from './rows.ts';
import { closeAll, outcomeOf, type Row } from './toolkit.ts';

/** What a process of rows answers: the number of a row, and how it came out. */
interface Answer {
  readonly number: number;
  readonly outcome: string;
}

if (process.send) await answerRows();
else await printRows();

/** In a process of rows: answers until there are no more. */
async function answerRows(): Promise<void> {
  await new Promise<void>((ended) => {
    process.on('message', async (number: number) => {
      if (number < 0) return ended();
      process.send!({ number, outcome: await outcomeOf(rows[number]!) } satisfies Answer);
    });
    process.send!('ready');
  });
  await closeAll();
  process.disconnect();
}

async function printRows(): Promise<void> {
  const wanted = process.argv.slice(2);
  const chosen = [...rows.keys()].filter((number) => {
    const { document, section } = rows[number]!;
    return wanted.every((part) => `${document} ${section}`.includes(part));
  });
  const outcomes = await outcomesOf(chosen);
  const counts = new Map<string, { right: number; elsewhere: number; wrong: number; rows: number }>();
  for (const number of chosen) {
    const { document } = rows[number]!;
    const outcome = outcomes.get(number)!;
    const count = counts.get(document) ?? { right: 0, elsewhere: 0, wrong: 0, rows: 0 };
    counts.set(document, count);
    count.rows += 1;
    if (outcome === 'right') count.right += 1;
    else if (outcome.startsWith('not here')) count.elsewhere += 1;
    else count.wrong += 1;
    if (outcome.startsWith('WRONG') && !rows[number]!.missing) process.exitCode = 1;
  }
  console.log('');
  let right = 0;
  for (const [document, count] of counts) {
    console.log(
      `${document}: ${count.right} right, ${count.elsewhere} not here, ${count.wrong} wrong, of ${count.rows}`,
    );
    right += count.right;
  }
  console.log(`${right} of ${chosen.length} rows are right.`);
}

/** Runs rows, and prints each when those before it are over. */
async function outcomesOf(chosen: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const outcomes = new Map<number, string>();
  const waiting = [...chosen];
  let printed = 0;
  const take = ({ number, outcome }: Answer) => {
    outcomes.set(number, outcome);
    for (; printed < chosen.length && outcomes.has(chosen[printed]!); printed++)
      console.log(lineOf(rows[chosen[printed]!]!, outcomes.get(chosen[printed]!)!));
  };
  const processes = Math.min(availableParallelism(), chosen.length);
  await Promise.all(Array.from({ length: processes }, () => served(start(), () => waiting.shift(), take)));
  return outcomes;
}

/** A process of rows. What it prints itself, such as the seed of its random data, goes where errors go. */
function start(): ChildProcess {
  const { execArgv } = process;
  return fork(fileURLToPath(import.meta.url), { execArgv, stdio: ['ignore', process.stderr, 'inherit', 'ipc'] });
}

/** Gives a process rows until there are none; another one carries on where it ends in the middle of a row. */
function served(child: ChildProcess, next: () => number | undefined, take: (answer: Answer) => void): Promise<void> {
  let current: number | undefined;
  return new Promise((ended, failed) => {
    child.on('message', (answer: Answer | 'ready') => {
      if (answer !== 'ready') take(answer);
      current = next();
      child.send(current ?? -1);
    });
    child.on('exit', (code) => {
      if (current === undefined)
        return code === 0 ? ended() : failed(new Error(`a process of rows ended with ${code}`));
      take({ number: current, outcome: `WRONG: its process ended with ${code}` });
      served(start(), next, take).then(ended, failed);
    });
  });
}

function lineOf({ document, section, what, missing }: Row, outcome: string): string {
  const note = outcome !== 'right' && missing ? ' (known to be missing)' : '';
  return `${document} | ${section} | ${what} | ${outcome}${note}`;
}
