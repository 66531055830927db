/** A container of plain data and stretches of bytes in one array of bytes. */

/** The alignment of stretches in bytes, which is enough for numbers of any type. */
const ALIGNMENT = 8;

export interface Contents {
  readonly data: unknown;
  readonly stretches: readonly Uint8Array[];
}

/** Packs the lengths of the text and of all stretches, the text, then the stretches. Numbers are little-endian, as on all supported engines. */
export function packedContents({ data, stretches }: Contents): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(data));
  const lengths = Uint32Array.of(stretches.length, text.length, ...stretches.map(({ length }) => length));
  const parts = [new Uint8Array(lengths.buffer), text, ...stretches];
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + alignedLength(length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += alignedLength(part.length);
  }
  return bytes;
}

/** Unpacks a container. @throws RangeError, SyntaxError if the bytes are none */
export function unpacked(given: Uint8Array): Contents {
  // The argument may be a `Buffer` of Node, whose methods differ, and it may begin at an unaligned address.
  const bytes = given.byteOffset % ALIGNMENT === 0 ? entireBuffer(given) : new Uint8Array(given);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4));
  const count = words[0] ?? 0;
  let at = alignedLength(4 * (count + 2));
  if (at > bytes.length) throw new RangeError('the contents end early');
  const parts = [...words.subarray(1, count + 2)].map((length) => {
    const part = bytes.subarray(at, at + length);
    if (part.length !== length) throw new RangeError('the contents end early');
    at += alignedLength(length);
    return part;
  });
  return { data: JSON.parse(new TextDecoder().decode(parts[0])), stretches: parts.slice(1) };
}

function entireBuffer({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}

function alignedLength(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}
