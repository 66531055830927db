/**
 * Kernels as SPIR-V, the binary language of Vulkan and OpenCL drivers, without another compiler in between. The two flavours differ in how
 * they access memory; the statements are the same.
 */
import { elementTypeOf, type Kernel } from '../../ir/index.ts';
import { launchOf, lower } from '../spmd/lowering/lower.ts';
import type { Dialect, OffsetArray, SharedArray } from '../spmd/lowering/memory.ts';
import { rootFunctions } from '../spmd/lowering/root.ts';
import type { EntryPoint, SpmdOptions } from '../spmd/tree/program.ts';
import { polynomialSines } from '../spmd/tree/sines.ts';
import {
  binary,
  chain,
  declareConstant,
  type Expression,
  type FunctionTree,
  integer,
  mathIn,
  name,
  namesUsed,
  type ValueType,
} from '../spmd/tree/tree.ts';
import type { ArrayMemory } from './access.ts';
import { instruction, SpirvModule, type SpirvValue, textWords, type ValueKind } from './assembly.ts';
import { type Callee, FunctionBody, type ModuleContext, valueKind } from './body.ts';
import { BITS, conversionFunctions, FLOAT } from './halves.ts';
import { BUILTIN, GLSL, MODE, OPENCL } from './opcodes.ts';

export interface SpirvOptions extends Omit<SpmdOptions, 'streamed' | 'unguarded'> {
  /** Default `vulkan`. */
  readonly flavour?: 'vulkan' | 'opencl';
  /** Whether the device has 64-bit integers; default true. Without them, indices are unsigned and end at 2³² − 1. */
  readonly wideIntegers?: boolean;
  /** Whether the device can load and store single 16-bit values; default true. If not, two halves share a word. */
  readonly storage16?: boolean;
  /** Only for `vulkan`: bytes of push constants that the device has; default 128, the guaranteed minimum. */
  readonly pushBytes?: number;
}

export interface SpirvProgram extends EntryPoint {
  readonly language: 'spirv';
  /** Words of 32 bits, little-endian. */
  readonly source: Uint8Array;
  /** Only for `vulkan`: bytes of the arguments: an 8-byte address for each binding, then the number of the first group, if any. */
  readonly argumentBytes: number;
  /** Only for `vulkan`: the push constants hold the address of the arguments, because these do not fit. */
  readonly indirect: boolean;
}

/** SPIR-V versions that every Vulkan or OpenCL device accepts. */
const VERSIONS = { vulkan: [1, 5], opencl: [1, 0] } as const;
/** Vulkan: the specialization constant that sets the threads of a group. */
export const GROUP_SIZE_CONSTANT = 0;
/** Groups in one dimension that every Vulkan device allows, and the guaranteed bytes of push constants. */
const MAX_GROUPS = 65535;
const PUSH_BYTES = 128;

/**
 * One module with one entry point. For Vulkan, its arguments are addresses of the bindings and then of the tables, in push constants; for
 * OpenCL, it takes the same arguments, with offsets, as a kernel that `emitOpencl` writes.
 * @throws RangeError if the kernel cannot be expressed: too many groups, indices beyond the device's integers, an exchange over a cluster
 * or, for Vulkan, a product and sum that are rounded once
 */
export function emitSpirv(kernel: Kernel, options: SpirvOptions = {}): SpirvProgram {
  return new SpirvWriter(kernel, options).program();
}

const RESERVED = `${BITS} ${FLOAT} bits block_x block_y block_z first_group group main rank root root_wide t`;

function spirvDialect(wideIntegers: boolean): Dialect {
  const reserved = new Set(RESERVED.split(' '));
  return { wideIntegers, pointers: true, clusters: false, sines: true, reserved };
}

interface EntryParameter {
  readonly id: number;
  readonly type: number;
}

class SpirvWriter {
  private readonly module = new SpirvModule();
  private readonly kernel: Kernel;
  private readonly flavour: 'vulkan' | 'opencl';
  private readonly wide: boolean;
  private readonly storage16: boolean;
  private readonly pushBytes: number;
  private readonly lowered: ReturnType<typeof lower>;
  private readonly arrays = new Map<string, ArrayMemory>();
  private readonly functions = new Map<string, Callee>();
  private readonly context: ModuleContext;
  /** The interface variables of the entry point. */
  private readonly interfaces: number[] = [];

