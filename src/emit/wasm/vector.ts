/**
 * The vector unit: arithmetic on one element type in all lanes (or on plain scalars), and the transposes that stand
 * between lanes and memory.
 */
import { type ElementType, type LoadNode, type Real, storageBytes } from '../../ir/index.ts';
import type { AccessGroup } from './accesses.ts';
import { narrow, rawLane, widen } from './conversions.ts';
import type { FunctionAssembler, MemoryOp, WasmType } from './encoder.ts';

/** A function that pushes an address, and an offset in bytes. */
export interface Address {
  readonly push: () => void;
  readonly offset: number;
}

/**
 * Shuffles of two vectors a and b of four lanes: even and odd lanes; the lower or upper lanes of a and b interleaved; neighbouring lanes
 * exchanged (SWAPPED_HALVES: of two lanes); the first or second halves of a and b.
 */
const EVEN = pattern(0, 2, 4, 6);
const ODD = pattern(1, 3, 5, 7);
const LOW = pattern(0, 4, 1, 5);
const HIGH = pattern(2, 6, 3, 7);
const SWAPPED = pattern(1, 0, 3, 2);
const SWAPPED_HALVES = pattern(1, 0);
const FIRST_HALVES = pattern(0, 2);
const SECOND_HALVES = pattern(1, 3);
/** Shuffles with lanes in reversed order: of one vector, and of pairs in two vectors. */
const REVERSED = pattern(3, 2, 1, 0);
const REVERSED_EVEN = pattern(2, 0, 6, 4);
const REVERSED_ODD = pattern(3, 1, 7, 5);
const REVERSED_LOW = pattern(1, 5, 0, 4);
const REVERSED_HIGH = pattern(3, 7, 2, 6);
/** Every second element of seven consecutive ones, in two vectors of which the second begins with element 3; also in reversed order. */
const SECONDS = pattern(0, 2, 5, 7);
const REVERSED_SECONDS = pattern(7, 5, 2, 0);
/** Those elements with the first and the third in the first half, the second and the fourth in the second; also in reversed order. */
const DEALT_SECONDS = pattern(0, 5, 2, 7);
const REVERSED_DEALT_SECONDS = pattern(5, 0, 7, 2);

const NAMES = ['add', 'sub', 'mul', 'div', 'min', 'max', 'abs', 'sqrt', 'eq', 'lt', 'le'] as const;
type VectorOperation = (typeof NAMES)[number];
type VectorShape = 'f32' | 'f64' | 'f32x4' | 'f64x2';

/** Names of operations, made once: joining strings takes longer than everything else about an operation. */
const OPERATIONS = Object.fromEntries(
  (['f32', 'f64', 'f32x4', 'f64x2'] as const).map((shape) => [
    shape,
    Object.fromEntries(NAMES.map((name) => [name, `${shape}.${name}`])),
  ]),
) as unknown as { readonly [S in VectorShape]: { readonly [N in VectorOperation]: `${S}.${N}` } };

/** Names of multiply-adds: a·b + c and c − a·b. */
const FUSED = {
  f32: { add: 'f32x4.relaxed_madd', sub: 'f32x4.relaxed_nmadd' },
  f64: { add: 'f64x2.relaxed_madd', sub: 'f64x2.relaxed_nmadd' },
} as const;

export class VectorUnit {
  private readonly asm: FunctionAssembler;
  private readonly element: ElementType;
  readonly lanes: number;
  private readonly bytes: number;
  readonly type: WasmType;

  /** @param lanes 1 for scalars. */
  constructor(asm: FunctionAssembler, element: ElementType, lanes: number) {
    this.asm = asm;
    this.element = element;
    this.lanes = lanes;
    this.bytes = element === 'f32' ? 4 : 8;
    this.type = lanes === 1 ? element : 'v128';
  }

  local(): number {
    return this.asm.local(this.type);
  }

  /** @param conjugated with the opposite sign in every second lane. */
  constant(value: number, conjugated = false): void {
    if (conjugated) this.requireNeighbours();
    if (this.lanes === 1) this.asm.float(this.element, value);
    else this.asm.vector(this.element, value, conjugated ? -value : value);
  }

