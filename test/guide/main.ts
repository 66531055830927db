/**
 * Runs every row of the source documents and prints a line for each: `npm run guide-rows`, with part of a document's name or of a section
 * for some of them. Ends with 1 where a row is wrong that is not known to be missing.
 */
import { rows } from './rows.ts';
import { closeAll, outcomeOf } from './toolkit.ts';

const wanted = process.argv.slice(2);
const chosen = rows.filter(({ document, section }) => wanted.every((part) => `${document} ${section}`.includes(part)));
const counts = new Map<string, { right: number; elsewhere: number; wrong: number; rows: number }>();
let failed = false;
for (const row of chosen) {
  const outcome = await outcomeOf(row);
  const count = counts.get(row.document) ?? { right: 0, elsewhere: 0, wrong: 0, rows: 0 };
  counts.set(row.document, count);
  count.rows += 1;
  if (outcome === 'right') count.right += 1;
  else if (outcome.startsWith('not here')) count.elsewhere += 1;
  else count.wrong += 1;
  failed ||= outcome.startsWith('WRONG') && !row.missing;
  const note = outcome !== 'right' && row.missing ? ' (known to be missing)' : '';
  console.log(`${row.document} | ${row.section} | ${row.what} | ${outcome}${note}`);
}
await closeAll();

console.log('');
let [right, all] = [0, 0];
for (const [document, count] of counts) {
  console.log(`${document}: ${count.right} right, ${count.elsewhere} not here, ${count.wrong} wrong, of ${count.rows}`);
  right += count.right;
  all += count.rows;
}
console.log(`${right} of ${all} rows are right.`);
process.exitCode = failed ? 1 : 0;
