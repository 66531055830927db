/**
 * What the buffer assignment may use: the buffers of the user, their array types, and the temp buffers.
 *
 * Source: rocFFT buffer assignment, observations 4, 6 and 7; VkFFT's input, output and main buffer.
 */
import type { SideFormat } from '../tree/leaf.ts';

/** `work` is VkFFT's main buffer. `temp` and `temp2` are contiguous and as large as they have to be. */
export const bufferNames = ['input', 'output', 'work', 'temp', 'temp2'] as const;
export type BufferName = (typeof bufferNames)[number];

/** rocFFT's array type: one array of pairs, two planes, or reals. */
export type ArrayType = SideFormat;

/** A buffer and how complex numbers lie in it. */
export interface TypedBuffer {
  readonly buffer: BufferName;
  readonly type: ArrayType;
}

/** A buffer of the user. */
export interface UserBuffer {
  readonly type: ArrayType;
  /** Elements of the tensor that it holds, all batches included, gaps between strided elements not. */
  readonly elements: number;
  /** Lengths of that tensor, where those of what lies between launches may be others. */
  readonly shape?: readonly number[];
}

/** What one direction of a plan runs on: `input` is what this direction reads. */
export interface AvailableBuffers {
  /** `writable`: intermediate results may overwrite the input (`preserveInput: false`). */
  readonly input: UserBuffer & { readonly writable: boolean };
  /** `spared`: elements that are not results are to stay as they are, so only the last leaf writes it. */
  readonly output: UserBuffer & { readonly spared?: boolean };
  /** In place: input and output are one memory. */
  readonly same: boolean;
  /** Input and output side have equal strides and offsets. */
  readonly sameLayout: boolean;
  /** In place, the reals of every line lie in the memory of its bins. */
  readonly sameRows?: boolean;
  /** What lies between axes is real, too. */
  readonly reals?: boolean;
  /** Temp buffers are padded where a step through them would be slow. */
  readonly padded?: boolean;
  /** When given, every intermediate result goes here or to a temp buffer. */
  readonly work?: UserBuffer | undefined;
}

/** Number of temp buffers on top of those of the user. */
export type TempCount = 0 | 1 | 2;

/** A buffer of our own. */
export function isTemp({ buffer }: Pick<TypedBuffer, 'buffer'>): boolean {
  return buffer === 'temp' || buffer === 'temp2';
}

/** One name for each memory: in place `input` and `output` are two names of the output. */
export function memoryOf(buffer: BufferName, offer: Pick<AvailableBuffers, 'same'>): BufferName {
  return offer.same && buffer === 'input' ? 'output' : buffer;
}

/** True where an element lies at the same addresses seen through either operand. */
export function sameAddresses(a: TypedBuffer, b: TypedBuffer, offer: AvailableBuffers): boolean {
  if (a.type !== b.type || memoryOf(a.buffer, offer) !== memoryOf(b.buffer, offer)) return false;
  return a.buffer === b.buffer || offer.sameLayout;
}

/** True where a line of reals lies in the memory of its bins, one of them seen through either operand. */
export function sameRows(a: TypedBuffer, b: TypedBuffer, offer: AvailableBuffers): boolean {
  return offer.sameRows === true && (a.type === 'real') !== (b.type === 'real') && !isTemp(a) && !isTemp(b);
}

/**
 * Everything that a leaf could write to, in the order in which it is tried, which is also the order of preference
 * among assignments that the criteria cannot tell apart: the output first because it is written anyway, the input
 * after everything else the user gave because sparing it costs nothing, interleaved temps before planar ones because
 * they are one stream of memory instead of two.
 */
export function operandsOf(offer: AvailableBuffers, temps: TempCount): TypedBuffer[] {
  const input: TypedBuffer = { buffer: 'input', type: offer.input.type };
  const output: TypedBuffer = { buffer: 'output', type: offer.output.type };
  const operands = [output];
  if (offer.work) operands.push({ buffer: 'work', type: offer.work.type });
  // In place with one layout, the input is the output by another name: trying both would find everything twice.
  if (!sameAddresses(input, output, offer)) operands.push(input);
  for (const buffer of (['temp', 'temp2'] as const).slice(0, temps)) {
    operands.push({ buffer, type: 'interleaved' }, { buffer, type: 'planar' });
    if (offer.reals) operands.push({ buffer, type: 'real' });
  }
  return operands;
}