  constructor(kernel: Kernel, options: SpirvOptions) {
    const { flavour = 'vulkan', wideIntegers = true, storage16 = true, pushBytes = PUSH_BYTES, ...rest } = options;
    this.kernel = kernel;
    this.flavour = flavour;
    this.wide = wideIntegers;
    this.storage16 = storage16;
    this.pushBytes = pushBytes;
    const most = flavour === 'vulkan' ? { maxGroups: MAX_GROUPS } : {};
    this.lowered = lower(kernel, { ...most, ...rest }, spirvDialect(wideIntegers));
    const set = this.begin();
    const extended = { set, numbers: flavour === 'vulkan' ? GLSL : OPENCL };
    const { module, arrays, functions } = this;
    this.context = { module, flavour, wideIntegers, extended, arrays, functions };
  }

  program(): SpirvProgram {
    const { module, lowered, wide } = this;
    const { memory, statements, grid, threads, entry } = lowered;
    for (const array of memory.shared) this.declareShared(array);
    const roots = rootFunctions(elementTypeOf(this.kernel.precision), namesUsed(statements), {
      sines: polynomialSines,
    });
    for (const each of [...conversionFunctions(memory.conversions), ...roots]) this.declareFunction(each);
    const main = module.fresh();
    const body = new FunctionBody(this.context);
    const { parameters, argumentBytes, indirect } =
      this.flavour === 'vulkan'
        ? this.addresses(body)
        : { ...this.parameters(body), argumentBytes: 0, indirect: false };
    this.numbers(body);
    body.statements([declareConstant('group', 'int', this.groupNumber()), ...statements]);
    body.run('Return');
    this.define(main, 'void', parameters, body);
    const model = this.flavour === 'vulkan' ? 5 : 6;
    instruction(module.entryPoints, 'EntryPoint', model, main, ...textWords(entry), ...this.interfaces);
    instruction(module.modes, 'ExecutionMode', main, MODE.LocalSize, threads, 1, 1);
    if (this.flavour === 'vulkan') this.specializeGroupSize(threads);
    const exact = [...mathIn(statements)].some((each) => each.startsWith('exact'));
    if (this.flavour === 'opencl' && exact) instruction(module.modes, 'ExecutionMode', main, MODE.ContractionOff);
    if (grid.launches > 1 && !wide && argumentBytes === 0) throw new RangeError('first groups are wide integers here');
    const source = module.bytes(VERSIONS[this.flavour]);
    return { language: 'spirv', source, argumentBytes, indirect, ...launchOf(lowered) };
  }

  /** Vulkan: pipelines set the size of the groups, which takes precedence over `LocalSize`. */
  private specializeGroupSize(threads: number): void {
    const { module } = this;
    const size = module.fresh();
    const [x, one] = [module.specialization(GROUP_SIZE_CONSTANT, threads), module.integer(1)];
    instruction(module.globals, 'SpecConstantComposite', module.vector('unsigned', 3), size, x, one, one);
    module.decorate(size, 'BuiltIn', BUILTIN.WorkgroupSize);
  }

  /** Writes the head of the module. @returns the extended instruction set */
  private begin(): number {
    const { module, flavour, kernel } = this;
    const kernelFlavour = flavour === 'opencl';
    module.require(kernelFlavour ? 'Kernel' : 'Shader');
    module.require(kernelFlavour ? 'Addresses' : 'PhysicalStorageBufferAddresses');
    const halves = [...kernel.globals, ...kernel.tables, ...kernel.shared].some(({ type }) => type === 'f16');
    if (halves && this.storage16) {
      module.require('Int16');
      if (!kernelFlavour) module.require('StorageBuffer16BitAccess');
    }
    const set = module.importSet(kernelFlavour ? 'OpenCL.std' : 'GLSL.std.450');
    // The addressing model with 64-bit addresses, and the memory model of OpenCL or GLSL.
    module.memoryModel(kernelFlavour ? 2 : 5348, kernelFlavour ? 2 : 1);
    return set;
  }

