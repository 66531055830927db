/**
 * Device functions: the kernel for one line as a function that a caller's own kernel calls. Elements are passed in registers of each
 * thread, and the caller also provides the shared memory through which threads exchange them.
 */
import { isIntegers, type Kernel, type Table } from '../../ir/index.ts';
import { cFamilyOf } from '../cuda/index.ts';
import { forThreads } from '../lanes.ts';
import { openClFamily } from '../opencl/index.ts';
import { type CFamily, cWords, dialectOf, realName } from '../spmd/c.ts';
import { type Lowered, lower } from '../spmd/lowering/lower.ts';
import type { KernelBinding } from '../spmd/lowering/memory.ts';
import { expression, indented, printedLines } from '../spmd/tree/print.ts';
import type { CallerRegisters } from '../spmd/tree/program.ts';
import { binary, declareConstant, type Expression, integer, mathIn, name as named } from '../spmd/tree/tree.ts';
import { wgslDialect, wgslTypeName, wgslWords } from '../wgsl/index.ts';
import { elementExpression } from './elements.ts';
import { type RegisterSide, registersOf } from './registers.ts';

export type FunctionLanguage = 'cuda' | 'hip' | 'opencl' | 'wgsl';

export interface FunctionOptions {
  readonly language: FunctionLanguage;
  readonly name: string;
  /** Whether each side holds reals. If neither does, both sides are the same registers. */
  readonly isReal: { readonly input: boolean; readonly output: boolean };
  /**
   * Numbers are double-words of the kernel's type: a register holds hi and lo of a real number, and a complex number takes two registers.
   */
  readonly inParts?: boolean;
  /** The contents of a table. */
  readonly contents: (table: Table) => ArrayLike<number>;
  /**
   * Only in WGSL: the binding of the first table, the number of lines in a work-group, and the name of an array of shared memory that is
   * already declared.
   */
  readonly binding: readonly [group: number, binding: number];
  readonly lines: number;
  readonly shared?: string | undefined;
}

/** A table that the caller binds, because the source does not hold it. */
export interface FunctionTable {
  readonly name: string;
  readonly type: 'f32' | 'f64' | 'u32';
  readonly data: ArrayLike<number>;
  /** Only in WGSL: its binding. */
  readonly binding?: readonly [group: number, binding: number];
}

export interface DeviceFunctionText {
  readonly source: string;
  readonly input: RegisterSide;
  readonly output: RegisterSide;
  /** The type of a register on either side. */
  readonly types: { readonly input: string; readonly output: string };
  /** Bytes of shared memory for one line. */
  readonly sharedBytes: number;
  readonly tables: readonly FunctionTable[];
  /** A call of the function, with the names of its parameters as arguments. */
  readonly call: string;
  /** The names of the functions that give the element of a register; missing if only the table gives it. */
  readonly elements: { readonly input?: string; readonly output?: string };
}

/**
 * The device function of a kernel.
 * @param kernel for one line, with one group, from its first global to its second
 * @throws RangeError if the kernel does not work in registers or the language cannot express it
 */
export function emitDeviceFunction(kernel: Kernel, options: FunctionOptions): DeviceFunctionText {
  const own = forThreads(kernel);
  const sides = registersOf(own, options.isReal, options.inParts);
  const inPlace = !options.isReal.input && !options.isReal.output;
  const registers: CallerRegisters = {
    nameOf(array) {
      if (array.space === 'shared' && options.shared !== undefined) return options.shared;
      if (array.space !== 'global') return `${options.name}_${array.name}`;
      return inPlace || array === sides.input.array ? 'x' : 'y';
    },
    isReal: (array) => sides[array === sides.input.array ? 'input' : 'output'].isReal,
    numberOf: (array, at) => sides[array === sides.input.array ? 'input' : 'output'].numberOf(at),
    ...(options.language === 'wgsl' ? { sharedStart: 'start' } : {}),
  };
  const write = options.language === 'wgsl' ? wgslFunction : cFunction;
  return { ...sides, ...write({ kernel: own, registers, sides, inPlace, options }) };
}

interface FunctionRequest {
  readonly kernel: Kernel;
  readonly registers: CallerRegisters;
  readonly sides: { readonly input: RegisterSide; readonly output: RegisterSide };
  readonly inPlace: boolean;
  readonly options: FunctionOptions;
}

type FunctionParts = Omit<DeviceFunctionText, 'input' | 'output'>;

