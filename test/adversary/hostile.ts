/**
 * Values that callers should not give: of the wrong type, without end, that change or throw while they are looked at.
 */
import { runInNewContext } from 'node:vm';
import type { Random } from '../support/random.ts';

type Maker = (random: Random) => unknown;

const numbers = [
  0,
  -0,
  -1,
  0.5,
  2,
  3,
  7,
  16,
  -5,
  1024,
  65536,
  2 ** 31,
  2 ** 32,
  2 ** 40,
  2 ** 53 - 1,
  2 ** 53,
  1e308,
  5e-324,
];
const oddNumbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const words = [
  '',
  'forward',
  'inverse',
  'both',
  'in-place',
  'planar',
  'double',
  'single',
  'half',
  'r2c',
  'constructor',
];
const names = ['size', 'length', 're', 'im', 'input', 'output', 'data', 'shape', 'threads', 'scale', '__proto__', '0'];

function boom(): never {
  throw new Error(`boom\n\x1b[31m${'!'.repeat(5000)}`);
}

const primitives: readonly Maker[] = [
  (random) => random.pick(numbers),
  (random) => random.pick(numbers),
  (random) => random.pick(oddNumbers),
  (random) => random.pick(words),
  () => 'x'.repeat(100_000),
  () => 'a\nb\u2028\x9b'.repeat(500),
  (random) => random.pick([0n, -1n, 1n, 2n ** 64n, 2n ** 20_000n]),
  (random) => random.pick([undefined, null, true, false]),
  () => Symbol('s'.repeat(3000)),
  (random) => random.pick([() => 1, class Thing {}, async () => 1, Math.max]),
];

function cyclicList(): unknown[] {
  const list: unknown[] = [1, 2];
  list.push(list, list, list);
  return list;
}

function deep(levels: number): unknown {
  let inner: unknown = 1;
  for (let n = 0; n < levels; n++) inner = n % 2 === 0 ? [inner] : { size: inner, re: inner };
  return inner;
}

function cyclicRecord(): object {
  const record: Record<string, unknown> = { size: [8] };
  record.tuning = record.strides = record.input = record;
  return record;
}

const containers: readonly Maker[] = [
  () => [],
  () => [8],
  () => [1, 2, 3, 4],
  () => new Array(2 ** 32 - 1),
  () => new Array(100_000).fill(1),
  cyclicList,
  () => deep(20_000),
  () => ({}),
  () => Object.create(null),
  cyclicRecord,
  () => Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`field${n}`, n])),
  () => ({ toString: boom, valueOf: boom, toJSON: boom, [Symbol.toPrimitive]: boom }),
  () => ({ constructor: { name: 'n'.repeat(9999) } }),
  () => Object.defineProperty({}, 'constructor', { get: boom }),
  (random) => Object.defineProperty({}, random.pick(names), { get: boom, enumerable: true }),
  (random) => Object.defineProperty([1, 2, 3], 1, { get: random.pick([boom, () => 7]), enumerable: true }),
  () => new Map([[1, 2]]),
  () => new Date(Number.NaN),
  () => Promise.resolve(1),
  () => new (class extends Array {})(),
  () =>
    new (class Size {
      size = [8];
      get batches() {
        return boom();
      }
    })(),
  () => runInNewContext('({ size: [8], re: new Float32Array(8), im: new Float32Array(8) })'),
  () => runInNewContext('[8]'),
];

function detached<T extends { readonly buffer: ArrayBufferLike }>(array: T): T {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
  return array;
}

/** An array that says something else of itself than is so. */
export function lying(random: Random, array: Float32Array | Float64Array | Uint8Array): unknown {
  const name = random.pick(['length', 'buffer', 'byteOffset', 'byteLength', 'constructor', 'set', 'subarray', 'slice']);
  const lies = [1e9, -1, Number.NaN, 2n, null, undefined, new ArrayBuffer(8), boom, { length: 3 }];
  if (random.unit() < 0.3) return Object.defineProperty(array, name, { get: boom });
  if (random.unit() < 0.3) {
    let reads = 0;
    const told = Reflect.get(array, name);
    return Object.defineProperty(array, name, { get: () => (reads++ < 2 ? told : random.pick(lies)) });
  }
  return Object.defineProperty(array, name, { value: random.pick(lies) });
}