  /** The layout of an array's elements in memory. */
  private element(array: ValueType, shared: boolean): Pick<ArrayMemory, 'element' | 'lone'> {
    const half = array.type === 'f16' && !array.pair;
    const words = shared && this.flavour === 'vulkan';
    if (half && this.storage16 && !words) return { element: 'short', lone: false };
    return { element: valueKind(array) as ArrayMemory['element'], lone: half };
  }

  private declareShared(array: SharedArray): void {
    const { module } = this;
    const kind = this.element(array, true);
    const length = module.integer(kind.lone ? Math.ceil(array.length / 2) : array.length);
    const type = module.declared('TypeArray', module.type(kind.element), length);
    const pointer = module.variable('Workgroup', type);
    if (this.flavour === 'vulkan') this.interfaces.push(pointer);
    this.arrays.set(array.name, { ...kind, pointer, storage: 'Workgroup', path: [] });
  }

  /** Vulkan: a struct of addresses, in push constants or behind a single address there. */
  private addresses(body: FunctionBody): { parameters: EntryParameter[]; argumentBytes: number; indirect: boolean } {
    const { module, lowered } = this;
    const { bindings } = lowered.memory;
    const types = bindings.map((array) => {
      const { element } = this.element(array, false);
      return module.pointer('PhysicalStorageBuffer', module.endless(element, !array.written && !array.aliased));
    });
    const numbered = lowered.grid.launches > 1;
    const argumentBytes = 8 * types.length + (numbered ? 4 : 0);
    const indirect = argumentBytes > this.pushBytes;
    const struct = this.struct([...types, ...(numbered ? [module.type('int')] : [])]);
    const storage = indirect ? 'PhysicalStorageBuffer' : 'PushConstant';
    const outer = indirect ? this.struct([module.pointer(storage, struct)]) : struct;
    const pushed = module.variable('PushConstant', outer);
    this.interfaces.push(pushed);
    const member = (
      of: number,
      space: 'PushConstant' | 'PhysicalStorageBuffer',
      n: number,
      type: number,
      bytes = 8,
    ) => {
      const place = body.typed('InBoundsAccessChain', module.pointer(space, type), of, module.integer(n));
      return body.typed('Load', type, place, ...(space === 'PushConstant' ? [] : [2, bytes]));
    };
    const block = indirect ? member(pushed, 'PushConstant', 0, module.pointer(storage, struct)) : pushed;
    for (const [n, array] of bindings.entries()) {
      const pointer = member(block, storage, n, types[n]!);
      const place = { pointer, storage: 'PhysicalStorageBuffer', path: [module.integer(0)] } as const;
      this.arrays.set(array.name, { ...this.element(array, false), ...place });
    }
    if (numbered) {
      const kind = body.kindOf('int');
      body.name('first_group', { id: member(block, storage, types.length, module.type(kind), 4), kind });
    }
    return { parameters: [], argumentBytes, indirect };
  }

  /** A struct whose members are aligned to 8 bytes. */
  private struct(members: readonly number[]): number {
    const { module } = this;
    const id = module.fresh();
    instruction(module.globals, 'TypeStruct', id, ...members);
    module.decorate(id, 'Block');
    members.forEach((_, n) => module.decorateMember(id, n, 'Offset', 8 * n));
    return id;
  }

  /** OpenCL: parameters of the entry point. */
  private parameters(body: FunctionBody): { parameters: EntryParameter[] } {
    const { module, lowered } = this;
    const { bindings, offsets } = lowered.memory;
    const pointers = new Map<string, number>();
    const given: EntryParameter[] = [];
    for (const array of bindings) {
      const own = this.element(array, false);
      const [id, type] = [module.fresh(), module.pointer('CrossWorkgroup', module.type(own.element))];
      given.push({ id, type });
      pointers.set(array.name, id);
      this.arrays.set(array.name, { ...own, pointer: id, storage: 'CrossWorkgroup', path: [] });
    }
    const long = (own: string): SpirvValue => {
      const value: SpirvValue = { id: module.fresh(), kind: 'long' };
      given.push({ id: value.id, type: module.type('long') });
      body.name(own, value);
      return value;
    };
    for (const array of offsets)
      this.shift(body, array, pointers.get(array.binding.name)!, long(`${array.name}_offset`));
    if (lowered.grid.launches > 1) long('first_group');
    return { parameters: given };
  }

