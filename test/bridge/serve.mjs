/**
 * The Node side of the bridge: answers calls of the package's functions that come in frames on stdin with frames on stdout.
 * It imports the built package, as its users do.
 *
 * A frame is two numbers of 32 bits (little-endian), the lengths in bytes of a text and of the arrays' data, then these two.
 * The text is JSON: `{ face, name, given, arrays }` of a call, `{ result, arrays, warnings }` or `{ error }` of an answer. In it `{ $array: k }` is an
 * array (`{ $bare: … }` its data alone), of which `arrays[k]` says `{ dtype, shape, at, bytes }`, and `{ $number: 'NaN' }` a number that JSON does not have.
 */
import { readFileSync } from 'node:fs';
import { stdin, stdout } from 'node:process';

const ENTRIES = { float32: Float32Array, float64: Float64Array, complex64: Float32Array, complex128: Float64Array };

const root = new URL('../../', import.meta.url);
const { exports: entries } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const faces = new Map();

/** What the functions warn of on the console, which the answer brings to Python. */
const warnings = [];
console.warn = (message) => warnings.push(String(message));

/** The functions of a part of the package: `numpy/sync`, `signal` … (This folder belongs to a workspace, where its name is not known.) */
async function functionsOf(face) {
  if (!faces.has(face)) faces.set(face, await import(new URL(entries[`./${face}`].default, root).href));
  return faces.get(face);
}

/** A value of JSON as what it stands for. */
function decoded(value, arrays, data) {
  if (Array.isArray(value)) return value.map((entry) => decoded(entry, arrays, data));
  if (typeof value !== 'object' || value === null) return value;
  if ('$number' in value) return Number(value.$number);
  if ('$bare' in value) return decoded(value.$bare, arrays, data).data;
  if ('$array' in value) {
    const { dtype, shape, at, bytes } = arrays[value.$array];
    // A copy begins at a multiple of 8, as typed arrays have to.
    const own = data.buffer.slice(data.byteOffset + at, data.byteOffset + at + bytes);
    return { data: new ENTRIES[dtype](own), shape, dtype };
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decoded(part, arrays, data)]));
}

/** A value as JSON; the data of its arrays goes to `pieces`. */
function encoded(value, arrays, pieces) {
  if (typeof value === 'number') return Number.isFinite(value) ? value : { $number: String(value) };
  if (ArrayBuffer.isView(value)) {
    const dtype = value instanceof Float32Array ? 'float32' : 'float64';
    const data = value instanceof Float32Array ? value : Float64Array.from(value);
    return encoded({ data, shape: [data.length], dtype }, arrays, pieces);
  }
  if (Array.isArray(value)) return value.map((entry) => encoded(entry, arrays, pieces));
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value.data) && value.shape && value.dtype) {
    const { data, shape, dtype } = value;
    const at = pieces.reduce((total, piece) => total + piece.length, 0);
    pieces.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    arrays.push({ dtype, shape, at, bytes: data.byteLength });
    return { $array: arrays.length - 1 };
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, encoded(part, arrays, pieces)]));
}

async function answer(text, data) {
  const arrays = [];
  const pieces = [];
  let said;
  try {
    const { face, name, given, arrays: sent } = JSON.parse(text);
    const functions = await functionsOf(face);
    if (typeof functions[name] !== 'function') throw new TypeError(`omnifft/${face} has no function ${name}`);
    const result = await functions[name](...decoded(given, sent, data));
    said = { result: encoded(result, arrays, pieces), arrays, warnings: warnings.splice(0) };
  } catch (error) {
    const { name, message, code, problems } = error;
    said = { error: { name, message, code, path: problems?.[0]?.path } };
  }
  const body = Buffer.from(JSON.stringify(said));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(body.length, 0);
  head.writeUInt32LE(
    pieces.reduce((total, piece) => total + piece.length, 0),
    4,
  );
  stdout.write(Buffer.concat([head, body, ...pieces]));
}

let rest = Buffer.alloc(0);
for await (const chunk of stdin) {
  rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
  while (rest.length >= 8) {
    const text = 8 + rest.readUInt32LE(0);
    const end = text + rest.readUInt32LE(4);
    if (rest.length < end) break;
    await answer(rest.toString('utf8', 8, text), rest.subarray(text, end));
    rest = rest.subarray(end);
  }
}
