/** Plain data with stretches of bytes, as one array of bytes. */

/** The alignment of stretches in bytes, which is enough for numbers of any type. */
const ALIGNMENT = 8;

export interface Contents {
  readonly data: unknown;
  readonly stretches: readonly Uint8Array[];
}

/** The lengths of the text and of all stretches, the text, then the stretches. Little-endian, as every engine is that runs this. */
export function packed({ data, stretches }: Contents): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(data));
  const lengths = Uint32Array.of(stretches.length, text.length, ...stretches.map(({ length }) => length));
  const parts = [new Uint8Array(lengths.buffer), text, ...stretches];
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + aligned(length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += aligned(part.length);
  }
  return bytes;
}

/** @throws RangeError, SyntaxError where the bytes are no such thing */
export function unpacked(given: Uint8Array): Contents {
  // What is given may be a Buffer of Node, whose methods do other things, or begin anywhere.
  const bytes = given.byteOffset % ALIGNMENT === 0 ? whole(given) : new Uint8Array(given);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4));
  const count = words[0] ?? 0;
  let at = aligned(4 * (count + 2));
  if (at > bytes.length) throw new RangeError('the contents end early');
  const parts = [...words.subarray(1, count + 2)].map((length) => {
    const part = bytes.subarray(at, at + length);
    if (part.length !== length) throw new RangeError('the contents end early');
    at += aligned(length);
    return part;
  });
  return { data: JSON.parse(new TextDecoder().decode(parts[0])), stretches: parts.slice(1) };
}

function whole({ buffer, byteOffset, length }: Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}

function aligned(length: number): number {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}
