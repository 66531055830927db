/** The body of one function: statements and expressions as instructions. */
import type { ElementType } from '../../ir/index.ts';
import type { Expression, MathName, Statement, Type, ValueType } from '../spmd/tree/tree.ts';
import { type ArrayMemory, type Instructions, readElement, writeElement } from './access.ts';
import { type Code, instruction, KIND_BYTES, type SpirvModule, type SpirvValue, type ValueKind } from './assembly.ts';
import { BITS, FLOAT } from './halves.ts';
import { type Opcode, SCOPE, SEMANTICS, STORAGE } from './opcodes.ts';

/** The value of a name, or memory that holds the value; names of arrays are separate. */
type NamedOperand = SpirvValue & { readonly variable?: true };

/** A function of the module that others call. */
export interface Callee {
  readonly id: number;
  readonly result: ValueKind;
  readonly parameters: readonly ValueKind[];
}

/** The context that all functions of a module share. */
export interface ModuleContext {
  readonly module: SpirvModule;
  readonly flavour: 'vulkan' | 'opencl';
  readonly wideIntegers: boolean;
  /** The extended instructions for `math`. */
  readonly extended: { readonly set: number; readonly numbers: Readonly<Record<keyof typeof PLAIN_MATH, number>> };
  readonly arrays: ReadonlyMap<string, ArrayMemory>;
  readonly functions: ReadonlyMap<string, Callee>;
}

const PLAIN_MATH = { abs: 0, sqrt: 0, min: 0, max: 0, fma: 0 };
const EXACT_MATH: Partial<Record<MathName, Opcode>> = { exactAdd: 'FAdd', exactSub: 'FSub', exactMul: 'FMul' };

/** The instructions for reals, for signed integers and for unsigned integers. */
const WORDS: Readonly<Record<string, readonly [real: Opcode | undefined, signed: Opcode, unsigned: Opcode]>> = {
  '+': ['FAdd', 'IAdd', 'IAdd'],
  '-': ['FSub', 'ISub', 'ISub'],
  '*': ['FMul', 'IMul', 'IMul'],
  '/': ['FDiv', 'SDiv', 'UDiv'],
  '%': [undefined, 'SRem', 'UMod'],
  '&': [undefined, 'BitwiseAnd', 'BitwiseAnd'],
  '|': [undefined, 'BitwiseOr', 'BitwiseOr'],
  '<<': [undefined, 'ShiftLeftLogical', 'ShiftLeftLogical'],
  '>>': [undefined, 'ShiftRightArithmetic', 'ShiftRightLogical'],
  '<': ['FOrdLessThan', 'SLessThan', 'ULessThan'],
  '<=': ['FOrdLessThanEqual', 'SLessThanEqual', 'ULessThanEqual'],
  '>': ['FOrdGreaterThan', 'SGreaterThan', 'UGreaterThan'],
  '>=': ['FOrdGreaterThanEqual', 'SGreaterThanEqual', 'UGreaterThanEqual'],
  '==': ['FOrdEqual', 'IEqual', 'IEqual'],
  '!=': ['FUnordNotEqual', 'INotEqual', 'INotEqual'],
};
const COMPARES = new Set(['<', '<=', '>', '>=', '==', '!=']);

export class FunctionBody implements Instructions {
  readonly code: Code = [];
  /** The declarations of variables, which have to come first in a function. */
  readonly variables: Code = [];
  readonly context: ModuleContext;
  private readonly module: SpirvModule;
  /**
   * Whether products and sums may be contracted, and integers be signed: true for helper functions, false for the statements of the kernel.
   */
  private readonly loosely: boolean;
  private readonly names = new Map<string, NamedOperand>();
  /** The label that the function begins with, and the label of the current block. */
  readonly first: number;
  private block: number;

  constructor(context: ModuleContext, loosely = false) {
    this.context = context;
    this.loosely = loosely;
    this.module = context.module;
    this.first = this.block = context.module.fresh();
  }

  /** Binds a name to a value. */
  name(own: string, value: NamedOperand): void {
    this.names.set(own, value);
  }

  run(op: Opcode, ...operands: number[]): void {
    instruction(this.code, op, ...operands);
  }

