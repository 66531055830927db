/**
 * Reads the short FFT descriptors of bbfft's generator tools, after its document "Descriptor format":
 *
 *     fft_descriptor = precision domain direction placement shape [istride] [ostride]
 *     shape          = [number "."] number *2("x" number) ["*" number]
 *     istride        = "i" stride        ostride = "o" stride
 *
 * A stride list has D + 2 numbers [left, axis 0, …, axis D−1, batch]. As everywhere in ABNF (RFC 5234, section 2.3),
 * letters may be written in either case. `i` is what the described transform reads: for direction `b` that is the side
 * which a problem calls its output.
 */

import type { ParsedDescriptor } from '../arrays.ts';
import { FftError, show } from '../errors.ts';
import type { AnyProblemInput, Side } from '../problem.ts';

/** The grammar's limit on transformed axes. */
export const maximumAxes = 3;

/** The most characters of a descriptor: several times enough for the longest sizes and strides. */
const MOST_CHARACTERS = 1000;

/** The fields of a problem that a descriptor sets. */
type DescriptorFields = Required<
  Pick<AnyProblemInput, 'size' | 'transform' | 'precision' | 'directions' | 'placement' | 'leftBatches' | 'batches'>
> &
  Pick<AnyProblemInput, 'strides'>;

/**
 * Reads a descriptor.
 * @param text for example `scfo16*32i1,1,20`
 * @returns the problem it describes, for one direction; sizes are not judged here (`normalizeProblem` does)
 * @throws FftError `invalid-descriptor`, saying at which position (counted from 0) what was expected
 */
export function parseDescriptor<S extends string>(text: S): ParsedDescriptor<S> {
  if (typeof text !== 'string') {
    throw new FftError('invalid-descriptor', `The descriptor is ${show(text)}, but must be text such as 'scfo1024'.`);
  }
  if (text.length > MOST_CHARACTERS) {
    const message = `The descriptor ${show(text)} has ${text.length} characters; ${MOST_CHARACTERS} are the most.`;
    throw new FftError('invalid-descriptor', message);
  }
  return new Parser(text).descriptor() as DescriptorFields & ParsedDescriptor<S>;
}

class Parser {
  private position = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  descriptor(): DescriptorFields {
    const precision = this.letter({ s: 'single', d: 'double' }, "'s' (single) or 'd' (double)");
    const transform = this.letter({ c: 'c2c', r: 'r2c' }, "'c' (complex) or 'r' (real)");
    const directions = this.letter({ f: 'forward', b: 'inverse' }, "'f' (forward) or 'b' (backward)");
    const placement = this.letter({ i: 'in-place', o: 'out-of-place' }, "'i' (in place) or 'o' (out of place)");
    const shape = this.shape();
    const axes = shape.size.length;
    const read = this.accept('i') ? this.strides(axes) : undefined;
    if (read === undefined && placement === 'in-place' && this.peek() === 'o') {
      this.fail("'i' strides before the 'o' strides: in place both are needed");
    }
    const written = this.accept('o') ? this.strides(axes) : undefined;
    if (this.position < this.text.length) this.fail(this.ending(shape, read, written));
    if (placement === 'in-place' && read !== undefined && written === undefined) {
      this.fail("'o' strides after the 'i' strides: in place both are needed");
    }
    const described: DescriptorFields = { precision, transform, directions, placement, ...shape };
    if (read === undefined && written === undefined) return described;
    const { reading, writing } = sidesOfDirections(directions);
    const strides: { -readonly [S in Side]?: readonly number[] } = {};
    if (read !== undefined) strides[reading] = read;
    if (written !== undefined) strides[writing] = written;
    return { ...described, strides };
  }

  private shape(): Pick<DescriptorFields, 'size' | 'leftBatches' | 'batches'> {
    const first = this.number('the length of the first axis');
    const hasLeftBatch = this.accept('.');
    const size = [hasLeftBatch ? this.number('the length of the first axis') : first];
    while (size.length < maximumAxes && this.accept('x'))
      size.push(this.number(`the length of axis ${size.length + 1}`));
    const batches = this.accept('*') ? this.number('the number of batches') : 1;
    return { size, leftBatches: hasLeftBatch ? first : 1, batches };
  }

  private strides(axes: number): number[] {
    const total = axes + 2;
    const order = `[left, ${axes === 1 ? 'axis' : `${axes} axes`}, batch]`;
    const list = [this.number(`the first of ${total} strides ${order}`)];
    while (list.length < total) {
      if (!this.accept(',')) this.fail(`',' and stride ${list.length + 1} of ${total} ${order}`);
      list.push(this.number(`stride ${list.length + 1} of ${total} ${order}`));
    }
    return list;
  }

  /** The tokens that would have been accepted at the position of an error. */
  private ending(shape: { size: readonly number[] }, read: unknown, written: unknown): string {
    const before = this.text.slice(0, this.position);
    if (written !== undefined) return 'another digit or the end';
    if (read !== undefined) return "another digit, 'o' or the end";
    if (before.includes('*')) return "another digit, 'i', 'o' or the end";
    const dot = shape.size.length === 1 && !before.includes('.') ? "'.', " : '';
    const cross = shape.size.length < maximumAxes ? "'x', " : '';
    const limit = cross === '' ? ` (a descriptor has at most ${maximumAxes} axes)` : '';
    return `another digit, ${dot}${cross}'*', 'i', 'o' or the end${limit}`;
  }

  private peek(): string | undefined {
    return this.text[this.position]?.toLowerCase();
  }

  private accept(character: string): boolean {
    if (this.peek() !== character) return false;
    this.position++;
    return true;
  }

  private letter<T extends string>(meanings: Readonly<Record<string, T>>, expected: string): T {
    const letter = this.peek();
    if (letter === undefined || !Object.hasOwn(meanings, letter)) this.fail(expected);
    this.position++;
    return meanings[letter]!;
  }

  private number(what: string): number {
    const digits = /^[0-9]+/.exec(this.text.slice(this.position))?.[0];
    if (digits === undefined) this.fail(`a digit (${what})`);
    this.position += digits.length;
    return Number(digits);
  }

  private fail(expected: string): never {
    const rest = this.text.slice(this.position, this.position + 1);
    const given = rest === '' ? 'the descriptor ends there' : `there is ${show(rest)}`;
    const message = `The descriptor ${show(this.text)} is wrong at position ${this.position}: expected ${expected}, but ${given}.`;
    const lengths = this.position === 0 ? lengthsAlone(this.text) : undefined;
    const instead = lengths && ` Lengths alone are a problem such as { size: [${lengths.size.join(', ')}] }.`;
    throw new FftError('invalid-descriptor', message + (instead ?? ''));
  }
}

/** Which side of a problem a transform reads and which it writes. */
export function sidesOfDirections(directions: AnyProblemInput['directions']): { reading: Side; writing: Side } {
  return directions === 'inverse' ? { reading: 'output', writing: 'input' } : { reading: 'input', writing: 'output' };
}

const LENGTHS = /^(\d+(?:\s*[x×]\s*\d+)*)(?:\s*\*\s*(\d+))?$/;

/**
 * Reads `1024`, `256x256`, `64 x 64 * 10`: complex numbers in single precision.
 * @returns undefined for any other text; whether it is a good problem is not judged
 */
export function lengthsAlone(text: string): Pick<AnyProblemInput, 'size' | 'batches'> | undefined {
  const [, size, batches = '1'] = LENGTHS.exec(text.trim()) ?? [];
  return size === undefined ? undefined : { size: size.split(/[x×]/).map(Number), batches: Number(batches) };
}
