/** The rows that `npm run guide-rows` runs: a sample of them holds at every run, all of them in the exhaustive one. */
import { afterAll, expect, it } from 'vitest';
import { exhaustive } from '../support/transforms.ts';
import { rows } from './rows.ts';
import { closeAll, outcomeOf, type Row, random } from './toolkit.ts';

/** What starts programs of others, or times: no matter of a short test. */
const isLong = ({ section, document }: Row) => section === '5' || (document === 'rocFFT' && section === 'fusion');

function sample(): readonly Row[] {
  const known = rows.filter(({ check, missing }) => typeof check !== 'string' && !missing);
  if (exhaustive) return known;
  const short = known.filter((row) => !isLong(row) && !/OpenCL|useLUT -1|LUT/.test(row.what));
  return Array.from({ length: 12 }, () => random.pick(short));
}

afterAll(closeAll);

it('there is a row for each of the 250 of the four documents', () => {
  expect(rows).toHaveLength(250);
});

it('rows that are not known to be missing hold, or say what is not here', async () => {
  for (const row of sample()) {
    const outcome = await outcomeOf(row);
    expect(outcome, `${row.document}, ${row.section}: ${row.what}`).toMatch(/^(right|not here)/);
  }
});
