/**
 * A WebAssembly assembler: writes a module with one main function and an imported memory. It knows nothing but the binary format
 * (WebAssembly core specification, section 5, and the proposals for fixed-width and relaxed SIMD).
 */

export type WasmType = 'i32' | 'f32' | 'f64' | 'v128';

const TYPE_CODE: Record<WasmType, number> = { i32: 0x7f, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/** Plain opcodes by their textual names. */
const PLAIN = {
  drop: 0x1a,
  'i32.eqz': 0x45,
  'i32.lt_s': 0x48,
  'i32.lt_u': 0x49,
  'i32.ge_s': 0x4e,
  'i32.ge_u': 0x4f,
  'i32.add': 0x6a,
  'i32.sub': 0x6b,
  'i32.mul': 0x6c,
  'i32.div_u': 0x6e,
  'i32.rem_u': 0x70,
  'i32.and': 0x71,
  'i32.shr_u': 0x76,
  'f32.eq': 0x5b,
  'f32.lt': 0x5d,
  'f32.le': 0x5f,
  'f64.eq': 0x61,
  'f64.lt': 0x63,
  'f64.le': 0x65,
  'f32.abs': 0x8b,
  'f32.neg': 0x8c,
  'f32.sqrt': 0x91,
  'f32.add': 0x92,
  'f32.sub': 0x93,
  'f32.mul': 0x94,
  'f32.div': 0x95,
  'f32.min': 0x96,
  'f32.max': 0x97,
  'f64.abs': 0x99,
  'f64.neg': 0x9a,
  'f64.sqrt': 0x9f,
  'f64.add': 0xa0,
  'f64.sub': 0xa1,
  'f64.mul': 0xa2,
  'f64.div': 0xa3,
  'f64.min': 0xa4,
  'f64.max': 0xa5,
  'f32.demote_f64': 0xb6,
  'f64.promote_f32': 0xbb,
  select: 0x1b,
} as const;

/** Opcodes behind the SIMD prefix 0xfd. */
const SIMD = {
  'f32x4.splat': 19,
  'f64x2.splat': 20,
  'f32x4.eq': 65,
  'f32x4.lt': 67,
  'f32x4.le': 69,
  'f64x2.eq': 71,
  'f64x2.lt': 73,
  'f64x2.le': 75,
  'i32x4.splat': 17,
  'i32x4.eq': 55,
  'i32x4.gt_s': 59,
  'i32x4.ge_s': 63,
  'v128.not': 77,
  'v128.and': 78,
  'v128.andnot': 79,
  'v128.or': 80,
  'v128.xor': 81,
  'v128.bitselect': 82,
  'i32x4.shl': 171,
  'i32x4.shr_u': 173,
  'i32x4.add': 174,
  'i32x4.sub': 177,
  'i64x2.shr_u': 205,
  'i64x2.sub': 209,
  'f32x4.abs': 224,
  'f32x4.sqrt': 227,
  'f32x4.add': 228,
  'f32x4.sub': 229,
  'f32x4.mul': 230,
  'f32x4.div': 231,
  'f32x4.min': 232,
  'f32x4.max': 233,
  'f64x2.abs': 236,
  'f64x2.sqrt': 239,
  'f64x2.add': 240,
  'f64x2.sub': 241,
  'f64x2.mul': 242,
  'f64x2.div': 243,
  'f64x2.min': 244,
  'f64x2.max': 245,
  'f32x4.demote_f64x2_zero': 94,
  'f64x2.promote_low_f32x4': 95,
  'f32x4.relaxed_madd': 0x105,
  'f32x4.relaxed_nmadd': 0x106,
  'f64x2.relaxed_madd': 0x107,
  'f64x2.relaxed_nmadd': 0x108,
} as const;

/** Opcodes behind the same prefix that name a lane. */
const LANES = {
  'i32x4.replace_lane': 28,
  'f32x4.extract_lane': 31,
  'f64x2.extract_lane': 33,
} as const;

/** Loads and stores: opcode, and whether it is behind the SIMD prefix. */
const MEMORY = {
  'i32.load': [0x28, false],
  'v128.load16_lane': [85, true],
  'v128.store16_lane': [89, true],
  'f32.load': [0x2a, false],
  'f64.load': [0x2b, false],
  'f32.store': [0x38, false],
  'f64.store': [0x39, false],
  'v128.load': [0, true],
  'v128.load32_splat': [9, true],
  'v128.load64_splat': [10, true],
  'v128.store': [11, true],
  'v128.load32_zero': [92, true],
  'v128.load64_zero': [93, true],
  'v128.load32_lane': [86, true],
  'v128.load64_lane': [87, true],
  'v128.store32_lane': [90, true],
  'v128.store64_lane': [91, true],
} as const;

export type PlainOp = keyof typeof PLAIN | keyof typeof SIMD;
export type MemoryOp = keyof typeof MEMORY;

/** A growing array of bytes with the format's number encodings. */
class Bytes {
  private data = new Uint8Array(1024);
  length = 0;

  byte(value: number): void {
    if (this.length === this.data.length) this.grow(this.length + 1);
    this.data[this.length++] = value;
  }

  bytes(values: ArrayLike<number>): void {
    if (this.length + values.length > this.data.length) this.grow(this.length + values.length);
    this.data.set(values, this.length);
    this.length += values.length;
  }

  private grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, 2 * this.data.length));
    grown.set(this.data.subarray(0, this.length));
    this.data = grown;
  }

  /** Unsigned LEB128, up to 2^32 − 1. */
  unsigned(value: number): void {
    for (; value >= 0x80; value >>>= 7) this.byte((value & 0x7f) | 0x80);
    this.byte(value);
  }

  /** A byte and an unsigned number, which most of the code consists of. A call for each byte would dominate the time of encoding. */
  instruction(code: number, operand: number): void {
    if (this.length + 6 > this.data.length) this.grow(this.length + 6);
    const { data } = this;
    let at = this.length;
    data[at++] = code;
    for (; operand >= 0x80; operand >>>= 7) data[at++] = (operand & 0x7f) | 0x80;
    data[at++] = operand;
    this.length = at;
  }

  /** Signed LEB128 of a 32-bit number. */
  signed(value: number): void {
    for (;;) {
      const low = value & 0x7f;
      value >>= 7;
      if ((value === 0 && !(low & 0x40)) || (value === -1 && low & 0x40)) return this.byte(low);
      this.byte(low | 0x80);
    }
  }

  /** A name of ASCII characters. (Not every environment with WebAssembly has TextEncoder.) */
  text(value: string): void {
    this.unsigned(value.length);
    for (let i = 0; i < value.length; i++) this.byte(value.charCodeAt(i));
  }

  take(): Uint8Array {
    return this.data.slice(0, this.length);
  }
}

