/** WAV files put together chunk by chunk, right or wrong. */

export interface Layout {
  tag: number;
  bits: number;
  channels: number;
  rate?: number;
  block?: number;
  extensible?: boolean;
  announce?: number;
}

/** The contents of a `fmt ` chunk. */
export function fmt(layout: Layout): Uint8Array {
  const { tag, bits, channels, rate = 8000, block = channels * Math.ceil(bits / 8), extensible = false } = layout;
  const bytes = new Uint8Array(extensible ? 40 : 16);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, extensible ? 0xfffe : tag, true);
  view.setUint16(2, channels, true);
  view.setUint32(4, rate, true);
  view.setUint32(8, rate * block, true);
  view.setUint16(12, block, true);
  view.setUint16(14, bits, true);
  if (extensible) {
    view.setUint16(16, 22, true);
    view.setUint16(18, bits, true);
    bytes.set([tag, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71], 24);
  }
  return bytes;
}

/** A chunk with its byte of padding; `announce` where it lies about its size. */
export function chunk(id: string, body: Uint8Array, announce = body.length): Uint8Array {
  const bytes = new Uint8Array(8 + body.length + (body.length % 2));
  bytes.set(new TextEncoder().encode(id));
  new DataView(bytes.buffer).setUint32(4, announce, true);
  bytes.set(body, 8);
  return bytes;
}

export function riff(container: string, ...chunks: Uint8Array[]): Uint8Array {
  const body = Buffer.concat([new TextEncoder().encode('WAVE'), ...chunks]);
  return Uint8Array.from(chunk(container, body, container === 'RIFF' ? body.length : 0xffffffff));
}

/** The same chunk with a big-endian size. */
export function bigSized(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy.subarray(4, 8).reverse();
  return copy;
}

const hex = (digits: string) => Buffer.from(digits.replaceAll(/[ -]/g, ''), 'hex');

/** A chunk of a Wave64 file, whose size counts its header. */
export function chunk64(id: string, body: Uint8Array, announce = body.length): Uint8Array {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(24 + announce));
  const tail = hex('f3acd311 8cd1 00c04f8edb8a');
  return Buffer.concat([Buffer.from(id), tail, size, body, new Uint8Array((8 - (body.length % 8)) % 8)]);
}

/** A Wave64 file. */
export function wave64(chunks: readonly Uint8Array[]): Uint8Array {
  const ids = [hex('72696666-2e91-cf11-a5d6-28db04c10000'), hex('77617665-f3ac-d311-8cd1-00c04f8edb8a')] as const;
  return Uint8Array.from(Buffer.concat([ids[0], new Uint8Array(8), ids[1], ...chunks]));
}

/** A WAV file put together by hand. */
export function file(layout: Layout, data: Uint8Array): Uint8Array {
  return riff('RIFF', chunk('fmt ', fmt(layout)), chunk('data', data, layout.announce));
}

export const bytesOf = (view: ArrayBufferView) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** Packs integers little-endian into `size` bytes each. */
export function packed(values: readonly number[], size: number): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => Array.from({ length: size }, (_, i) => (value >> (8 * i)) & 0xff)));
}
