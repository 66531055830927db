/** Kernels as WGSL. */
import type { Kernel } from '../../ir/index.ts';
import { launchOf, lower } from '../spmd/lowering/lower.ts';
import { type Dialect, pieceFunctions } from '../spmd/lowering/memory.ts';
import { exactName, indented, printedLines, type Words } from '../spmd/tree/print.ts';
import type { SpmdOptions, SpmdProgram } from '../spmd/tree/program.ts';
import {
  binary,
  chain,
  declareConstant,
  type Expression,
  element,
  type FunctionTree,
  integer,
  mathIn,
  name,
  type Type,
  type ValueType,
} from '../spmd/tree/tree.ts';
import { asOperators, exactWgslFunctions, NOTHING } from './exact.ts';
import { halfWgslFunctions, isLoneHalf, readHalf, readMixed, writeHalf, writeMixed } from './halves.ts';

/** The number of groups in one dimension that every WebGPU device allows. */
const MAX_GROUPS = 65535;

/**
 * One module with one entry point. Bind group 0 has the bindings, the tables and, if the arrangement has offsets, a uniform buffer of
 * 32-bit integers: the first element of each global, in reals. If there are several launches, the number of the first group follows in
 * that buffer.
 * @throws RangeError for double precision, for indices beyond 32 bits, for too many groups, and for an exchange over a
 * cluster: WGSL has none of them.
 */
export function emitWgsl(kernel: Kernel, options: SpmdOptions = {}): SpmdProgram {
  const arrays = [...kernel.globals, ...kernel.tables, ...kernel.shared];
  if (kernel.precision === 'f64' || arrays.some(({ type }) => type === 'f64')) {
    throw new RangeError(`WGSL has no double precision (f64), which the kernel ${kernel.name} needs`);
  }
  const lowered = lower(kernel, { maxGroups: MAX_GROUPS, ...options }, wgslDialect);
  const { entry, threads, grid, memory } = lowered;
  const { statements, kept } = options.unguarded
    ? asOperators(lowered.statements)
    : { statements: lowered.statements, kept: false };
  const { bindings, shared, offsets, pieced } = memory;
  const groups = grid.dimensions;
  const uniforms = offsets.length + (grid.launches > 1 ? 1 : 0);
  const numbers = groups.flatMap((count, axis): Expression[] => {
    const step = groups.slice(0, axis).reduce((a, b) => a * b, 1);
    const number = name(`block.${'xyz'[axis]}`);
    if (axis === 0) return [number];
    return count === 1 ? [] : [binary('*', integer(step), number)];
  });
  if (grid.launches > 1) numbers.unshift(uniform(offsets.length));
  const starts = offsets.map(({ name, number, pair }) => {
    const start = uniform(number);
    return declareConstant(`${name}_start`, 'unsigned', pair ? binary('>>', start, integer(1)) : start);
  });
  const exact = exactWgslFunctions(mathIn(statements), kept);
  const body = [declareConstant('group', 'unsigned', chain('+', numbers)), ...starts, ...statements];
  const source = [
    ...bindings.map((array, n) => {
      const access = array.written ? 'read_write' : 'read';
      return `@group(0) @binding(${n}) var<storage, ${access}> ${array.name}: array<${elementName(array, array.written)}>;`;
    }),
    ...(uniforms > 0
      ? [`@group(0) @binding(${bindings.length}) var<uniform> offsets: array<vec4<u32>, ${Math.ceil(uniforms / 4)}>;`]
      : []),
    ...shared.map((array) => {
      const length = isLoneHalf(array) ? Math.ceil(array.length / 2) : array.length;
      return `var<workgroup> ${array.name}: array<${elementName(array, true)}, ${length}>;`;
    }),
    ...halfWgslFunctions(memory.conversions),
    ...exact,
    ...pieced.flatMap((array) => pieceFunctions(array, wgslDialect, 'unsigned')).flatMap(functionText),
    '',
    `@compute @workgroup_size(${threads})`,
    `fn ${entry}(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) t: u32) {`,
    ...(exact.length > 0 ? [`  ${NOTHING}`] : []),
    ...indented(printedLines(body, wgslWords)),
    '}',
    '',
  ].join('\n');
  return { language: 'wgsl', source, ...launchOf(lowered) };
}