/** The body of a function under construction. */
export class FunctionAssembler {
  private readonly prologue = new Bytes();
  private code = new Bytes();
  private readonly parameters: number;
  private readonly locals: WasmType[] = [];
  /** Locals in use, the newest last, and free locals by type. */
  private used: number[] = [];
  private readonly free: Record<WasmType, number[]> = { i32: [], f32: [], f64: [], v128: [] };

  constructor(parameters: number) {
    this.parameters = parameters;
  }

  /** Places the code that `emit` writes at the beginning of the function, after earlier code placed there. */
  first(emit: () => void): void {
    const { code } = this;
    this.code = this.prologue;
    emit();
    this.code = code;
  }

  /** Reserves a local variable until it is released, and returns its index. Its initial value is undefined. */
  local(type: WasmType): number {
    const local = this.free[type].pop() ?? this.lasting(type);
    this.used.push(local);
    return local;
  }

  /** A new local variable, which is never reused. */
  lasting(type: WasmType): number {
    this.locals.push(type);
    return this.parameters + this.locals.length - 1;
  }

  /** The number of locals in use, for `release`. */
  mark(): number {
    return this.used.length;
  }

  /**
   * Releases all locals that were reserved since `mark`, except `kept`. Few locals are better: in quickly compiled code engines clear every
   * local at every call, and optimising compilers merge all locals wherever branches meet.
   */
  release(mark: number, kept?: ReadonlySet<number>): void {
    for (const local of this.used.splice(mark)) {
      if (kept?.has(local)) this.used.push(local);
      else this.free[this.locals[local - this.parameters]!].push(local);
    }
  }

  op(name: PlainOp): void {
    const plain: number | undefined = PLAIN[name as keyof typeof PLAIN];
    if (plain !== undefined) return this.code.byte(plain);
    this.code.instruction(0xfd, SIMD[name as keyof typeof SIMD]);
  }

  get(local: number): void {
    this.code.instruction(0x20, local);
  }

  set(local: number): void {
    this.code.instruction(0x21, local);
  }

  tee(local: number): void {
    this.code.instruction(0x22, local);
  }

  i32(value: number): void {
    this.code.byte(0x41);
    this.code.signed(value | 0);
  }

  float(type: 'f32' | 'f64', value: number): void {
    this.code.byte(type === 'f32' ? 0x43 : 0x44);
    this.code.bytes(
      new Uint8Array(type === 'f32' ? new Float32Array([value]).buffer : new Float64Array([value]).buffer),
    );
  }

  /** A constant vector: the same number in every lane, or two alternating ones. */
  vector(type: 'f32' | 'f64', value: number, next = value): void {
    const two = [value, next];
    const lanes = type === 'f32' ? Float32Array.from([...two, ...two]) : Float64Array.from(two);
    this.code.bytes([0xfd, 12]);
    this.code.bytes(new Uint8Array(lanes.buffer));
  }

  /** A constant vector of the same integer in every lane of 32 bits. */
  integers(value: number): void {
    this.code.bytes([0xfd, 12]);
    this.code.bytes(new Uint8Array(Int32Array.of(value, value, value, value).buffer));
  }