  /** Exchanges neighbouring lanes of the vector on the stack. */
  swap(): void {
    this.requireNeighbours();
    const value = this.keep();
    this.asm.get(value);
    this.asm.get(value);
    this.asm.shuffle(this.lanes === 4 ? SWAPPED : SWAPPED_HALVES);
  }

  /** @throws RangeError for scalars. A valid phase that uses neighbours is never executed item by item. */
  private requireNeighbours(): void {
    if (this.lanes === 1) throw new RangeError('Scalars have no neighbours.');
  }

  /** Pushes a vector that has only the sign bits set. */
  signs(): void {
    this.asm.vector(this.element, -0, -0);
  }

  /** Negates the value on the stack by flipping its sign bits. @param signs pushes the same vector as the method `signs` */
  negative(signs: () => void): void {
    if (this.lanes === 1) return this.asm.op(`${this.element}.neg`);
    signs();
    this.asm.op('v128.xor');
  }

  operation(name: VectorOperation): void {
    const shape = this.lanes === 1 ? this.element : this.element === 'f32' ? 'f32x4' : 'f64x2';
    this.asm.op(OPERATIONS[shape][name]);
  }

  /** Replaces the number on the stack by its exponent, or by two to the power of the negative exponent: see `Expressions`. */
  power(name: 'exponent' | 'inversePower'): void {
    const { asm, element, lanes } = this;
    const isSingle = element === 'f32';
    const [digits, bias] = isSingle ? [23, 127] : [52, 1023];
    if (lanes === 1) asm.op(isSingle ? 'f32x4.splat' : 'f64x2.splat');
    if (name === 'exponent') {
      // A real 2^digits has its integer part in the lowest bits.
      asm.i32(digits);
      asm.op(isSingle ? 'i32x4.shr_u' : 'i64x2.shr_u');
      asm.vector(element, 2 ** digits);
      asm.op('v128.or');
      asm.vector(element, 2 ** digits + bias);
      asm.op(isSingle ? 'f32x4.sub' : 'f64x2.sub');
    } else {
      asm.vector(element, Number.POSITIVE_INFINITY);
      asm.op('v128.and');
      const bits = asm.local('v128');
      asm.set(bits);
      asm.vector(element, 2 ** bias);
      asm.get(bits);
      asm.op(isSingle ? 'i32x4.sub' : 'i64x2.sub');
    }
    if (lanes === 1) asm.lane(isSingle ? 'f32x4.extract_lane' : 'f64x2.extract_lane', 0);
  }

  /** Pops two values and a comparison, and pushes, lane by lane, the first value if the comparison holds, otherwise the second. */
  chosen(): void {
    this.asm.op(this.lanes === 1 ? 'select' : 'v128.bitselect');
  }

  /** Pushes a comparison for `chosen` with a separate condition for each lane. @param condition pushes 0 or 1 */
  conditions(condition: (lane: number) => void): void {
    const { asm, lanes } = this;
    if (lanes === 1) return condition(0);
    asm.integers(0);
    const each = 4 / lanes;
    for (let lane = 0; lane < lanes; lane++) {
      const mask = asm.local('i32');
      asm.i32(0);
      condition(lane);
      asm.op('i32.sub');
      asm.set(mask);
      for (let n = 0; n < each; n++) {
        asm.get(mask);
        asm.lane('i32x4.replace_lane', lane * each + n);
      }
    }
  }

  zero(): void {
    this.constant(0);
  }

  /** a·b + c or c − a·b of three vectors on the stack, rounded once or twice, as the engine chooses. */
  fused(name: 'add' | 'sub'): void {
    this.asm.op(FUSED[this.element][name]);
  }

  /** `fused` for engines that round once. The operands are pushed one by one, because scalars have to become vectors. */
  fusedOnce(name: 'add' | 'sub', operands: readonly (() => void)[]): void {
    const scalar = this.lanes === 1;
    for (const push of operands) {
      push();
      if (scalar) this.asm.op(this.element === 'f32' ? 'f32x4.splat' : 'f64x2.splat');
    }
    this.fused(name);
    if (scalar) this.asm.lane(this.element === 'f32' ? 'f32x4.extract_lane' : 'f64x2.extract_lane', 0);
  }

