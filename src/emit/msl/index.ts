/** Kernels in the Metal Shading Language, for Apple's GPUs. */
import type { Kernel } from '../../ir/index.ts';
import { type CFamily, emitC, exactFunctions, realName } from '../spmd/c.ts';
import { exactName } from '../spmd/tree/print.ts';
import type { SpmdOptions, SpmdProgram } from '../spmd/tree/program.ts';
import { polynomialSines } from '../spmd/tree/sines.ts';
import type { MathName } from '../spmd/tree/tree.ts';

/**
 * One kernel. Its buffers are the bindings, the tables and, if the arrangement has offsets, one `long` for each global: its first
 * element, in reals. If there are several launches, the number of the first group follows. Threadgroup memory is declared inside.
 * @throws RangeError if the language cannot express the kernel: doubles, too many groups, or an exchange over a cluster.
 */
export function emitMsl(kernel: Kernel, options: SpmdOptions = {}): SpmdProgram {
  return emitC(kernel, options, FAMILY);
}

/**
 * Pragmas that keep Metal's compiler from reassociating sums. They work within a function since version 3.2; before that, the options that
 * a library is compiled with do the same.
 */
const AS_WRITTEN = [
  '#if __METAL_VERSION__ >= 320',
  '  #pragma METAL fp math_mode(safe)',
  '  #pragma METAL fp contract(off)',
  '#endif',
];

const INLINE = 'static inline';

const NAMES: Partial<Record<MathName, string>> = {
  ...{ abs: 'fabs', min: 'fmin', max: 'fmax', fma: 'exact_fma' },
  ...{ highBits: 'as_type<uint>', ofHighBits: 'as_type<float>' },
};

const FAMILY: CFamily = {
  language: 'msl',
  wide: { type: 'long', suffix: 'L' },
  reserved: [
    ...['access', 'buffer', 'constant', 'device', 'exact_fma', 'fragment', 'half2', 'kernel', 'metal', 'metal_group'],
    ...['metal_thread', 'object_data', 'sampler', 'texture', 'thread', 'threadgroup', 'uchar', 'ushort', 'vertex'],
  ],
  clusters: false,
  global: 'device ',
  restrict: '',
  inline: INLINE,
  group: (axis) => `metal_group.${'xyz'[axis]}`,
  thread: 'metal_thread',
  pair: (re, im, type) => `${type}(${re}, ${im})`,
  math: (own) => exactName(own) ?? NAMES[own] ?? own,
  fromHalf: () => ['return float(as_type<half>(bits));'],
  toHalf: () => ['return as_type<ushort>(half(value));'],
  sines: polynomialSines,
  barrier({ scope, globals }) {
    if (scope === 'cluster') throw new RangeError('Metal has no exchange over a cluster of groups');
    return `threadgroup_barrier(mem_flags::mem_threadgroup${globals ? ' | mem_flags::mem_device' : ''});`;
  },
  preamble(kernel, _, math) {
    const arrays = [...kernel.globals, ...kernel.tables, ...kernel.shared];
    if (kernel.precision === 'f64' || arrays.some(({ type }) => type === 'f64')) {
      throw new RangeError('Metal has no doubles');
    }
    const exact = exactFunctions(math, 'f32', INLINE, AS_WRITTEN);
    return ['#include <metal_stdlib>', 'using namespace metal;', '', ...exact, ...roundedOnce(math)];
  },
  head: (threads) => `[[max_total_threads_per_threadgroup(${threads})]] kernel void`,
  entry: {
    parameter: (declared, place) => `${declared.replace(/^const (long) /, 'constant $1 &')} [[buffer(${place})]]`,
    more: ['uint3 metal_group [[threadgroup_position_in_grid]]', 'uint metal_thread [[thread_index_in_threadgroup]]'],
  },
  shared: (array) => [`threadgroup ${realName(array)} ${array.name}[${array.length}];`],
};

/** Helpers for products and sums that are rounded once. */
function roundedOnce(math: ReadonlySet<MathName>): string[] {
  if (!math.has('fma')) return [];
  const head = `${INLINE} float exact_fma(const float a, const float b, const float c) {`;
  return [[head, ...AS_WRITTEN, '  return fma(a, b, c);', '}', ''].join('\n')];
}
