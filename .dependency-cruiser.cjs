/**
 * The import matrix of the house: a room may import itself and the rooms listed for it, nothing else.
 * docs/architecture.md explains the rooms. `npm run imports` (and `npm test`) fail on a violation.
 */
const MATRIX = {
  numeric: [],
  layout: ['numeric'],
  problem: ['layout', 'numeric'],
  ir: ['numeric'],
  plan: ['problem', 'layout', 'numeric'],
  patterns: ['problem', 'numeric'],
  kernels: ['plan', 'ir', 'layout', 'patterns', 'numeric'],
  emit: ['ir', 'numeric'],
  devices: ['emit', 'ir', 'plan', 'problem'],
  engine: ['numeric', 'layout', 'problem', 'ir', 'plan', 'patterns', 'kernels', 'emit', 'devices'],
};

/**
 * The floors of rooms that have folders inside, from the ground up. A floor is a folder, or several side by side, of which none sees another.
 * Each folder may import itself and the floors before its own. Names with an ending are files of the room itself on its lowest floor; its
 * other files stand on all of its floors: in plan/ they are the way from a problem to a plan, in engine/ what users hold, in signal/ entries of bundles.
 */
const FLOORS = {
  numeric: [
    ['exact.ts', 'primes.ts', 'decimal.ts', 'nearest-roots.ts', 'scale-factor.ts', 'fixed-transforms.ts'],
    'transforms',
    'double-double',
    ['large-primes', 'special-functions'],
  ],
  layout: ['layout.ts', 'normal-form', 'queries'],
  problem: [
    ['errors.ts', 'directions.ts', 'callbacks.ts', 'problem.ts', 'arrays.ts', 'convolution.ts'],
    'input',
    'layout',
    ['recording', 'tuning'],
    'normalize',
    ['world', 'adjoint'],
  ],
  patterns: ['language', ['interpreter', 'rewriting']],
  kernels: ['views', 'passes', ['vectors', 'threads'], ['programs', 'nonuniform']],
  'kernels/programs': ['expressions', 'loops', 'transforms'],
  'emit/spmd': ['tree', 'lowering'],
  numpy: ['arrays', ['files', 'calls']],
  world: ['ranks', 'pricing'],
  plan: ['device', 'tree', 'buffers', 'group', 'price', 'schemes', 'launch', 'world'],
  engine: [
    ['lazy', 'arguments'],
    'programs',
    ['calls', 'saved', 'ahead'],
    'measuring',
    ['kept', 'explaining'],
    ['compiling', 'plans'],
    'nonuniform',
  ],
  signal: [
    'arguments',
    ['calls', 'windows', 'files'],
    ['filter-design', 'chirp-z'],
    ['filters', 'convolution'],
    ['resampling', 'frames'],
    ['spectra', 'wavelets'],
    'short-time',
    'features',
  ],
};

/** The public faces sit side by side: they see the engine, the problem, patterns and exact numbers, and may build on one another. */
const FACES = [
  'index\\.ts$',
  'sync\\.ts$',
  'numeric\\.ts$',
  'version\\.ts$',
  'numpy/',
  'cli/',
  'signal/',
  'lift/',
  'nufft/',
  'world/',
];
const FACE_MAY_IMPORT = ['engine', 'problem', 'patterns', 'numeric'];

/** Many ranks: this face also plans what each of them does, and has them exchange what they hold. */
const WORLD_MAY_IMPORT = [...FACE_MAY_IMPORT, 'plan', 'devices/fabric'];

/** Tests stand beside their sources but may reach for any room, for instance to run a kernel they have built. */
const TESTS = '\\.test\\.ts$';

const roomRules = Object.entries(MATRIX).map(([room, allowed]) => ({
  name: `room-${room}`,
  comment: `src/${room}/ may import ${allowed.length ? allowed.join(', ') : 'nothing'} besides itself.`,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: TESTS },
  to: { path: '^(src|test|bench|examples|scripts)/', pathNot: `^src/(${[room, ...allowed].join('|')})/` },
}));

const floorRules = Object.entries(FLOORS).flatMap(([room, floors]) =>
  floors.flatMap((floor, n) => {
    const below = floors.slice(0, n).flat();
    const names = [floor].flat();
    const pattern = (name) => (name.includes('.') ? `${name.replace('.', '\\.')}$` : `${name}/`);
    /** Files of the room itself see one another, folders of one floor do not. */
    const parts = names.every((name) => name.includes('.')) ? [names] : names.map((name) => [name]);
    return parts.map((part) => ({
      name: `${room}-${part[0]}`,
      comment: `In src/${room}/, ${part.join(', ')} may import ${below.join(', ') || 'no other floor'} besides itself.`,
      severity: 'error',
      from: { path: `^src/${room}/(${part.map(pattern).join('|')})`, pathNot: TESTS },
      to: { path: `^src/${room}/`, pathNot: `^src/${room}/(${[...part, ...below].map(pattern).join('|')})` },
    }));
  }),
);

module.exports = {
  forbidden: [
    ...roomRules,
    ...floorRules,
    {
      name: 'faces',
      comment:
        'index.ts, sync.ts, numeric.ts, numpy/, cli/, signal/, lift/ and nufft/ may import engine, problem, patterns, numeric and one another.',
      severity: 'error',
      from: { path: `^src/(${FACES.join('|')})`, pathNot: `^src/world/|${TESTS}` },
      to: {
        path: '^(src|test|bench|examples|scripts)/',
        pathNot: `^src/(${[...FACE_MAY_IMPORT.map((room) => `${room}/`), ...FACES].join('|')})`,
      },
    },
    {
      name: 'world',
      comment: `world/ may import ${WORLD_MAY_IMPORT.join(', ')} and the other faces.`,
      severity: 'error',
      from: { path: '^src/world/', pathNot: TESTS },
      to: {
        path: '^(src|test|bench|examples|scripts)/',
        pathNot: `^src/(${[...WORLD_MAY_IMPORT.map((room) => `${room}/`), ...FACES].join('|')})`,
      },
    },
    {
      name: 'no-room-outside-the-matrix',
      comment: 'Every file under src/ stands in a room that the matrix names.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${Object.keys(MATRIX).join('/|')}/|${FACES.join('|')})` },
      to: {},
    },
    {
      name: 'kernels-see-plan-types-only',
      comment: 'A kernel is built from one plan leaf; it reads the leaf, it does not plan.',
      severity: 'error',
      from: { path: '^src/kernels/', pathNot: TESTS },
      to: { path: '^src/plan/', pathNot: '^src/plan/tree/leaf\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'devices-see-the-profile-type-only',
      comment: 'A device fills in a profile; it does not plan.',
      severity: 'error',
      from: { path: '^src/devices/', pathNot: TESTS },
      to: { path: '^src/plan/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'devices-see-errors-only',
      comment: 'From problem/ a device takes FftError by value; anything else as a type.',
      severity: 'error',
      from: { path: '^src/devices/', pathNot: TESTS },
      to: { path: '^src/problem/', pathNot: '^src/problem/errors\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-node-outside-cli-and-devices',
      comment: 'The library runs in browsers: Node modules belong in cli/, or loaded on first use in devices/.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(cli|devices)/|${TESTS}` },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-packages-in-the-core',
      comment: 'Only faces and devices use npm packages.',
      severity: 'error',
      from: {
        path: '^src/(numeric|layout|problem|ir|plan|patterns|kernels|emit|engine)/|^src/(index|sync|numeric|version)\\.ts$',
        pathNot: TESTS,
      },
      to: { path: 'node_modules' },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other, even for their types only, are one file, or three.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'default'] },
  },
};