  /** Whether one instruction loads the whole group. */
  loadsDirectly({ access }: AccessGroup<LoadNode>): boolean {
    if (access.array.type !== this.element) return false;
    return this.lanes === 1 || access.stride === 0 || access.stride === 1;
  }

  loadDirect({ access }: AccessGroup<LoadNode>, address: Address): void {
    address.push();
    if (this.lanes === 1) this.asm.memory(`${this.element}.load`, address.offset);
    else if (access.stride === 0) this.asm.memory(`v128.load${(8 * this.bytes) as 32 | 64}_splat`, address.offset);
    else this.asm.memory('v128.load', address.offset);
  }

  /** Loads a group. @returns the locals of its members */
  load(group: AccessGroup<LoadNode>, addresses: readonly Address[]): number[] {
    if (group.access.array.type !== this.element) {
      return this.isPairsOfHalves(group) ? this.halves(addresses[0]!) : this.gather(group, addresses);
    }
    if (this.loadsDirectly(group)) {
      this.loadDirect(group, addresses[0]!);
      return [this.keep()];
    }
    const rows = this.rowAddresses(group, addresses);
    const size = group.members.length;
    if (group.access.stride === -1) return [this.reversed(this.read('v128.load', rows.at(-1)!))];
    if (group.apart === 2) return this.dealtSeconds(rows, group.access.stride! < 0);
    if (size === 1 && this.lanes === 4 && Math.abs(group.access.stride ?? 0) === 2) {
      return group.access.stride! > 0 ? [this.seconds(rows[0]!, SECONDS)] : [this.seconds(rows[3]!, REVERSED_SECONDS)];
    }
    if (size === this.lanes) {
      return this.transpose(rows.map((row) => this.read('v128.load', row)));
    }
    if (size === 2 && group.access.stride === -2) {
      const [last, first] = this.contiguousPairs(rows[3]!);
      return [this.mix(first, last, REVERSED_EVEN), this.mix(first, last, REVERSED_ODD)];
    }
    if (size === 2) {
      const [a, b] = group.access.stride === 2 ? this.contiguousPairs(rows[0]!) : this.gatheredPairs(rows);
      return [this.mix(a!, b!, EVEN), this.mix(a!, b!, ODD)];
    }
    rows.forEach((row, lane) => this.readLane(row, lane, this.bytes));
    return [this.keep()];
  }

  /** Stores a group. @param value pushes a member */
  store(group: AccessGroup<Real>, addresses: readonly Address[], value: (node: Real) => void): void {
    const { asm, lanes } = this;
    const { members, access } = group;
    if (access.array.type !== this.element) {
      if (this.isPairsOfHalves(group)) return this.putHalves(members, addresses[0]!, value);
      return this.scatter(group, addresses, value);
    }
    if (lanes === 1 || access.stride === 1) {
      addresses[0]!.push();
      value(members[0]!);
      return asm.memory(lanes === 1 ? `${this.element}.store` : 'v128.store', addresses[0]!.offset);
    }
    const rows = this.rowAddresses(group, addresses);
    const values = members.map((member) => {
      value(member);
      return this.keep();
    });
    const write = (name: MemoryOp, row: Address, local: number, lane?: number) => {
      row.push();
      asm.get(local);
      asm.memory(name, row.offset, lane);
    };
    if (access.stride === -1) return write('v128.store', rows.at(-1)!, this.reversed(values[0]!));
    if (members.length === lanes) {
      const columns = this.transpose(values);
      return rows.forEach((row, n) => write('v128.store', row, columns[n]!));
    }
    if (members.length === 2 && access.stride === -2) {
      write('v128.store', rows[3]!, this.mix(values[0]!, values[1]!, REVERSED_HIGH));
      return write('v128.store', rows[1]!, this.mix(values[0]!, values[1]!, REVERSED_LOW));
    }
    if (members.length === 2) {
      const low = this.mix(values[0]!, values[1]!, LOW);
      const high = this.mix(values[0]!, values[1]!, HIGH);
      if (access.stride === 2) {
        write('v128.store', rows[0]!, low);
        return write('v128.store', rows[2]!, high);
      }
      return rows.forEach((row, n) => write('v128.store64_lane', row, n < 2 ? low : high, n % 2));
    }
    const lane = this.bytes === 4 ? 'v128.store32_lane' : 'v128.store64_lane';
    rows.forEach((row, n) => write(lane, row, values[0]!, n));
  }