const arrays: readonly Maker[] = [
  (random) => new Float32Array(random.pick([0, 1, 15, 16, 17, 96])),
  (random) => new Float64Array(random.pick([0, 16, 96])),
  () => new Uint8Array(64),
  () => new BigInt64Array(16),
  () => new DataView(new ArrayBuffer(128)),
  () => new ArrayBuffer(64),
  () => new SharedArrayBuffer(64),
  () => new Float32Array(new SharedArrayBuffer(64)),
  () => detached(new Float32Array(16)),
  () => detached(new Uint8Array(16)),
  (random) => lying(random, new Float32Array(16)),
  (random) => lying(random, new Float64Array(16)),
  () =>
    new (class extends Float32Array {
      static get [Symbol.species](): Float32ArrayConstructor {
        return boom();
      }
    })(16),
  () => Object.setPrototypeOf(new Float32Array(16), null),
  () => Object.create(Float32Array.prototype),
  () => runInNewContext('new Float32Array(16)'),
  () => runInNewContext('new Float64Array(16)'),
];

/** A proxy that answers everything with another one. */
function endless(): unknown {
  return new Proxy(() => {}, { get: (_, name) => (name === 'then' ? undefined : endless()), apply: () => endless() });
}

const throwingTraps = { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom, getOwnPropertyDescriptor: boom };

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const proxies: readonly Maker[] = [
  (random) => revoked(random.pick([{}, [], () => 1])),
  (random) => new Proxy(random.pick<object>([{}, [8], new Float32Array(16)]), {}),
  (random) => {
    const trap = random.pick(Object.keys(throwingTraps)) as keyof typeof throwingTraps;
    return new Proxy({ size: [8] }, { [trap]: throwingTraps[trap] });
  },
  (random) => {
    const length = random.pick<unknown>([2 ** 32 - 1, 2n, Number.NaN, -1, 1e300, 'x', {}, null]);
    return new Proxy([8], { get: (target, name) => (name === 'length' ? length : Reflect.get(target, name)) });
  },
  () => new Proxy({}, { get: () => 8, ownKeys: () => ['size', 'batches'] }),
  () => endless(),
  () =>
    new Proxy(
      {},
      {
        get: () => {
          throw revoked({});
        },
      },
    ),
  () =>
    new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw null;
        },
      },
    ),
];

const kinds = [primitives, primitives, containers, arrays, proxies];

/** Any bad value. */
export function hostile(random: Random): unknown {
  return random.pick(random.pick(kinds))(random);
}

/** What fields of a good value are made of, for a look at the second read. */
function changing(random: Random, record: Record<string, unknown>, name: string): void {
  const good = record[name];
  let reads = 0;
  const after = random.integer(0, 3);
  const bad = hostile(random);
  const get = () => {
    if (reads++ < after) return good;
    if (random.unit() < 0.2) boom();
    return bad;
  };
  Object.defineProperty(record, name, { get, enumerable: true, configurable: true });
}

/** A good value with something bad done to it, somewhere: shallow copies on the way, arrays and objects of classes as they are. */
export function spoiled(random: Random, good: unknown): unknown {
  if (random.unit() < 0.1) return hostile(random);
  const isList = Array.isArray(good);
  if (!isList && (typeof good !== 'object' || good === null || Object.getPrototypeOf(good) !== Object.prototype)) {
    return hostile(random);
  }
  const copy = (isList ? [...good] : { ...good }) as Record<string, unknown>;
  const fields = Object.keys(copy);
  if (fields.length > 0) {
    const name = random.pick(fields);
    if (random.unit() < 0.2) changing(random, copy, name);
    else copy[name] = random.unit() < 0.4 ? spoiled(random, copy[name]) : hostile(random);
  }
  if (!isList && random.unit() < 0.1) {
    const value = hostile(random);
    Object.defineProperty(copy, random.pick(names), { value, enumerable: true, configurable: true });
  }
  if (random.unit() < 0.1)
    return new Proxy(copy, random.unit() < 0.5 ? {} : { [random.pick(Object.keys(throwingTraps))]: boom });
  return copy;
}

/** Good text or bytes with something bad done to them. */
export function spoiledBytes(random: Random, good: Uint8Array): unknown {
  const bytes = good.slice(0, random.unit() < 0.3 ? random.integer(0, good.length) : good.length);
  for (let n = random.integer(0, 4); n > 0 && bytes.length > 0; n--) {
    bytes[random.integer(0, Math.min(bytes.length - 1, 160))] = random.pick([0, 255, 0x20, random.integer(0, 255)]);
  }
  return random.unit() < 0.15 ? lying(random, bytes) : random.unit() < 0.15 ? hostile(random) : bytes;
}

export function spoiledText(random: Random, good: string): unknown {
  const at = random.integer(0, good.length);
  const insert = random.pick(['', 'x', '*', 'i', '.', '0', '9'.repeat(400), '\n', '1x1x', ',']);
  return random.unit() < 0.15 ? hostile(random) : good.slice(0, at) + insert + good.slice(at + random.integer(0, 3));
}
