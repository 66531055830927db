/** Kernels as OpenCL C 1.2. */
import { elementTypeOf, type Kernel } from '../../ir/index.ts';
import { type CFamily, emitC, exactFunctions, realName } from '../spmd/c.ts';
import { exactName } from '../spmd/tree/print.ts';
import type { SpmdOptions, SpmdProgram } from '../spmd/tree/program.ts';
import { polynomialSines } from '../spmd/tree/sines.ts';

/**
 * One kernel. Its arguments are the bindings, the tables and, if the arrangement has offsets, one `long` for each global: its first
 * element, in reals. If there are several launches, the number of the first group follows. Shared memory is declared inside.
 * @throws RangeError if the language cannot express the kernel: too many groups, or an exchange over a cluster.
 */
export function emitOpencl(kernel: Kernel, options: SpmdOptions = {}): SpmdProgram {
  return emitC(kernel, options, openClFamily);
}

const NAMES = { abs: 'fabs', min: 'fmin', max: 'fmax', highBits: 'high_bits', ofHighBits: 'of_high_bits' };
const BITS = { highBits: 'as_uint', ofHighBits: 'as_float' };
const HALVES_OF_DOUBLES = [
  'static inline uint high_bits(const double value) { return as_uint2(value).y; }',
  'static inline double of_high_bits(const uint high, const uint low) { return as_double((uint2)(low, high)); }',
  '',
];

export const openClFamily: CFamily = {
  language: 'opencl',
  wide: { type: 'long', suffix: 'L' },
  reserved: ['complex', 'event_t', 'image', 'imaginary', 'pipe', 'private', 'quad', 'sampler_t', 'uniform'],
  clusters: false,
  global: '__global ',
  restrict: 'restrict',
  inline: 'static inline',
  group: (axis) => `get_group_id(${axis})`,
  thread: 'get_local_id(0)',
  pair: (re, im, type) => `(${type})(${re}, ${im})`,
  math: (own, type) => exactName(own) ?? { ...NAMES, ...(type === 'f32' ? BITS : {}) }[own as string] ?? own,
  // Every device can load and store halves in memory; conversions do that with a variable of the thread.
  fromHalf: () => ['return vload_half(0, (const half *)&bits);'],
  toHalf: () => ['unsigned short bits;', 'vstore_half_rte(value, 0, (half *)&bits);', 'return bits;'],
  sines: polynomialSines,
  unconditional: true,
  barrier({ scope, globals }) {
    if (scope === 'cluster') throw new RangeError('OpenCL has no exchange over a cluster of groups');
    return `barrier(CLK_LOCAL_MEM_FENCE${globals ? ' | CLK_GLOBAL_MEM_FENCE' : ''});`;
  },
  preamble({ precision }, _, math) {
    const exact = exactFunctions(math, elementTypeOf(precision), 'static inline', []);
    return [
      ...(precision === 'f64' ? ['#pragma OPENCL EXTENSION cl_khr_fp64 : enable'] : []),
      ...(precision === 'f64' && (math.has('highBits') || math.has('ofHighBits')) ? HALVES_OF_DOUBLES : []),
      ...(exact.length > 0 ? ['#pragma OPENCL FP_CONTRACT OFF', ...exact] : []),
    ];
  },
  head: (threads) => `__kernel __attribute__((reqd_work_group_size(${threads}, 1, 1))) void`,
  shared: (array) => [`__local ${realName(array)} ${array.name}[${array.length}];`],
};
