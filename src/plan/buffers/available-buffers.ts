/**
 * The buffers that an assignment may use: the user's buffers with their array types, and temp buffers.
 *
 * Sources: rocFFT buffer assignment, observations 4, 6 and 7; VkFFT's input, output and main buffer.
 */
import type { SideFormat } from '../tree/leaf.ts';

/** The buffers. `work` is VkFFT's main buffer; `temp` and `temp2` are contiguous and as large as necessary. */
export const bufferNames = ['input', 'output', 'work', 'temp', 'temp2'] as const;
export type BufferName = (typeof bufferNames)[number];

/** rocFFT's array type: interleaved complex, planar complex, or real. */
export type ArrayType = SideFormat;

/** A buffer and its array type. */
export interface TypedBuffer {
  readonly buffer: BufferName;
  readonly type: ArrayType;
}

/** A buffer of the user. */
export interface UserBuffer {
  readonly type: ArrayType;
  /** The number of tensor elements that it holds: all batches, without gaps between strided elements. */
  readonly elements: number;
  /** The lengths of that tensor, if tensors between launches can have other lengths. */
  readonly shape?: readonly number[];
}

/** The buffers of one direction of a plan: `input` is the buffer that this direction reads. */
export interface AvailableBuffers {
  /** `writable`: intermediate results may overwrite the input (`preserveInput: false`). */
  readonly input: UserBuffer & { readonly writable: boolean };
  /** `spared`: elements that are not results keep their values, so only the last leaf writes this buffer. */
  readonly output: UserBuffer & { readonly spared?: boolean };
  /** The transform is in place: input and output are the same memory. */
  readonly same: boolean;
  /** The input and output sides have equal strides and offsets. */
  readonly sameLayout: boolean;
  /** In place, the reals of every line lie in the memory of the line's bins. */
  readonly sameRows?: boolean;
  /** Intermediate results can be real. */
  readonly reals?: boolean;
  /** Temp buffers are padded if long strides through them are slow. */
  readonly padded?: boolean;
  /** If given, every intermediate result goes to this buffer or to a temp buffer. */
  readonly work?: UserBuffer | undefined;
}

/** The number of temp buffers beside the user's buffers. */
export type TempCount = 0 | 1 | 2;

/** Whether a buffer is a temp buffer. */
export function isTemp({ buffer }: Pick<TypedBuffer, 'buffer'>): boolean {
  return buffer === 'temp' || buffer === 'temp2';
}

/** The memory of a buffer under a unique name: in place, `input` is another name of `output`. */
export function memoryOf(buffer: BufferName, available: Pick<AvailableBuffers, 'same'>): BufferName {
  return available.same && buffer === 'input' ? 'output' : buffer;
}

/** Whether an element has the same address in both operands. */
export function sameAddresses(a: TypedBuffer, b: TypedBuffer, available: AvailableBuffers): boolean {
  if (a.type !== b.type || memoryOf(a.buffer, available) !== memoryOf(b.buffer, available)) return false;
  return a.buffer === b.buffer || available.sameLayout;
}

/** Whether one operand is real, the other complex, and each line of reals lies in the memory of its bins. */
export function sameRows(a: TypedBuffer, b: TypedBuffer, available: AvailableBuffers): boolean {
  return available.sameRows === true && (a.type === 'real') !== (b.type === 'real') && !isTemp(a) && !isTemp(b);
}

/**
 * All operands that a leaf could write, in the order in which they are tried. Among assignments with equal criteria, earlier operands are
 * preferred: the output first, because it is written anyway; the input after the user's other buffers, because leaving it unchanged costs
 * nothing; interleaved temps before planar ones, because they are one memory stream instead of two.
 */
export function operandChoices(available: AvailableBuffers, temps: TempCount): TypedBuffer[] {
  const input: TypedBuffer = { buffer: 'input', type: available.input.type };
  const output: TypedBuffer = { buffer: 'output', type: available.output.type };
  const operands = [output];
  if (available.work) operands.push({ buffer: 'work', type: available.work.type });
  // In place with equal layouts, input and output are one operand: trying both would find every assignment twice.
  if (!sameAddresses(input, output, available)) operands.push(input);
  for (const buffer of (['temp', 'temp2'] as const).slice(0, temps)) {
    operands.push({ buffer, type: 'interleaved' }, { buffer, type: 'planar' });
    if (available.reals) operands.push({ buffer, type: 'real' });
  }
  return operands;
}