const NO_BINDINGS: readonly KernelBinding[] = [];

/** Constants for kernels that call the function, by the suffixes of their names in the source. */
function functionConstants(
  { kernel, sides }: FunctionRequest,
  sharedBytes: number,
): readonly (readonly [end: string, value: number])[] {
  const [read, written] = [registerCount(sides.input), registerCount(sides.output)];
  return [
    ['threads', kernel.threads],
    ['registers', Math.max(read, written)],
    ['input_registers', read],
    ['output_registers', written],
    ['shared_bytes', sharedBytes],
  ];
}

function registerCount({ elements }: RegisterSide): number {
  return elements[0]!.length;
}

function functionTables(kernel: Kernel, bindings = NO_BINDINGS, contents: FunctionOptions['contents']) {
  return kernel.tables.map((table, n): FunctionTable & { readonly binds: KernelBinding } => ({
    name: bindings[n]!.name,
    type: isIntegers(table) ? 'u32' : (table.type as 'f32' | 'f64'),
    data: contents(table),
    binds: bindings[n]!,
  }));
}

function cFunction(requested: FunctionRequest): FunctionParts {
  const { kernel, registers, sides, inPlace, options } = requested;
  const { language, name, contents } = options;
  const family: CFamily = language === 'opencl' ? openClFamily : cFamilyOf(language as 'cuda' | 'hip');
  // The accesses are plain, because the compiler sees the caller's memory.
  const { read: _, write: __, ...plain } = family;
  const words = cWords(plain);
  const lowered = lower(kernel, { registers }, dialectOf(family));
  const { bindings, shared, sharedBytes } = lowered.memory;
  const tables = functionTables(kernel, bindings, contents);
  const inSource = language !== 'opencl';
  const [local, global] = inSource ? ['', ''] : ['__local ', '__global '];
  const typeOf = (side: RegisterSide) => words.type(lowered.memory.valueType(side.array));
  const types = { input: typeOf(sides.input), output: typeOf(sides.output) };
  const parameters = [
    `${inPlace ? '' : 'const '}${types.input} *x`,
    ...(inPlace ? [] : [`${types.output} *y`]),
    `${local}void *shared`,
    'const int t',
    ...(inSource ? [] : tables.map(({ name, binds }) => `${global}const ${realName(binds)} *${name}`)),
  ];
  const declared = [
    ...shared.map((array) => {
      const pointer = `${local}${realName(array)} *`;
      const from = `(${local}unsigned char *)shared${array.byteOffset === 0 ? '' : ` + ${array.byteOffset}`}`;
      return `${pointer}const ${array.name} = (${pointer})(${from});`;
    }),
    ...(inSource ? tables : []).map(({ name, binds }) => {
      return `const ${realName(binds)} *const ${name} = (const ${realName(binds)} *)${name}_numbers;`;
    }),
  ];
  const { statements } = lowered;
  const found = elementFunctions(sides, options.name, (own, side) => {
    const value = elementExpression(side, options.inParts === true, 'int');
    return value && `${family.inline} int ${own}(const int t, const int j) { return ${expression(value, words)}; }`;
  });
  const numbers = functionConstants(requested, sharedBytes).map(([end, value]) => `${name}_${end} = ${value}`);
  const source = [
    `enum { ${numbers.join(', ')} };`,
    ...plain.preamble(kernel, [], mathIn(statements)).map(guardedHelper),
    ...(inSource ? tables : []).map(tableText),
    ...found.texts,
    `${family.inline} void ${name}(${parameters.join(', ')}) {`,
    ...indented([...declared, ...printedLines(statements, words)]),
    '}',
    '',
  ].join('\n');
  const passed = inSource ? [] : tables.map(({ name }) => name);
  const given = ['x', ...(inPlace ? [] : ['y']), 'shared', 't', ...passed];
  const outside = inSource ? [] : tables.map(({ binds: _, ...table }) => table);
  const { elements } = found;
  return { source, types, sharedBytes, tables: outside, call: `${name}(${given.join(', ')});`, elements };
}

/** The functions that give the element of a register, for both sides. */
function elementFunctions(
  sides: FunctionRequest['sides'],
  name: string,
  write: (own: string, side: RegisterSide) => string | undefined,
): { readonly texts: readonly string[]; readonly elements: DeviceFunctionText['elements'] } {
  const written = (['input', 'output'] as const).flatMap((side) => {
    const own = `${name}_${side}`;
    const text = write(own, sides[side]);
    return text === undefined ? [] : [{ side, own, text }];
  });
  return {
    texts: written.map(({ text }) => text),
    elements: Object.fromEntries(written.map(({ side, own }) => [side, own])),
  };
}