  /** Defines the pointer to a global that begins `offset` reals after the beginning of its binding. */
  private shift(body: FunctionBody, array: OffsetArray, binding: number, offset: SpirvValue): void {
    const { module } = this;
    const own = this.element(array, false);
    const values = array.pair
      ? body.emit('ShiftRightArithmetic', 'long', offset.id, module.integer(1, 'long'))
      : offset;
    if (own.lone) throw new RangeError('halves that share words begin where a word does');
    const type = module.pointer('CrossWorkgroup', module.type(own.element));
    const pointer = body.typed('InBoundsPtrAccessChain', type, binding, values.id);
    this.arrays.set(array.name, { ...own, pointer, storage: 'CrossWorkgroup', path: [] });
  }

  /** The numbers of the block and of the thread. */
  private numbers(body: FunctionBody): void {
    const { module, flavour } = this;
    // In OpenCL they are as wide as addresses.
    const kind: ValueKind = flavour === 'vulkan' ? 'unsigned' : 'unsigned long';
    const three = module.vector(kind, 3);
    const read = (builtin: keyof typeof BUILTIN, type: number): number => {
      const variable = module.variable('Input', type);
      module.decorate(variable, 'BuiltIn', BUILTIN[builtin]);
      this.interfaces.push(variable);
      return body.typed('Load', type, variable);
    };
    const number = (own: string, id: number) => {
      body.name(own, body.converted({ id, kind }, body.kindOf('int')));
    };
    const block = read('WorkgroupId', three);
    for (const [n, own] of ['block_x', 'block_y', 'block_z'].entries()) {
      if (this.lowered.grid.dimensions[n]! > 1 || n === 0)
        number(own, body.emit('CompositeExtract', kind, block, n).id);
    }
    if (flavour === 'vulkan') number('t', read('LocalInvocationIndex', module.type(kind)));
    else number('t', body.emit('CompositeExtract', kind, read('LocalInvocationId', three), 0).id);
  }

  private groupNumber(): Expression {
    const { dimensions, launches } = this.lowered.grid;
    const numbers = dimensions.flatMap((count, axis): Expression[] => {
      const step = dimensions.slice(0, axis).reduce((a, b) => a * b, 1);
      const own = name(`block_${'xyz'[axis]}`);
      if (axis === 0) return [own];
      return count === 1 ? [] : [binary('*', integer(step), own)];
    });
    return chain('+', launches > 1 ? [name('first_group'), ...numbers] : numbers);
  }

  private declareFunction({ name: own, parameters, result, body: statements }: FunctionTree): void {
    const { module } = this;
    const body = new FunctionBody(this.context, true);
    const values = parameters.map(
      (parameter): SpirvValue => ({ id: module.fresh(), kind: body.kindOf(parameter.type) }),
    );
    const kind = body.kindOf(result!);
    const id = module.fresh();
    this.functions.set(own, { id, result: kind, parameters: values.map((value) => value.kind) });
    parameters.forEach((parameter, n) => body.name(parameter.name, values[n]!));
    body.statements(statements);
    this.define(
      id,
      kind,
      values.map((value) => ({ id: value.id, type: module.type(value.kind) })),
      body,
    );
  }

  private define(
    id: number,
    result: ValueKind | 'void',
    parameters: readonly EntryParameter[],
    body: FunctionBody,
  ): void {
    const { module } = this;
    const type = module.type(result);
    const types = parameters.map((parameter) => parameter.type);
    const code = module.functions;
    instruction(code, 'Function', type, id, 0, module.functionType(type, types));
    for (const parameter of parameters) instruction(code, 'FunctionParameter', parameter.type, parameter.id);
    instruction(code, 'Label', body.first);
    for (const word of body.variables) code.push(word);
    for (const word of body.code) code.push(word);
    instruction(code, 'FunctionEnd');
  }
}