  emit(op: Opcode, kind: ValueKind, ...operands: number[]): SpirvValue {
    return { id: this.typed(op, this.module.type(kind), ...operands), kind };
  }

  typed(op: Opcode, type: number, ...operands: number[]): number {
    const id = this.module.fresh();
    this.run(op, type, id, ...operands);
    return id;
  }

  kindOf(type: Type): ValueKind {
    if (typeof type === 'string') {
      if (type === 'bool' || this.context.wideIntegers) return type;
      if (!this.loosely) return 'unsigned';
      if (type.endsWith('long')) throw new RangeError('a root of unity takes integers that the device does not have');
      return type;
    }
    if ('to' in type) throw new RangeError('SPIR-V has no pointers as values here');
    return valueKind(type);
  }

  statements(list: readonly Statement[]): void {
    for (const each of list) this.statement(each);
  }

  private statement(s: Statement): void {
    switch (s.op) {
      case 'declare':
        this.declare(s);
        return;
      case 'assign':
        this.assign(s.to, s.value);
        return;
      case 'return':
        if (s.value) this.run('ReturnValue', this.value(s.value).id);
        else this.run('Return');
        return;
      case 'if':
        this.branch(s.condition, () => this.statements(s.body), s.otherwise && (() => this.statements(s.otherwise!)));
        return;
      case 'loop':
        this.loop(s);
        return;
      case 'barrier':
        this.barrier(s.barrier);
        return;
      case 'comment':
      case 'blank':
        return;
      default:
        throw new RangeError(`SPIR-V has no words for ${s.op}`);
    }
  }

  private declare({ name, type, constant, value }: Extract<Statement, { op: 'declare' }>): void {
    const kind = this.kindOf(type);
    const known = value && this.converted(this.value(value), kind);
    if (constant && known) {
      this.names.set(name, known);
      return;
    }
    const id = this.module.fresh();
    const pointer = this.module.pointer('Function', this.module.type(kind));
    instruction(this.variables, 'Variable', pointer, id, STORAGE.Function);
    this.names.set(name, { id, kind, variable: true });
    if (known) this.run('Store', id, known.id);
  }

  private assign(to: Expression, from: Expression): void {
    const value = this.value(from);
    if (to.op === 'element') {
      writeElement(this, to, value);
      return;
    }
    const own = to.op === 'name' ? this.names.get(to.name) : undefined;
    if (!own?.variable) throw new RangeError('SPIR-V assigns to variables and arrays only');
    this.run('Store', own.id, this.converted(value, own.kind).id);
  }

  /** Executes one of two parts depending on a condition. @returns the labels that the two parts end in */
  private branch(condition: Expression, then: () => void, otherwise?: () => void): [number, number] {
    const [first, second, end] = [this.module.fresh(), this.module.fresh(), this.module.fresh()];
    const { id } = this.value(condition);
    this.run('SelectionMerge', end, 0);
    this.run('BranchConditional', id, first, otherwise ? second : end);
    const ends: [number, number] = [first, this.block];
    for (const [n, part] of [then, otherwise].entries()) {
      if (!part) continue;
      this.label(n === 0 ? first : second);
      part();
      ends[n] = this.block;
      this.run('Branch', end);
    }
    this.label(end);
    return ends;
  }

  private loop({ counter, rounds, limit, body }: Extract<Statement, { op: 'loop' }>): void {
    const { module } = this;
    const [head, inside, next, end] = [module.fresh(), module.fresh(), module.fresh(), module.fresh()];
    const kind = this.kindOf('int') as 'int' | 'unsigned';
    const last = limit ? this.converted(this.value(limit), kind).id : module.integer(rounds);
    const [before, after] = [this.block, module.fresh()];
    this.run('Branch', head);
    this.label(head);
    const own = this.emit('Phi', kind, module.integer(0), before, after, next);
    const more = this.emit('ULessThan', 'bool', own.id, last);
    this.run('LoopMerge', end, next, 0);
    this.run('BranchConditional', more.id, inside, end);
    this.label(inside);
    this.names.set(counter, own);
    this.statements(body);
    this.run('Branch', next);
    this.label(next);
    this.run('IAdd', module.type(kind), after, own.id, module.integer(1));
    this.run('Branch', head);
    this.label(end);
  }