  /**
   * Loads a group lane by lane, and converts the numbers.
   * @param when pushes whether a lane is loaded; missing if all lanes are. Lanes that are not loaded are 0.
   */
  gather(group: AccessGroup<LoadNode>, addresses: readonly Address[], when?: (lane: number) => void): number[] {
    const { asm, element } = this;
    const { type } = group.access.array;
    const name = `v128.load${(8 * storageBytes(type)) as 16 | 32 | 64}_lane` as const;
    const rows = this.rowAddresses(group, addresses);
    return group.members.map((_, n) => {
      const raw = asm.local('v128');
      asm.integers(0);
      asm.set(raw);
      this.eachLane(rows, when, ({ push, offset }, lane) => {
        push();
        asm.get(raw);
        asm.memory(name, offset + n * group.apart * storageBytes(type), rawLane(type, lane));
        asm.set(raw);
      });
      asm.get(raw);
      widen(asm, type, element);
      if (this.lanes === 1) asm.lane(element === 'f32' ? 'f32x4.extract_lane' : 'f64x2.extract_lane', 0);
      return this.keep();
    });
  }

  /** Stores a group lane by lane. @param when pushes whether a lane is stored; missing if all lanes are */
  scatter(
    group: AccessGroup<Real>,
    addresses: readonly Address[],
    value: (node: Real) => void,
    when?: (lane: number) => void,
  ): void {
    const { asm, element } = this;
    const { type } = group.access.array;
    const name = `v128.store${(8 * storageBytes(type)) as 16 | 32 | 64}_lane` as const;
    const rows = this.rowAddresses(group, addresses);
    group.members.forEach((member, n) => {
      value(member);
      if (this.lanes === 1) asm.op(element === 'f32' ? 'f32x4.splat' : 'f64x2.splat');
      narrow(asm, element, type);
      const raw = asm.local('v128');
      asm.set(raw);
      this.eachLane(rows, when, ({ push, offset }, lane) => {
        push();
        asm.get(raw);
        asm.memory(name, offset + n * storageBytes(type), rawLane(type, lane));
      });
    });
  }

  /** Accesses memory for one lane after another, if the lane's condition holds. */
  private eachLane(
    rows: readonly Address[],
    when: ((lane: number) => void) | undefined,
    reach: (row: Address, lane: number) => void,
  ): void {
    rows.forEach((row, lane) => {
      when?.(lane);
      if (when) this.asm.if();
      reach(row, lane);
      if (when) this.asm.end();
    });
  }

  /** Whether a group has interleaved complex numbers of halves, so that each 32-bit lane of a vector holds both parts of a number. */
  private isPairsOfHalves({ access, members }: AccessGroup<unknown>): boolean {
    return access.array.type === 'f16' && this.lanes === 4 && access.stride === 2 && members.length === 2;
  }

  private halves(row: Address): number[] {
    const { asm } = this;
    const words = this.read('v128.load', row);
    asm.get(words);
    widen(asm, 'f16', 'f32');
    const first = this.keep();
    asm.get(words);
    asm.i32(16);
    asm.op('i32x4.shr_u');
    widen(asm, 'f16', 'f32');
    return [first, this.keep()];
  }

  private putHalves(members: readonly Real[], row: Address, value: (node: Real) => void): void {
    const { asm } = this;
    value(members[0]!);
    narrow(asm, 'f32', 'f16');
    value(members[1]!);
    narrow(asm, 'f32', 'f16');
    asm.i32(16);
    asm.op('i32x4.shl');
    asm.op('v128.or');
    const words = this.keep();
    row.push();
    asm.get(words);
    asm.memory('v128.store', row.offset);
  }