/** A helper function, guarded so that a source may include it more than once. */
function guardedHelper(text: string): string {
  const helper = /(\w+)\(/.exec(text)?.[1];
  if (!helper || text.startsWith('#')) return text;
  return [`#ifndef OMNIFFT_${helper}`, `#define OMNIFFT_${helper}`, text, '#endif'].join('\n');
}

const PER_LINE = 8;

/** The contents of a table as a constant of CUDA and HIP. */
function tableText({ name, type, data }: FunctionTable): string {
  const word = { f32: 'float', f64: 'double', u32: 'unsigned int' }[type];
  const numbers = Array.from(data, (value) => {
    if (type === 'u32') return `${value}u`;
    // Nine digits name a single uniquely; a double prints as the shortest number that does.
    const text = type === 'f32' ? String(Number(value.toPrecision(9))) : String(value);
    return `${/[.e]/.test(text) ? text : `${text}.0`}${type === 'f32' ? 'f' : ''}`;
  });
  const lines = Array.from({ length: Math.ceil(numbers.length / PER_LINE) }, (_, n) =>
    numbers.slice(PER_LINE * n, PER_LINE * (n + 1)).join(', '),
  );
  return [
    `static __device__ const __align__(16) ${word} ${name}_numbers[${numbers.length}] = {`,
    ...lines.map((line) => `  ${line},`),
    '};',
  ].join('\n');
}

/** @throws RangeError for double precision */
function wgslFunction(requested: FunctionRequest): FunctionParts {
  const { kernel, registers, sides, inPlace, options } = requested;
  const { name, contents, binding, lines, shared: given } = options;
  if (kernel.precision !== 'f32') throw new RangeError('WGSL has no double precision');
  const lowered: Lowered = lower(kernel, { registers }, wgslDialect);
  const { bindings, shared, sharedBytes } = lowered.memory;
  const [array] = shared;
  const tables = functionTables(kernel, bindings, contents).map(({ binds, ...table }, n) => ({
    ...{ ...table, binds },
    binding: [binding[0], binding[1] + n] as const,
  }));
  const typeOf = (side: RegisterSide) => wgslTypeName(lowered.memory.valueType(side.array));
  const types = { input: typeOf(sides.input), output: typeOf(sides.output) };
  const pointer = (type: string, side: number) => `ptr<function, array<${type}, ${side}>>`;
  const most = Math.max(registerCount(sides.input), registerCount(sides.output));
  const parameters = [
    `x: ${pointer(types.input, inPlace ? most : registerCount(sides.input))}`,
    ...(inPlace ? [] : [`y: ${pointer(types.output, registerCount(sides.output))}`]),
    'line: u32',
    't: u32',
  ];
  const start: Expression = binary('*', named('line'), integer(array?.length ?? 0));
  const declares = array && given === undefined;
  const text = printedLines(
    [...(array ? [declareConstant('start', 'unsigned', start)] : []), ...lowered.statements],
    wgslWords,
  );
  const found = elementFunctions(sides, name, (own, side) => {
    const value = elementExpression(side, false, 'unsigned');
    return value && `fn ${own}(t: u32, j: u32) -> u32 { return ${expression(value, wgslWords)}; }`;
  });
  const source = [
    ...functionConstants(requested, sharedBytes).map(([end, value]) => `const ${name}_${end} = ${value}u;`),
    ...tables.map(
      ({ name, binding: [group, at], binds }) =>
        `@group(${group}) @binding(${at}) var<storage, read> ${name}: array<${wgslTypeName(binds)}>;`,
    ),
    ...(declares ? [`var<workgroup> ${array.name}: array<${wgslTypeName(array)}, ${lines * array.length}>;`] : []),
    ...found.texts,
    `fn ${name}(${parameters.join(', ')}) {`,
    ...indented(text),
    '}',
    '',
  ].join('\n');
  const pointers = inPlace ? ['&x'] : ['&x', '&y'];
  return {
    ...{ source, types, sharedBytes },
    tables: tables.map(({ binds: _, ...table }) => table),
    call: `${name}(${[...pointers, 'line', 't'].join(', ')});`,
    elements: found.elements,
  };
}