  private barrier({ scope, globals }: Extract<Statement, { op: 'barrier' }>['barrier']): void {
    if (scope === 'cluster') throw new RangeError('SPIR-V has no exchange over a cluster of groups');
    const others = this.context.flavour === 'vulkan' ? SEMANTICS.UniformMemory : SEMANTICS.CrossWorkgroupMemory;
    const semantics = SEMANTICS.AcquireRelease | SEMANTICS.WorkgroupMemory | (globals ? others : 0);
    const group = this.module.integer(SCOPE.group);
    this.run('ControlBarrier', group, group, this.module.integer(semantics));
  }

  private label(id: number): void {
    this.run('Label', id);
    this.block = id;
  }

  value(e: Expression): SpirvValue {
    switch (e.op) {
      case 'name': {
        const own = this.names.get(e.name);
        if (!own) throw new RangeError(`SPIR-V knows nothing called ${e.name}`);
        return own.variable ? this.emit('Load', own.kind, own.id) : own;
      }
      case 'integer': {
        const kind = this.kindOf(e.type) as 'int';
        return { id: this.module.integer(e.value, kind), kind };
      }
      case 'real':
        if (!Number.isFinite(e.value)) throw new RangeError(`a constant of the kernel does not fit into ${e.type}`);
        return { id: this.module.real(e.value, e.type), kind: e.type };
      case 'unary': {
        if (e.word !== '-') break;
        const { id, kind } = this.value(e.of[0]!);
        return this.emit(isRealKind(kind) ? 'FNegate' : 'SNegate', kind, id);
      }
      case 'binary':
        return this.binary(e);
      case 'call':
        return this.call(e);
      case 'math':
        return this.math(e);
      case 'cast':
        return this.converted(this.value(e.of[0]!), this.kindOf(e.to));
      case 'select':
        return this.select(e.of as readonly [Expression, Expression, Expression]);
      case 'pair': {
        const parts = e.of.map((part) => this.value(part).id);
        const kind = valueKind({ type: e.type, pair: true });
        return { id: this.composed(this.module.type(kind), parts), kind };
      }
      case 'member': {
        const { id, kind } = this.value(e.of[0]!);
        return this.emit('CompositeExtract', kind === 'f32x2' ? 'f32' : 'f64', id, e.member === 'x' ? 0 : 1);
      }
      case 'element':
        return readElement(this, e);
    }
    throw new RangeError(`SPIR-V has no words for ${e.op}`);
  }

  /**
   * A vector of some parts. For OpenCL, parts are inserted one by one, because translators to LLVM crash on `CompositeConstruct` of parts
   * that are not constants.
   */
  private composed(type: number, parts: readonly number[]): number {
    if (this.context.flavour === 'vulkan') return this.typed('CompositeConstruct', type, ...parts);
    return parts.reduce(
      (whole, part, n) => this.typed('CompositeInsert', type, part, whole, n),
      this.module.undefined(type),
    );
  }

  private binary({ word, of }: Extract<Expression, { op: 'binary' }>): SpirvValue {
    const [a, b] = of.map((each) => this.value(each)) as [SpirvValue, SpirvValue];
    if (word === '&&' || word === '||') {
      return this.emit(word === '&&' ? 'LogicalAnd' : 'LogicalOr', 'bool', a.id, b.id);
    }
    const [real, signed, unsigned] = WORDS[word]!;
    const shift = word === '<<' || word === '>>';
    const kind = isRealKind(a.kind) || shift ? a.kind : commonKind(a.kind, b.kind);
    const op = isRealKind(kind) ? real! : kind.startsWith('unsigned') ? unsigned : signed;
    // A shift count is as wide as the shifted value, because translators to LLVM rely on it.
    const operands = [a, b].map((each) => this.converted(each, kind).id);
    return this.emit(op, COMPARES.has(word) ? 'bool' : kind, ...operands);
  }

  private call({ name, of }: Extract<Expression, { op: 'call' }>): SpirvValue {
    const given = of.map((each) => this.value(each));
    if (name === BITS) return this.emit('Bitcast', 'unsigned', given[0]!.id);
    if (name === FLOAT) return this.emit('Bitcast', 'f32', given[0]!.id);
    const callee = this.context.functions.get(name);
    if (!callee) throw new RangeError(`SPIR-V has no function ${name}`);
    const { id, result, parameters } = callee;
    return this.emit('FunctionCall', result, id, ...given.map((each, n) => this.converted(each, parameters[n]!).id));
  }

