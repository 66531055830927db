/**
 * The vector unit: arithmetic on one element type in all lanes (or on plain scalars), and the transposes that stand
 * between lanes and memory.
 */
import { bytesOf, type ElementType, type LoadNode, type Real } from '../../ir/index.ts';
import type { AccessGroup } from './accesses.ts';
import { narrow, rawLane, widen } from './conversions.ts';
import type { FunctionAssembler, MemoryOp, WasmType } from './encoder.ts';

/** A function that pushes an address, and an offset in bytes. */
export interface Address {
  readonly push: () => void;
  readonly offset: number;
}

/**
 * Of four lanes each: every second one; the lower or upper ones interleaved; neighbours exchanged, of two lanes, too; halves
 * of two or four lanes side by side.
 */
const EVEN = pattern(0, 2, 4, 6);
const ODD = pattern(1, 3, 5, 7);
const LOW = pattern(0, 4, 1, 5);
const HIGH = pattern(2, 6, 3, 7);
const SWAPPED = pattern(1, 0, 3, 2);
const SWAPPED_HALVES = pattern(1, 0);
const FIRST_HALVES = pattern(0, 2);
const SECOND_HALVES = pattern(1, 3);
/** The last lane first, of four and of two; of pairs in the lanes of two vectors, those of the other one first. */
const REVERSED = pattern(3, 2, 1, 0);
const REVERSED_EVEN = pattern(2, 0, 6, 4);
const REVERSED_ODD = pattern(3, 1, 7, 5);
const REVERSED_LOW = pattern(1, 5, 0, 4);
const REVERSED_HIGH = pattern(3, 7, 2, 6);
/** Every second lane of seven in a row, the last four of which are those of the second vector; and the last one first. */
const SECONDS = pattern(0, 2, 5, 7);
const REVERSED_SECONDS = pattern(7, 5, 2, 0);
/** Of these every second one, then the others. */
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

