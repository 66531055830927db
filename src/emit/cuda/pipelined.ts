/**
 * Two kernels as one, with interleaved groups: the second kernel finds the output of the first one still in a cache, and does not fetch it
 * from memory (VkFFT guide 2.5.2 counts such memory passes).
 */
import type { Kernel } from '../../ir/index.ts';
import { cWords, framed, type WrittenKernel, writeC } from '../spmd/c.ts';
import { printedLines } from '../spmd/tree/print.ts';
import type { SpmdProgram } from '../spmd/tree/program.ts';
import {
  binary,
  call,
  cast,
  declareConstant,
  type Expression,
  element,
  integer,
  name,
  namesOf,
  type Parameter,
  type Pointer,
  type Statement,
  type Type,
  unary,
} from '../spmd/tree/tree.ts';
import { cFamilyOf } from './index.ts';

const CUDA = cFamilyOf('cuda');
const WORDS = cWords(CUDA);

/** The order in which the groups of two kernels run. */
export interface PipelineSchedule {
  /** Number of chunks that the groups of both kernels are divided into. A chunk of the second kernel needs the whole same chunk of the first. */
  readonly chunks: number;
  /** Number of chunks that the first kernel runs ahead. */
  readonly ahead: number;
  /** Blocks that should be resident on a multiprocessor. */
  readonly beside: number;
}

/** A program whose last parameter is an array of `counters` counters, which are zero before and after each launch. */
export interface PipelinedProgram extends SpmdProgram {
  readonly counters: number;
}

/** One of the two kernels as the combined kernel calls it. */
interface PipelinedPart {
  readonly written: WrittenKernel;
  readonly name: string;
  /** Groups of the kernel that a block of threads executes side by side. */
  readonly beside: number;
  /** Blocks for each chunk. */
  readonly blocks: number;
}

/** The number of polls of a counter, lasting a few seconds, after which a launch fails because a block never arrived. */
const MOST_LOOKS = 2 ** 24;

/**
 * The combined kernel. Its parameters are the parameters of both kernels, in order, and the counters. A block waits only for blocks with
 * lower numbers, and relies on their having started: NVIDIA GPUs start the blocks of a one-dimensional launch in order.
 * @returns undefined if the groups of the two kernels do not fit together.
 * @throws RangeError if the language cannot express a kernel.
 */
export function emitPipelined(
  first: Kernel,
  second: Kernel,
  { chunks, ahead, beside }: PipelineSchedule,
): PipelinedProgram | undefined {
  const kernels = [first, second];
  const written = [writeC(first, { streamed: 'loads' }, CUDA), writeC(second, { streamed: 'stores' }, CUDA)];
  const threads = Math.max(...kernels.map((kernel) => kernel.threads));
  const parts = kernels.map(
    (kernel, n): PipelinedPart => ({
      written: written[n]!,
      name: `${n === 0 ? 'first' : 'second'}_${written[n]!.lowered.entry}`,
      beside: threads / kernel.threads,
      blocks: kernel.group.count / chunks / (threads / kernel.threads),
    }),
  );
  if (kernels.some(({ cluster }) => cluster)) return undefined;
  if (parts.some(({ beside, blocks }) => !Number.isInteger(beside) || !Number.isInteger(blocks))) return undefined;
  if (written.some(({ lowered }) => lowered.grid.launches > 1)) return undefined;
  const round = parts[0]!.blocks + parts[1]!.blocks;
  const total = (chunks + ahead) * round;
  if (total >= 2 ** 31) return undefined;
  const shared = parts.map(({ written: { lowered }, beside }) => beside * lowered.memory.sharedBytes);
  const entry = `pipelined_${written.map(({ lowered }) => lowered.entry).join('_')}`;
  const parameters = parts.flatMap(({ written: { parameters } }, n) =>
    parameters.map((each) => renamedParameter(each, n)),
  );
  const body = printedLines(entryBody(parts as [PipelinedPart, PipelinedPart], { chunks, ahead }), WORDS);
  const source = [
    ...new Set(parts.flatMap(({ written }) => written.helpers)),
    ...parts.flatMap((part) => partFunction(part)),
    ...framed(
      `${CUDA.head(threads, 1, beside)} ${entry}`,
      [...parameters, { name: 'counters', type: COUNTERS }],
      [CUDA.sharedBytes!, ...body],
      CUDA,
    ),
  ].join('\n');
  return {
    language: 'cuda',
    source,
    entry,
    threads,
    groups: [total, 1, 1],
    launches: 1,
    launchSize: total,
    cluster: 1,
    sharedBytes: Math.max(...shared),
    bindings: written.flatMap(({ lowered }) => lowered.memory.bindings.map(({ written }) => ({ written }))),
    alignments: written.flatMap(({ lowered }) => lowered.memory.alignments),
    counters: chunks,
  };
}

const COUNTERS: Pointer = { to: 'unsigned', space: 'global', written: true };