  /** The address of the group's first element in each lane. */
  private rowAddresses({ access }: AccessGroup<unknown>, addresses: readonly Address[]): Address[] {
    if (addresses.length > 1) return [...addresses];
    const { push, offset } = addresses[0]!;
    return Array.from({ length: this.lanes }, (_, lane) => ({
      push,
      offset: offset + lane * access.stride! * storageBytes(access.array.type),
    }));
  }

  private keep(): number {
    const local = this.local();
    this.asm.set(local);
    return local;
  }

  private read(name: MemoryOp, { push, offset }: Address): number {
    push();
    this.asm.memory(name, offset);
    return this.keep();
  }

  /** Pushes (lane 0) or replaces one lane of the vector on the stack. */
  private readLane({ push, offset }: Address, lane: number, bytes: number): void {
    const width = (8 * bytes) as 32 | 64;
    if (lane === 0) {
      push();
      return this.asm.memory(`v128.load${width}_zero`, offset);
    }
    const vector = this.keep();
    push();
    this.asm.get(vector);
    this.asm.memory(`v128.load${width}_lane`, offset, lane);
  }

  /** x₀ y₀ x₁ y₁ and x₂ y₂ x₃ y₃ from memory that holds them in this order. */
  private contiguousPairs(row: Address): [number, number] {
    return [this.read('v128.load', row), this.read('v128.load', { ...row, offset: row.offset + 16 })];
  }

  /** Every second one of seven consecutive elements, from two vectors that overlap in element 3. */
  private seconds(row: Address, order: Uint8Array): number {
    const [low, high] = [row, { ...row, offset: row.offset + 3 * this.bytes }];
    return this.mix(this.read('v128.load', low), this.read('v128.load', high), order);
  }

  /** Loads two members at offsets 0 and 2 from lanes that are four elements apart: together every second element of the memory. */
  private dealtSeconds(rows: readonly Address[], backwards: boolean): number[] {
    const order = backwards ? REVERSED_DEALT_SECONDS : DEALT_SECONDS;
    const two = (a: number, b: number) => this.seconds(rows[backwards ? b : a]!, order);
    const [first, second] = [two(0, 1), two(2, 3)];
    return [this.mix(first, second, FIRST_HALVES), this.mix(first, second, SECOND_HALVES)];
  }

  /** `contiguousPairs` for pairs at a separate address for each lane. */
  private gatheredPairs(rows: readonly Address[]): [number, number] {
    const two = (a: Address, b: Address) => {
      this.readLane(a, 0, 8);
      this.readLane(b, 1, 8);
      return this.keep();
    };
    return [two(rows[0]!, rows[1]!), two(rows[2]!, rows[3]!)];
  }

  /** Transposes a square of `lanes` vectors. */
  private transpose(rows: readonly number[]): number[] {
    const [a, b, c, d] = rows as [number, number, number, number];
    if (this.lanes === 2) return [this.mix(a, b, FIRST_HALVES), this.mix(a, b, SECOND_HALVES)];
    const lowAB = this.mix(a, b, LOW);
    const highAB = this.mix(a, b, HIGH);
    const lowCD = this.mix(c, d, LOW);
    const highCD = this.mix(c, d, HIGH);
    return [
      this.mix(lowAB, lowCD, FIRST_HALVES),
      this.mix(lowAB, lowCD, SECOND_HALVES),
      this.mix(highAB, highCD, FIRST_HALVES),
      this.mix(highAB, highCD, SECOND_HALVES),
    ];
  }

  /** Reverses the order of the lanes. */
  private reversed(vector: number): number {
    return this.mix(vector, vector, this.lanes === 4 ? REVERSED : SWAPPED_HALVES);
  }

  /** Selects lanes from two vectors. */
  private mix(a: number, b: number, pattern: Uint8Array): number {
    this.asm.get(a);
    this.asm.get(b);
    this.asm.shuffle(pattern);
    return this.keep();
  }
}

/** The byte pattern of an `i8x16.shuffle` that picks whole lanes of two vectors: lanes 0 … n − 1 are the first vector's, n … 2n − 1 the second's. */
function pattern(...lanes: number[]): Uint8Array {
  const width = 16 / lanes.length;
  return Uint8Array.from({ length: 16 }, (_, byte) => lanes[Math.floor(byte / width)]! * width + (byte % width));
}