export function wgslTypeName(type: Type): string {
  if (typeof type !== 'object') return type === 'bool' ? type : 'u32';
  if ('to' in type || type.type === 'f16' || type.type === 'u32') return 'u32';
  return type.pair ? 'vec2<f32>' : 'f32';
}

/** The type of an array's elements in memory. Words in which two threads write one half each are atomic. */
function elementName(type: ValueType & { readonly mixed?: boolean }, written: boolean): string {
  return written && (type.mixed || isLoneHalf(type)) ? 'atomic<u32>' : wgslTypeName(type);
}

/** A number given at launch. */
function uniform(number: number): Expression {
  const four = element(name('offsets'), integer(number >> 2, 'int'), 'unsigned');
  return { op: 'member', member: COMPONENTS[number & 3]!, of: [four] };
}

const COMPONENTS = ['x', 'y', 'z', 'w'] as const;

function functionText({ name, parameters, result, body }: FunctionTree): string[] {
  const declared = parameters.map((parameter) => `${parameter.name}: ${wgslTypeName(parameter.type)}`);
  const type = result ? ` -> ${wgslTypeName(result)}` : '';
  return [`fn ${name}(${declared.join(', ')})${type} {`, ...indented(printedLines(body, wgslWords)), '}'];
}

const RESERVED = `
  exact_add exact_mul exact_sub float_of_half float2_of_half2 half_of_float half2_of_float2 kept nothing
  active alias array asm atomic auto await binding block bool break builtin case class common compile compute const
  continue default device discard do else enum export extern f16 f32 false final fn for friend from function get
  global group half handle i32 if impl import in inline input_ let loop macro mat mod module new null of offsets out
  override packed pass private ptr ref regardless require resource return sampler self set shared smooth static std
  storage struct super switch t target template this true try type typedef u32 uniform union unless using var vec
  vec2 virtual where while with workgroup writeonly yield`;

export const wgslDialect: Dialect = {
  wideIntegers: false,
  pointers: false,
  clusters: false,
  sines: false,
  reserved: new Set(RESERVED.trim().split(/\s+/)),
};

export const wgslWords: Words = {
  type: wgslTypeName,
  integer: (value) => `${value}u`,
  cast: (to, operand) => `${wgslTypeName(to)}(${operand})`,
  pair: (re, im) => `vec2<f32>(${re}, ${im})`,
  select: (condition, then, otherwise) => `select(${otherwise}, ${then}, ${condition})`,
  declare(own, type, isConstant, value) {
    return isConstant
      ? `let ${own} = ${value};`
      : `var ${own}: ${wgslTypeName(type)}${value === undefined ? '' : ` = ${value}`};`;
  },
  math(own) {
    if (own === 'fma') throw new RangeError('WGSL has no product and sum that are surely rounded once');
    return exactName(own) ?? { highBits: 'bitcast<u32>', ofHighBits: 'bitcast<f32>' }[own as string] ?? own;
  },
  read(element, array, at) {
    if (element.mixed) return readMixed(element, array, at);
    return isLoneHalf(element.type) ? readHalf(array, at, element.written ?? false) : undefined;
  },
  write(element, array, at, value) {
    if (element.mixed) return writeMixed(element, array, at, value);
    return isLoneHalf(element.type) ? writeHalf(array, at, value) : undefined;
  },
  loop: (counter, end) => `for (var ${counter} = 0u; ${counter} < ${end}; ${counter}++)`,
  barrier({ scope, globals }) {
    if (scope === 'cluster') throw new RangeError('WGSL has no exchange over a cluster of groups');
    return globals ? 'workgroupBarrier(); storageBarrier();' : 'workgroupBarrier();';
  },
};