/** The same for a sum or difference that takes in a product: a·b + c, c − a·b. */
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

  /** Neighbouring lanes of the vector on the stack, exchanged. */
  swap(): void {
    this.requireNeighbours();
    const value = this.keep();
    this.asm.get(value);
    this.asm.get(value);
    this.asm.shuffle(this.lanes === 4 ? SWAPPED : SWAPPED_HALVES);
  }

  /** @throws RangeError where a phase in pairs comes to items one by one: it breaks the rules, or has too few for a vector. */
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

  /** The first of two values on the stack where the comparison above them holds, lane by lane. */
  chosen(): void {
    this.asm.op(this.lanes === 1 ? 'select' : 'v128.bitselect');
  }

  /** Pushes what `chosen` takes, where each lane has a condition of its own. @param condition pushes 0 or 1. */
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

  /** a·b + c or c − a·b of three vectors on the stack, rounded once or twice, as the engine likes. */
  fused(name: 'add' | 'sub'): void {
    this.asm.op(FUSED[this.element][name]);
  }

  /** The same of three values that are pushed, for engines that round once. Scalars have no such instruction. */
  fusedOnce(name: 'add' | 'sub', operands: readonly (() => void)[]): void {
    const scalar = this.lanes === 1;
    for (const push of operands) {
      push();
      if (scalar) this.asm.op(this.element === 'f32' ? 'f32x4.splat' : 'f64x2.splat');
    }
    this.fused(name);
    if (scalar) this.asm.lane(this.element === 'f32' ? 'f32x4.extract_lane' : 'f64x2.extract_lane', 0);
  }

  /** One instruction does the whole load. */
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

  /** Loads a group; the locals of its members. */
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

  /** Stores a group whose members `value` pushes. */
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
   * Loads a group lane by lane, each number of its own type.
   * @param when pushes whether a lane is read; without it all are. What is not read is 0.
   */
  gather(group: AccessGroup<LoadNode>, addresses: readonly Address[], when?: (lane: number) => void): number[] {
    const { asm, element } = this;
    const { type } = group.access.array;
    const name = `v128.load${(8 * bytesOf(type)) as 16 | 32 | 64}_lane` as const;
    const rows = this.rowAddresses(group, addresses);
    return group.members.map((_, n) => {
      const raw = asm.local('v128');
      asm.integers(0);
      asm.set(raw);
      this.eachLane(rows, when, ({ push, offset }, lane) => {
        push();
        asm.get(raw);
        asm.memory(name, offset + n * group.apart * bytesOf(type), rawLane(type, lane));
        asm.set(raw);
      });
      asm.get(raw);
      widen(asm, type, element);
      if (this.lanes === 1) asm.lane(element === 'f32' ? 'f32x4.extract_lane' : 'f64x2.extract_lane', 0);
      return this.keep();
    });
  }

  /** Stores a group lane by lane. @param when as of `gather`. */
  scatter(
    group: AccessGroup<Real>,
    addresses: readonly Address[],
    value: (node: Real) => void,
    when?: (lane: number) => void,
  ): void {
    const { asm, element } = this;
    const { type } = group.access.array;
    const name = `v128.store${(8 * bytesOf(type)) as 16 | 32 | 64}_lane` as const;
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
        asm.memory(name, offset + n * bytesOf(type), rawLane(type, lane));
      });
    });
  }

  /** Reaches memory for one lane after another, or for those whose condition holds. */
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

  /** Complex numbers of halves side by side: a vector of singles holds the two parts of each in 32 bits. */
  private isPairsOfHalves({ access, members }: AccessGroup<unknown>): boolean {
    return access.array.type === 'f16' && this.lanes === 4 && access.stride === 2 && members.length === 2;
  }

  private halves(row: Address): number[] {
    const { asm } = this;
    const both = this.read('v128.load', row);
    asm.get(both);
    widen(asm, 'f16', 'f32');
    const first = this.keep();
    asm.get(both);
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
    const both = this.keep();
    row.push();
    asm.get(both);
    asm.memory('v128.store', row.offset);
  }

  /** Where each lane finds the first of the group's elements. */
  private rowAddresses({ access }: AccessGroup<unknown>, addresses: readonly Address[]): Address[] {
    if (addresses.length > 1) return [...addresses];
    const { push, offset } = addresses[0]!;
    return Array.from({ length: this.lanes }, (_, lane) => ({
      push,
      offset: offset + lane * access.stride! * bytesOf(access.array.type),
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

  /** Of seven elements in a row every second one: two vectors, of which the first one ends where the other one begins. */
  private seconds(row: Address, order: Uint8Array): number {
    const [low, high] = [row, { ...row, offset: row.offset + 3 * this.bytes }];
    return this.mix(this.read('v128.load', low), this.read('v128.load', high), order);
  }

  /** Lanes four elements apart, of which each has two members: every second element of all that there is. */
  private dealtSeconds(rows: readonly Address[], backwards: boolean): number[] {
    const order = backwards ? REVERSED_DEALT_SECONDS : DEALT_SECONDS;
    const two = (a: number, b: number) => this.seconds(rows[backwards ? b : a]!, order);
    const [first, second] = [two(0, 1), two(2, 3)];
    return [this.mix(first, second, FIRST_HALVES), this.mix(first, second, SECOND_HALVES)];
  }

  /** The same where every lane's pair lies elsewhere. */
  private gatheredPairs(rows: readonly Address[]): [number, number] {
    const two = (a: Address, b: Address) => {
      this.readLane(a, 0, 8);
      this.readLane(b, 1, 8);
      return this.keep();
    };
    return [two(rows[0]!, rows[1]!), two(rows[2]!, rows[3]!)];
  }

  /** A square of lanes, transposed. */
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

/** A shuffle as the format wants it, byte by byte. Lanes are numbered on from the first vector to the second. */
function pattern(...lanes: number[]): Uint8Array {
  const width = 16 / lanes.length;
  return Uint8Array.from({ length: 16 }, (_, byte) => lanes[Math.floor(byte / width)]! * width + (byte % width));
}