  /** Extracts a lane of the vector on the stack, or replaces it by the value above the vector. */
  lane(name: keyof typeof LANES, lane: number): void {
    this.code.instruction(0xfd, LANES[name]);
    this.code.byte(lane);
  }

  /** `offset` in bytes is added to the address on the stack; `lane` only for lane accesses. */
  memory(name: MemoryOp, offset: number, lane?: number): void {
    const [code, simd] = MEMORY[name];
    if (simd) this.code.instruction(0xfd, code);
    else this.code.byte(code);
    // The alignment hint: 4 bytes, which most arrays have at least; 2 for halves.
    this.code.instruction(name.includes('16') ? 1 : 2, offset);
    if (lane !== undefined) this.code.byte(lane);
  }

  /** Bytes 0–15 choose from the first operand, 16–31 from the second. */
  shuffle(bytes: ArrayLike<number>): void {
    this.code.bytes([0xfd, 13]);
    this.code.bytes(bytes);
  }

  block(): void {
    this.code.bytes([0x02, 0x40]);
  }

  if(): void {
    this.code.bytes([0x04, 0x40]);
  }

  else(): void {
    this.code.byte(0x05);
  }

  loop(): void {
    this.code.bytes([0x03, 0x40]);
  }

  end(): void {
    this.code.byte(0x0b);
  }

  branchIf(depth: number): void {
    this.code.instruction(0x0d, depth);
  }

  /** A function of the module by its number. */
  call(number: number): void {
    this.code.instruction(0x10, number);
  }

  /** The finished body: local declarations, code, end. */
  finish(): Uint8Array {
    const body = new Bytes();
    const runs: { type: WasmType; count: number }[] = [];
    for (const type of this.locals) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    body.unsigned(runs.length);
    for (const { type, count } of runs) {
      body.unsigned(count);
      body.byte(TYPE_CODE[type]);
    }
    body.bytes(this.prologue.take());
    body.bytes(this.code.take());
    body.byte(0x0b);
    return body.take();
  }
}

/** A function of a module. Its parameters are 32-bit integers, and it has no results. */
export interface ModuleFunction {
  /** The name of its export; missing if only other functions of the module call it. */
  readonly name?: string;
  readonly parameters: number;
  /** The result of `FunctionAssembler.finish`. */
  readonly body: Uint8Array;
}

/** Limits of a memory in pages. A shared memory needs both; one without `maximum` may grow as far as its owner lets it. */
export interface MemoryLimits {
  readonly initial: number;
  readonly maximum?: number;
  readonly shared: boolean;
}

/**
 * The function `repeat(times)`, which calls the first function of a module `times` times, at least once, with all arguments 0. It measures
 * the cost of a call without a call from JavaScript.
 */
export function repetition(first: Pick<ModuleFunction, 'parameters'>): ModuleFunction {
  const asm = new FunctionAssembler(1);
  asm.loop();
  for (let n = 0; n < first.parameters; n++) asm.i32(0);
  asm.call(0);
  asm.get(0);
  asm.i32(1);
  asm.op('i32.sub');
  asm.tee(0);
  asm.branchIf(0);
  asm.end();
  return { name: 'repeat', parameters: 1, body: asm.finish() };
}

/** A module that imports `env.memory` and exports its named functions. */
export function encodeModule(functions: readonly ModuleFunction[], memory: MemoryLimits): Uint8Array<ArrayBuffer> {
  const module = new Bytes();
  const section = (id: number, fill: (bytes: Bytes) => void) => {
    const content = new Bytes();
    fill(content);
    const bytes = content.take();
    module.byte(id);
    module.unsigned(bytes.length);
    module.bytes(bytes);
  };
  module.bytes([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  section(1, (s) => {
    s.unsigned(functions.length);
    for (const { parameters } of functions) {
      s.byte(0x60);
      s.unsigned(parameters);
      for (let i = 0; i < parameters; i++) s.byte(TYPE_CODE.i32);
      s.unsigned(0);
    }
  });
  section(2, (s) => {
    s.unsigned(1);
    s.text('env');
    s.text('memory');
    s.byte(2);
    s.byte((memory.shared ? 2 : 0) + (memory.maximum === undefined ? 0 : 1));
    s.unsigned(memory.initial);
    if (memory.maximum !== undefined) s.unsigned(memory.maximum);
  });
  section(3, (s) => {
    s.unsigned(functions.length);
    for (let n = 0; n < functions.length; n++) s.unsigned(n);
  });
  section(7, (s) => {
    s.unsigned(functions.filter(({ name }) => name !== undefined).length);
    for (const [n, { name }] of functions.entries()) {
      if (name === undefined) continue;
      s.text(name);
      s.byte(0);
      s.unsigned(n);
    }
  });
  section(10, (s) => {
    s.unsigned(functions.length);
    for (const { body } of functions) {
      s.unsigned(body.length);
      s.bytes(body);
    }
  });
  return new Uint8Array(module.take());
}