  private math({ name, type, of }: Extract<Expression, { op: 'math' }>): SpirvValue {
    const given = of.map((each) => this.value(each).id);
    if (name === 'highBits' || name === 'ofHighBits') return this.bits(name, type, given as [number, number]);
    const exact = EXACT_MATH[name];
    if (exact) {
      const result = this.emit(exact, type, ...given);
      if (this.context.flavour === 'vulkan') this.module.decorate(result.id, 'NoContraction');
      return result;
    }
    const { set, numbers } = this.context.extended;
    if (name === 'fma' && this.context.flavour === 'vulkan' && !this.loosely) {
      throw new RangeError('SPIR-V for Vulkan has no product and sum that are surely rounded once');
    }
    return this.emit('ExtInst', type, set, numbers[name as keyof typeof PLAIN_MATH], ...given);
  }

  /** The upper bits of a real, or a real of its bits. A double is two words here, because not every device has integers of 64 bits. */
  private bits(
    name: 'highBits' | 'ofHighBits',
    type: ElementType,
    [first, low]: readonly [number, number],
  ): SpirvValue {
    if (type === 'f32') return this.emit('Bitcast', name === 'highBits' ? 'unsigned' : 'f32', first);
    const words = this.module.vector('unsigned', 2);
    if (name === 'ofHighBits') return this.emit('Bitcast', type, this.composed(words, [low, first]));
    return this.emit('CompositeExtract', 'unsigned', this.typed('Bitcast', words, first), 1);
  }

  /** A conditional value: memory is read only if the condition holds. */
  private select([condition, then, otherwise]: readonly [Expression, Expression, Expression]): SpirvValue {
    if (reads(then) || reads(otherwise)) {
      const values: SpirvValue[] = [];
      const part = (e: Expression) => () => void values.push(this.value(e));
      const ends = this.branch(condition, part(then), part(otherwise));
      const [a, b] = values as [SpirvValue, SpirvValue];
      return this.emit('Phi', a.kind, a.id, ends[0], b.id, ends[1]);
    }
    const [chosen, a, b] = [this.value(condition), this.value(then), this.value(otherwise)];
    const pair = a.kind.endsWith('x2');
    const id = pair ? this.composed(this.module.vector('bool', 2), [chosen.id, chosen.id]) : chosen.id;
    return this.emit('Select', a.kind, id, a.id, this.converted(b, a.kind).id);
  }

  converted(value: SpirvValue, to: ValueKind): SpirvValue {
    const { id, kind } = value;
    if (kind === to) return value;
    if (isRealKind(to)) {
      if (isRealKind(kind)) return this.emit('FConvert', to, id);
      return this.emit(kind.startsWith('unsigned') ? 'ConvertUToF' : 'ConvertSToF', to, id);
    }
    if (KIND_BYTES[kind as 'int'] === KIND_BYTES[to as 'int']) return { id, kind: to };
    return this.emit(kind === 'int' || kind === 'long' ? 'SConvert' : 'UConvert', to, id);
  }
}

/** The kind of a value in registers: a half is its bits, and a pair of halves is one word. */
export function valueKind({ type, pair }: ValueType): ValueKind {
  if (type === 'f16' || type === 'u32') return 'unsigned';
  if (type === 'dd') throw new RangeError('SPIR-V has no double-double numbers');
  return pair ? `${type}x2` : type;
}

function isRealKind(kind: ValueKind): boolean {
  return kind.startsWith('f');
}

/** The common type of two integers as in C: the wider one; of two equally wide ones, the unsigned one. */
function commonKind(a: ValueKind, b: ValueKind): ValueKind {
  const [one, other] = [KIND_BYTES[a as 'int'], KIND_BYTES[b as 'int']];
  if (one !== other) return one > other ? a : b;
  return b.startsWith('unsigned') ? b : a;
}

function reads(e: Expression): boolean {
  return e.op === 'element' || ('of' in e && e.of.some(reads));
}
