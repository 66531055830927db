/**
 * Two kernels as one, whose groups take turns: the second one works on what the first one left in a cache a little
 * earlier, instead of fetching it from memory (VkFFT guide 2.5.2 counts such trips to memory).
 */
import type { Kernel } from '../../ir/index.ts';
import { framed, type WrittenKernel, writeC } from '../spmd/c.ts';
import type { SpmdProgram } from '../spmd/program.ts';
import { family } from './index.ts';

/** In which order the groups of two kernels run. */
export interface PipelineSchedule {
  /** Into how many the groups of either kernel are divided: a chunk of the second needs that chunk of the first, whole. */
  readonly chunks: number;
  /** By how many chunks the first kernel is ahead. */
  readonly ahead: number;
  /** Blocks that are to run side by side on a multiprocessor. */
  readonly beside: number;
}

/** The program's last parameter is an array of so many counters, which are zero before each launch and after it. */
export interface PipelinedProgram extends SpmdProgram {
  readonly counters: number;
}

/** What a part of the kernel has to know of one of the two. */
interface Part {
  readonly written: WrittenKernel;
  readonly name: string;
  /** Groups of it that a block of threads holds side by side. */
  readonly beside: number;
  /** Blocks for each chunk. */
  readonly blocks: number;
}

/** Turns of waiting before a launch ends with an error, which is what a block that never comes leads to: some seconds. */
const PATIENCE = 2 ** 24;

/**
 * Its parameters are those of both kernels, in order, and the counters. Blocks wait for others with lower numbers only, and
 * rely on those having begun: NVIDIA's GPUs begin the blocks of a row in order.
 * @returns undefined where the groups of the two do not fit together.
 * @throws RangeError where a kernel cannot be said.
 */
export function emitPipelined(
  first: Kernel,
  second: Kernel,
  { chunks, ahead, beside }: PipelineSchedule,
): PipelinedProgram | undefined {
  const words = family('cuda');
  const kernels = [first, second];
  const written = [writeC(first, { streamed: 'loads' }, words), writeC(second, { streamed: 'stores' }, words)];
  const threads = Math.max(...kernels.map((kernel) => kernel.threads));
  const parts = kernels.map(
    (kernel, n): Part => ({
      written: written[n]!,
      name: `${n === 0 ? 'first' : 'second'}_${written[n]!.lowered.entry}`,
      beside: threads / kernel.threads,
      blocks: kernel.group.count / chunks / (threads / kernel.threads),
    }),
  );
  if (kernels.some(({ cluster }) => cluster)) return undefined;
  if (parts.some(({ beside, blocks }) => !Number.isInteger(beside) || !Number.isInteger(blocks))) return undefined;
  if (written.some(({ lowered }) => lowered.grid.launches > 1)) return undefined;
  const turn = parts[0]!.blocks + parts[1]!.blocks;
  const total = (chunks + ahead) * turn;
  if (total >= 2 ** 31) return undefined;
  const shared = parts.map(({ written: { lowered }, beside }) => beside * lowered.memory.sharedBytes);
  const entry = `pipelined_${written.map(({ lowered }) => lowered.entry).join('_')}`;
  const parameters = parts.map(({ written: { parameters } }, n) => parameters.map((text) => `${text}_${n + 1}`));
  const source = [
    ...new Set(parts.flatMap(({ written }) => written.helpers)),
    ...parts.flatMap((part) => functionOf(part)),
    ...framed(
      `${words.head(threads, 1, beside)} ${entry}`,
      [...parameters.flat().map((text) => text.replace('*__restrict__ ', '*')), 'unsigned int *counters'],
      entryBody(parts as [Part, Part], { chunks, ahead }),
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

/** One of the kernels as a function of its group, its thread and where its shared memory begins. */
function functionOf({ written, name }: Part): string[] {
  const { parameters, body, shared } = written;
  return framed(
    `static __device__ __forceinline__ void ${name}`,
    ['const int group', 'const int t', 'unsigned char *const shared_bytes', ...parameters],
    [...shared.filter((line) => !line.startsWith('extern')), ...body],
  );
}

/** A block draws its part from its number: groups of both kernels in turns, evenly mixed. */
function entryBody(
  [first, second]: readonly [Part, Part],
  { chunks, ahead }: Pick<PipelineSchedule, 'chunks' | 'ahead'>,
): string[] {
  const turn = first.blocks + second.blocks;
  const call = (part: Part, number: 1 | 2, block: string) => {
    const own = part.written.lowered.threads;
    const inside = part.beside > 1;
    const group = inside ? `(${block}) * ${part.beside} + t / ${own}` : block;
    const start = inside ? `shared_bytes + t / ${own} * ${part.written.lowered.memory.sharedBytes}` : 'shared_bytes';
    const names = part.written.parameters.map((parameter) => `${/\w+$/.exec(parameter)![0]}_${number}`);
    return `${part.name}(${[group, inside ? `t % ${own}` : 't', start, ...names].join(', ')});`;
  };
  return [
    'extern __shared__ __align__(16) unsigned char shared_bytes[];',
    'const int t = (int)threadIdx.x;',
    `const int round = (int)blockIdx.x / ${turn};`,
    `const int turn = (int)blockIdx.x % ${turn};`,
    `const int before = (int)((long long)turn * ${first.blocks} / ${turn});`,
    `if ((int)((long long)(turn + 1) * ${first.blocks} / ${turn}) > before) {`,
    `  if (round >= ${chunks}) return;`,
    `  ${call(first, 1, `round * ${first.blocks} + before`)}`,
    '  // The chunk has one more part.',
    '  __syncthreads();',
    '  if (t == 0) {',
    '    __threadfence();',
    '    atomicAdd(&counters[round], 1u);',
    '  }',
    '} else {',
    `  const int chunk = round - ${ahead};`,
    '  if (chunk < 0) return;',
    '  if (t == 0) {',
    '    volatile unsigned int *const counter = &counters[chunk];',
    `    for (unsigned int turns = 0; *counter < ${first.blocks}u; turns++)`,
    `      if (turns == ${PATIENCE}u) __trap();`,
    '    // Whoever comes last leaves it as it was.',
    `    if (atomicAdd(&counters[chunk], 1u) == ${turn - 1}u) counters[chunk] = 0;`,
    '    __threadfence();',
    '  }',
    '  __syncthreads();',
    `  ${call(second, 2, `chunk * ${second.blocks} + turn - before`)}`,
    '}',
  ];
}