/** A parameter of one kernel as a parameter of the combined kernel, in which other pointers may alias it. */
function renamedParameter({ name, type }: Parameter, n: number): Parameter {
  const shared: Type = typeof type === 'object' && 'to' in type ? { ...type, unique: false } : type;
  return { name: `${name}_${n + 1}`, type: shared };
}

/** One of the kernels as a function of its group, its thread and the beginning of its shared memory. */
function partFunction({ written, name }: PipelinedPart): string[] {
  const { parameters, body, shared } = written;
  const place: Parameter[] = [
    { name: 'group', type: 'int' },
    { name: 't', type: 'int' },
    { name: 'shared_bytes', type: { to: 'byte', space: 'shared', written: true } },
  ];
  const text = [...shared, ...printedLines(body, WORDS)];
  return framed(`${CUDA.inline} void ${name}`, [...place, ...parameters], text, CUDA);
}

/** A statement that executes one of the kernels for one of its blocks. */
function partCall({ written, name: called, beside }: PipelinedPart, n: number, block: Expression): Statement {
  const { threads, memory } = written.lowered;
  const [t, bytes] = namesOf('t', 'shared_bytes');
  const inside = binary('/', t, integer(threads));
  const passed = written.parameters.map((parameter) => name(renamedParameter(parameter, n).name));
  const where =
    beside > 1
      ? [
          binary('+', binary('*', block, integer(beside)), inside),
          binary('%', t, integer(threads)),
          binary('+', bytes, binary('*', inside, integer(memory.sharedBytes))),
        ]
      : [block, t, bytes];
  return { op: 'call', value: call(called, ...where, ...passed) };
}

const BARRIER: Statement = { op: 'barrier', barrier: { scope: 'group', globals: true } };
const FENCE: Statement = { op: 'call', value: call('__threadfence') };
const LEAVE: Statement = { op: 'return' };

const counterOf = (chunk: Expression) => unary('&', element(name('counters'), chunk, 'unsigned'));
const countArrival = (chunk: Expression) => call('atomicAdd', counterOf(chunk), integer(1, 'unsigned'));

/** The body of the entry point: from its number, a block finds the kernel and the group that it executes, evenly interleaved. */
function entryBody(
  [first, second]: readonly [PipelinedPart, PipelinedPart],
  { chunks, ahead }: Pick<PipelineSchedule, 'chunks' | 'ahead'>,
): Statement[] {
  const total = first.blocks + second.blocks;
  const [t, round, slot, before, chunk] = namesOf('t', 'round', 'slot', 'before', 'chunk');
  const block = cast('int', name('blockIdx.x'));
  const share = (of: Expression) =>
    cast('int', binary('/', binary('*', cast('long', of), integer(first.blocks)), integer(total)));
  const only = (...body: Statement[]): Statement => ({ op: 'if', condition: binary('==', t, integer(0)), body });
  const firstBlock = binary('+', binary('*', round, integer(first.blocks)), before);
  const secondBlock = binary('-', binary('+', binary('*', chunk, integer(second.blocks)), slot), before);
  return [
    declareConstant('t', 'int', cast('int', name('threadIdx.x'))),
    declareConstant('round', 'int', binary('/', block, integer(total))),
    declareConstant('slot', 'int', binary('%', block, integer(total))),
    declareConstant('before', 'int', share(slot)),
    {
      op: 'if',
      condition: binary('>', share(binary('+', slot, integer(1))), before),
      body: [
        { op: 'if', condition: binary('>=', round, integer(chunks)), body: [LEAVE] },
        partCall(first, 0, firstBlock),
        { op: 'comment', text: 'The chunk has one more part.' },
        BARRIER,
        only(FENCE, { op: 'call', value: countArrival(round) }),
      ],
      otherwise: [
        declareConstant('chunk', 'int', binary('-', round, integer(ahead))),
        { op: 'if', condition: binary('<', chunk, integer(0)), body: [LEAVE] },
        only(...waitForChunk(chunk, first.blocks, total), FENCE),
        BARRIER,
        partCall(second, 1, secondBlock),
      ],
    },
  ];
}

/** A loop that waits until all blocks of a chunk are done. */
function waitForChunk(chunk: Expression, parts: number, total: number): Statement[] {
  const looks = name('looks');
  const number = (value: number) => integer(value, 'unsigned');
  const last = binary('==', countArrival(chunk), number(total - 1));
  const trap: Statement = { op: 'call', value: call('__trap') };
  return [
    declareConstant('counter', { ...COUNTERS, volatile: true }, counterOf(chunk)),
    { op: 'declare', name: 'looks', type: 'unsigned', constant: false, value: number(0) },
    {
      op: 'while',
      condition: binary('<', unary('*', name('counter')), number(parts)),
      body: [
        { op: 'if', condition: binary('==', looks, number(MOST_LOOKS)), body: [trap] },
        { op: 'assign', to: looks, value: binary('+', looks, number(1)) },
      ],
    },
    { op: 'comment', text: 'Whoever comes last leaves it as it was.' },
    {
      op: 'if',
      condition: last,
      body: [{ op: 'assign', to: element(name('counters'), chunk, 'unsigned'), value: number(0) }],
    },
  ];
}
