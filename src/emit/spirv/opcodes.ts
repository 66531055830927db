/** Numbers of the SPIR-V specification (unified, versions 1.0 to 1.5), under its own names. */

export const OP = {
  Undef: 1,
  ...{
    Extension: 10,
    ExtInstImport: 11,
    ExtInst: 12,
    MemoryModel: 14,
    EntryPoint: 15,
    ExecutionMode: 16,
    Capability: 17,
  },
  ...{ TypeVoid: 19, TypeBool: 20, TypeInt: 21, TypeFloat: 22, TypeVector: 23, TypeArray: 28, TypeRuntimeArray: 29 },
  ...{ TypeStruct: 30, TypePointer: 32, TypeFunction: 33, Constant: 43, Function: 54 },
  ...{ SpecConstant: 50, SpecConstantComposite: 51 },
  ...{ FunctionParameter: 55, FunctionEnd: 56, FunctionCall: 57, Variable: 59, Load: 61, Store: 62 },
  ...{ InBoundsAccessChain: 66, InBoundsPtrAccessChain: 70, Decorate: 71, MemberDecorate: 72 },
  ...{
    CompositeConstruct: 80,
    CompositeExtract: 81,
    CompositeInsert: 82,
    ConvertSToF: 111,
    ConvertUToF: 112,
    UConvert: 113,
    SConvert: 114,
  },
  ...{ FConvert: 115, Bitcast: 124, SNegate: 126, FNegate: 127, IAdd: 128, FAdd: 129, ISub: 130, FSub: 131, IMul: 132 },
  ...{ FMul: 133, UDiv: 134, SDiv: 135, FDiv: 136, UMod: 137, SRem: 138, LogicalOr: 166, LogicalAnd: 167, Select: 169 },
  ...{
    IEqual: 170,
    INotEqual: 171,
    UGreaterThan: 172,
    SGreaterThan: 173,
    UGreaterThanEqual: 174,
    SGreaterThanEqual: 175,
  },
  ...{ ULessThan: 176, SLessThan: 177, ULessThanEqual: 178, SLessThanEqual: 179, FOrdEqual: 180, FUnordNotEqual: 183 },
  ...{ FOrdLessThan: 184, FOrdGreaterThan: 186, FOrdLessThanEqual: 188, FOrdGreaterThanEqual: 190 },
  ...{ ShiftRightLogical: 194, ShiftRightArithmetic: 195, ShiftLeftLogical: 196, BitwiseOr: 197, BitwiseAnd: 199 },
  ...{ ControlBarrier: 224, AtomicAnd: 240, AtomicOr: 241, Phi: 245, LoopMerge: 246, SelectionMerge: 247, Label: 248 },
  ...{ Branch: 249, BranchConditional: 250, Return: 253, ReturnValue: 254 },
} as const;
export type Opcode = keyof typeof OP;

export const CAPABILITY = {
  ...{ Shader: 1, Addresses: 4, Kernel: 6, Float64: 10, Int64: 11, Int16: 22 },
  ...{ StorageBuffer16BitAccess: 4433, PhysicalStorageBufferAddresses: 5347 },
} as const;
export type Capability = keyof typeof CAPABILITY;

export const STORAGE = {
  ...{ Input: 1, Workgroup: 4, CrossWorkgroup: 5, Function: 7, PushConstant: 9, PhysicalStorageBuffer: 5349 },
} as const;
export type StorageClass = keyof typeof STORAGE;

export const DECORATION = {
  ...{ SpecId: 1, Block: 2, ArrayStride: 6, BuiltIn: 11, NonWritable: 24, Offset: 35, NoContraction: 42 },
} as const;
export const BUILTIN = { WorkgroupSize: 25, WorkgroupId: 26, LocalInvocationId: 27, LocalInvocationIndex: 29 } as const;
export const MODE = { LocalSize: 17, ContractionOff: 31 } as const;
export const SCOPE = { device: 1, group: 2 } as const;
/** Memory semantics of a barrier, which makes earlier writes to these kinds of memory visible. */
export const SEMANTICS = {
  AcquireRelease: 0x8,
  UniformMemory: 0x40,
  WorkgroupMemory: 0x100,
  CrossWorkgroupMemory: 0x200,
};
/** A memory operand that is followed by the alignment. */
export const ALIGNED = 2;

/** Functions of the extended instruction sets GLSL.std.450 and OpenCL.std. */
export const GLSL = { abs: 4, sqrt: 31, min: 37, max: 40, fma: 50 } as const;
export const OPENCL = { abs: 23, sqrt: 61, min: 28, max: 27, fma: 26 } as const;
