/** Kernels as WGSL. */
import type { ElementType, Kernel } from '../../ir/index.ts';
import { type Dialect, decimal, type ValueType } from '../spmd/dialect.ts';
import { groupsOf } from '../spmd/grid.ts';
import { lower } from '../spmd/lower.ts';
import type { OffsetArray, PiecedArray } from '../spmd/memory.ts';
import type { SpmdOptions, SpmdProgram } from '../spmd/program.ts';

/** What every WebGPU device allows in one dimension. */
const MAX_GROUPS = 65535;

/**
 * One module with one entry point. In bind group 0 lie the bindings, the tables and, where the arrangement has
 * offsets, a uniform buffer of 32-bit integers: the first element of each global, in reals. Where there are several
 * launches, the number of the first group follows there.
 * @throws RangeError for double precision, for indices beyond 32 bits, for too many groups, and for an exchange over a
 * cluster: WGSL has none of them.
 */
export function emitWgsl(kernel: Kernel, options: SpmdOptions = {}): SpmdProgram {
  const arrays = [...kernel.globals, ...kernel.tables, ...kernel.shared];
  if (kernel.precision === 'f64' || arrays.some(({ type }) => type === 'f64')) {
    throw new RangeError(`WGSL has no double precision (f64), which the kernel ${kernel.name} needs`);
  }
  const { entry, threads, grid, memory, lines } = lower(kernel, { maxGroups: MAX_GROUPS, ...options }, DIALECT);
  const { bindings, shared, offsets, pieced } = memory;
  const groups = grid.dimensions;
  const uniforms = offsets.length + (grid.launches > 1 ? 1 : 0);
  const numbers = groups.flatMap((count, axis) => {
    const step = groups.slice(0, axis).reduce((a, b) => a * b, 1);
    const name = `block.${'xyz'[axis]}`;
    return axis === 0 ? [name] : count === 1 ? [] : [`${step}u * ${name}`];
  });
  if (grid.launches > 1) numbers.unshift(uniform(offsets.length));
  const body = [`let group = ${numbers.join(' + ')};`, ...offsets.map(start), ...lines];
  const source = [
    ...bindings.map(({ name, written, ...type }, n) => {
      const access = written ? 'read_write' : 'read';
      return `@group(0) @binding(${n}) var<storage, ${access}> ${name}: array<${typeName(type)}>;`;
    }),
    ...(uniforms > 0
      ? [`@group(0) @binding(${bindings.length}) var<uniform> offsets: array<vec4<u32>, ${Math.ceil(uniforms / 4)}>;`]
      : []),
    ...shared.map((array) => `var<workgroup> ${array.name}: array<${typeName(array)}, ${array.length}>;`),
    ...pieced.flatMap(piecewise),
    '',
    `@compute @workgroup_size(${threads})`,
    `fn ${entry}(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) t: u32) {`,
    ...body.map((line) => (line === '' ? '' : `  ${line}`)),
    '}',
    '',
  ].join('\n');
  return {
    language: 'wgsl',
    source,
    entry,
    threads,
    groups,
    launches: grid.launches,
    launchSize: groupsOf(grid),
    cluster: 1,
    sharedBytes: memory.sharedBytes,
    bindings: bindings.map(({ written }) => ({ written })),
    alignments: memory.alignments,
  };
}

function typeName({ pair }: Pick<ValueType, 'pair'>): string {
  return pair ? 'vec2<f32>' : 'f32';
}

function start({ name, number, pair }: OffsetArray): string {
  return `let ${name}_start = ${uniform(number)}${pair ? ' >> 1u' : ''};`;
}

/** A number that is given at launch. */
function uniform(number: number): string {
  return `offsets[${number >> 2}].${'xyzw'[number & 3]}`;
}

/** Functions that find the piece which holds a value. */
function piecewise(array: PiecedArray): string[] {
  const type = typeName(array);
  const chain = (access: (place: string) => string): string[] =>
    array.pieces.map(({ binding, first }, n) => {
      const next = array.pieces[n + 1];
      const found = access(`${binding.name}[at${first > 0 ? ` - ${first}u` : ''}]`);
      return next ? `  if (at < ${next.first}u) { ${found} }` : `  ${found}`;
    });
  const lines: string[] = [];
  if (array.read) {
    const body = chain((place) => `return ${place};`);
    lines.push(`fn load_${array.name}(at: u32) -> ${type} {`, ...body, '}');
  }
  if (array.written) {
    const last = array.pieces.length - 1;
    const body = chain((place) => `${place} = value;`).map((line, n) =>
      n < last ? line.replace(' }', ' return; }') : line,
    );
    lines.push(`fn store_${array.name}(at: u32, value: ${type}) {`, ...body, '}');
  }
  return lines;
}

const RESERVED = `
  active alias array asm atomic auto await binding block bool break builtin case class common compile compute const
  continue default device discard do else enum export extern f16 f32 false final fn for friend from function get
  global group half handle i32 if impl import in inline input_ let loop macro mat mod module new null of offsets out
  override packed pass private ptr ref regardless require resource return sampler self set shared smooth static std
  storage struct super switch t target template this true try type typedef u32 uniform union unless using var vec
  vec2 virtual where while with workgroup writeonly yield`;

const DIALECT: Dialect = {
  wideIntegers: false,
  pointers: false,
  reserved: new Set(RESERVED.trim().split(/\s+/)),
  integer: (value) => `${value}u`,
  widen: (operand) => operand,
  quotient(kind, of, by) {
    if (!Number.isInteger(Math.log2(by))) return `${of} ${kind === 'div' ? '/' : '%'} ${by}u`;
    return kind === 'div' ? `${of} >> ${Math.log2(by)}u` : `${of} & ${by - 1}u`;
  },
  declareInteger: (name, value) => `let ${name} = ${value};`,
  declareValue: (name, value) => `let ${name} = ${value};`,
  declareVariable: (name, type) => `var ${name} = ${typeName(type)}();`,
  literal: (value: number, type: ElementType) => `${decimal(value, type)}f`,
  pair: (re, im) => `vec2<f32>(${re}, ${im})`,
  loop: (counter, rounds) => `for (var ${counter} = 0u; ${counter} < ${rounds}u; ${counter}++)`,
  barrier({ scope, globals }) {
    if (scope === 'cluster') throw new RangeError('WGSL has no exchange over a cluster of groups');
    return globals ? 'workgroupBarrier(); storageBarrier();' : 'workgroupBarrier();';
  },
};
