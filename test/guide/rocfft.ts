/** The rows of the rocFFT document: how plans are structured and buffers assigned. */
import { openProfile, type ProblemInput } from '../../src/index.ts';
import { compareCriteria, decidingCriterion } from '../../src/plan/buffers/trace.ts';
import { complexProblem } from '../support/complex.ts';
import {
  all,
  type Check,
  cpu,
  explained,
  fails,
  insist,
  launchesOf,
  planned,
  random,
  right,
  rightOften,
  rowsOf,
} from './toolkit.ts';

const { rows, row, missing } = rowsOf('rocFFT');
export const rocFftRows = rows;

/** The document's example: rows of 4096 points, 262144 of them. */
const LARGE: ProblemInput = { size: [4096, 262144] };
const long: ProblemInput = { size: [2 ** 20] };
const several: readonly ProblemInput[] = [
  long,
  { size: [100003] },
  { size: [64, 512, 40] },
  { size: [2 ** 21], transform: 'r2c' },
  { size: [4096, 100], placement: 'in-place' },
  { size: [2 ** 16], transform: 'dct2' },
];

interface TreeNode {
  readonly length: readonly number[];
  readonly outputLength: readonly number[];
  readonly children: readonly TreeNode[];
}

function hasLengths({ length, outputLength, children }: TreeNode): boolean {
  return length.length > 0 && outputLength.length > 0 && children.every(hasLengths);
}

/** What of several plans for an H200 holds. */
function ofAll(holds: Parameters<typeof explained>[2]): Check {
  return all(...several.map((problem) => explained('h200', problem, holds)));
}

const strided = rightOften(20, (random) => complexProblem(random, 400, ['single', 'double']));

/** How assignments of random plans were decided. */
async function decisions(): Promise<Set<string>> {
  const found = new Set<string>();
  const device = await openProfile('h200');
  for (let n = 0; n < 60 && found.size < 4; n++) {
    const length = random.pick([4096, 2 ** 17, 2 ** 20, 10007, 100003]);
    const size = random.pick([[length], [length, 16], [64, length]]);
    const placement = random.pick(['in-place', 'out-of-place'] as const);
    const layout = placement === 'in-place' ? 'interleaved' : random.pick(['planar', 'interleaved'] as const);
    const plan = await device.plan({ size, placement, preserveInput: random.integer(0, 1) === 1, layout });
    for (const { assignment } of plan.toJSON().directions) found.add(String(assignment.decidedBy));
  }
  device.close();
  return found;
}

const decided = (by: string) => async () => {
  const found = await decisions();
  insist(found.has(by), `assignments were decided by ${[...found].join(', ')} only`);
};

