/** What a WebAssembly module holds, as text: its sections, the functions with their sizes, and its first bytes. */

const SECTIONS = [
  'custom',
  'type',
  'import',
  'function',
  'table',
  'memory',
  'global',
  'export',
  'start',
  'element',
  'code',
  'data',
];
const FIRST_BYTES = 512;

/** Reads the numbers and names of the binary format. */
class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** Unsigned LEB128. */
  number(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.bytes[this.at++] ?? 0;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  }

  name(): string {
    const length = this.number();
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, this.at + length));
    this.at += length;
    return text;
  }
}

export function wasmSummary(bytes: Uint8Array): string {
  const lines: string[] = [];
  const reader = new Reader(bytes, 8);
  while (reader.at < bytes.length) {
    const id = reader.number();
    const size = reader.number();
    const body = new Reader(bytes, reader.at);
    reader.at += size;
    const head = `  ${(SECTIONS[id] ?? `section ${id}`).padEnd(9)} ${String(size).padStart(7)} bytes`;
    lines.push([head, ...detailsOf(id, body)].join('\n             '));
  }
  const more = bytes.length > FIRST_BYTES ? `\n… ${bytes.length - FIRST_BYTES} bytes more` : '';
  return `WebAssembly module, ${bytes.length} bytes\n${lines.join('\n')}\n\n${hex(bytes.subarray(0, FIRST_BYTES))}${more}`;
}

function detailsOf(id: number, body: Reader): string[] {
  const count = body.number();
  switch (SECTIONS[id]) {
    case 'import':
      return count === 1 ? [`${body.name()}.${body.name()}`] : [`${count} imports`];
    case 'export':
      return count === 1 ? [`function '${body.name()}'`] : [`${count} exports`];
    case 'code':
      return Array.from({ length: count }, (_, n) => {
        const size = body.number();
        body.at += size;
        return `function ${n}: ${size} bytes`;
      });
    default:
      return [];
  }
}

function hex(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·')).join('');
    rows.push(`${at.toString(16).padStart(6, '0')}  ${digits.padEnd(47)}  ${text}`);
  }
  return rows.join('\n');
}