row(
  'obs. 1',
  'tree first, then buffers; each node has length and outputLength',
  ofAll((_, { directions }) =>
    directions.every(({ tree, assignment }) => hasLengths(tree as TreeNode) && assignment.buffers.length > 0),
  ),
);
row(
  'obs. 2-5',
  'the first launch reads the input, the last writes the output, those between are chained',
  ofAll((_, { directions }) =>
    directions.every(
      ({ launches }) =>
        launches.every(({ from }, n) => n === 0 || from === launches[n - 1]!.to) &&
        ['input', 'output'].includes(launches[0]!.from) &&
        launches.at(-1)!.to === 'output',
    ),
  ),
);
row('obs. 3', 'CHIRP node', 'does not apply: chirps are tables of plan time, no kernel');
row('obs. 4', '20 random strided problems, in place and not, against the reference', strided);
row(
  'obs. 6',
  'temps as many as needed, as large as the data',
  all(
    explained('h200', { size: [1024] }, ({ bytes }) => bytes.temp === 0),
    explained('h200', long, ({ bytes }) => bytes.temp === 8 * 2 ** 20),
  ),
);
row(
  'obs. 7a',
  'launches that reorder do not write what they read',
  all(
    ...several.map((problem) =>
      explained('h200', { ...problem, placement: 'in-place' }, (_, { directions }) =>
        directions.every(({ launches }) =>
          launches.every(
            ({ fused, from, to }) => !fused.includes('reordering') || from !== to || launches.length === 1,
          ),
        ),
      ),
    ),
  ),
);
row('obs. 7b', 'copies that are interleaved only', 'does not apply: there are no copy kernels');
row(
  'obs. 7c',
  'temps planar and interleaved, sides of both kinds',
  right(
    ...(['planar', 'interleaved'] as const).flatMap((input) =>
      (['planar', 'interleaved'] as const).map(
        (output): ProblemInput => ({
          size: [2 ** 14],
          layout: { input, output },
          tuning: { uploadSwitch: { two: 64, three: 2 ** 13 } },
        }),
      ),
    ),
  ),
);
row(
  'obs. 7d',
  'nothing is written into buffers that are too small',
  all(
    ...([{ size: [1000] }, { size: [1000], transform: 'r2c' }, { size: [1009] }] as ProblemInput[]).map((problem) =>
      fails('buffer-too-small', async () => {
        const device = await cpu();
        const plan = await device.plan(problem);
        const memory = device.alloc(plan.output.bytes - 128);
        (memory.array as Float32Array).fill(Number.NaN);
        try {
          await plan.enqueue('forward', { input: device.alloc(plan.input.bytes), output: memory } as never);
        } finally {
          insist((memory.array as Float32Array).every(Number.isNaN), 'the buffer was written');
          memory.free();
        }
      }),
    ),
  ),
);
row(
  'search',
  'valid assignments are listed',
  ofAll((_, { directions }) => directions.every(({ assignment }) => assignment.candidates >= 1)),
);
row(
  'search',
  'no temp first, then one, then two',
  all(
    explained(
      'h200',
      { ...long, preserveInput: false },
      ({ bytes }, { directions }) => bytes.temp === 0 || directions[0]!.assignment.buffers.length > 2,
    ),
    explained('h200', { size: [4096], placement: 'in-place' }, ({ bytes }) => bytes.temp === 0),
    async () => {
      const temp = (problem: ProblemInput) => planned('h200', problem, ({ bytes }) => bytes.temp);
      insist((await temp({ ...long, strategy: 'least-memory' })) < (await temp(long)), 'no plan with fewer temps');
    },
  ),
);
row('trace', 'PlacementTrace', 'does not apply: a structure of the planner, not shown');
row(
  'decision fn',
  'output lengths are stored and shown',
  ofAll(
    (plan, { directions }) =>
      plan.explain().includes(' → ') && directions.every(({ tree }) => hasLengths(tree as TreeNode)),
  ),
);
row('fusion', 'twiddles, reordering and axes are fused into launches', async () => {
  const words = new Set<string>();
  for (const problem of [...several, { size: [64, 64] }, { size: [1024, 16], transform: 'r2c' as const }]) {
    await planned('h200', problem, (_, { directions }) => {
      for (const { launches } of directions)
        for (const { fused } of launches) for (const word of fused) words.add(word);
    });
  }
  for (const word of ['twiddles', 'reordering', 'axes']) insist(words.has(word), `${word} is not among ${[...words]}`);
});
missing('fusion', 'the fused count decides among assignments', decided('fused'));
const padded = { name: 'padded', padding: { multiple: 4096, count: 16, by: 512 } };
const withPadding = async (): Promise<NonNullable<Parameters<typeof openProfile>[0]>> => {
  const device = await openProfile('h200');
  const profile = { ...device.profile, ...padded };
  device.close();
  return profile as never;
};
row('padding', 'a temp with bad strides is padded', async () => {
  await planned(await withPadding(), LARGE, (plan, { directions }) =>
    insist(
      directions.some(({ assignment }) => assignment.padding > 0) || plan.explain().includes('padded'),
      plan.explain(),
    ),
  );
});
row(
  'padding example',
  '4096 × 262144: longer strides through the temp, the strides of the user at the end',
  async () => {
    await planned(await withPadding(), LARGE, (plan, { directions }) => {
      const memory = directions[0]!.launches.map((launch) => launch.memory as { input: string; output: string });
      // 4096 complex numbers, and 512 bytes more.
      const isPadded = (text: string) => /\b8320\b/.test(text);
      insist(memory.length === 3, plan.explain());
      insist(!isPadded(memory[0]!.input) && isPadded(memory[0]!.output), plan.explain());
      insist(isPadded(memory[1]!.input) && isPadded(memory[1]!.output), plan.explain());
      insist(isPadded(memory[2]!.input) && !isPadded(memory[2]!.output), plan.explain());
    });
  },
);
row('when to pad', 'padding is a number of the profile: without it nothing is padded', async () => {
  const problem = LARGE;
  const padding = async (profile: Parameters<typeof planned>[0]) =>
    planned(profile, problem, (_, { directions }) => directions[0]!.assignment.padding);
  insist((await padding('h200')) === 0, 'padded without being told');
  insist((await padding(await withPadding())) > 0, 'not padded');
});

const none = { bufferCount: 2, padded: 0, inPlace: 0, typeChanges: 0 };
/** One assignment is better than another, and the criterion is the reason. */
const wins = (better: typeof none, worse: typeof none, by: keyof typeof none) => async () => {
  insist(compareCriteria(better, worse) < 0, `${JSON.stringify(better)} does not win`);
  insist(decidingCriterion(better, worse) === by, `not by ${by}`);
};
row(
  'winner 2',
  'fewest buffers, before all others',
  wins(none, { bufferCount: 3, padded: 9, inPlace: 9, typeChanges: 0 }, 'bufferCount'),
);
row(
  'winner 3',
  'padded reads and writes come next, and are counted',
  all(wins({ ...none, padded: 1, typeChanges: 9 }, { ...none, inPlace: 9 }, 'padded'), async () => {
    await planned(await withPadding(), LARGE, (plan, { directions }) =>
      insist(directions[0]!.assignment.criteria.padded > 0, plan.explain()),
    );
  }),
);
row(
  'winner 4',
  'operations in place come before type changes',
  wins({ ...none, inPlace: 1, typeChanges: 9 }, none, 'inPlace'),
);
row(
  'winner 5',
  'type changes decide at last, also in plans',
  all(wins(none, { ...none, typeChanges: 1 }, 'typeChanges'), decided('typeChanges')),
);
row('future', 'gaps between strided elements are not written', strided);
row(
  'future',
  'the input stays as it was',
  right(
    { size: [100] },
    { size: [1009] },
    { size: [12, 10], transform: 'r2c' },
    { size: [32, 32, 4], transform: 'r2c', batches: 2 },
  ),
);
row(
  'future',
  'least memory against fusion',
  explained(
    'h200',
    { ...long, strategy: 'least-memory' },
    ({ bytes }, facts) => bytes.temp === 0 && launchesOf(facts).length === 2,
  ),
);
row(
  'future',
  'temps hold reals, too',
  explained('h200', { size: [2 ** 21], transform: 'r2c', placement: 'in-place' }, ({ bytes }) => bytes.temp > 0),
);
