/** Kernels as CUDA C++, or as HIP, whose source differs in a few words. The size of shared memory is given at launch. */
import { type ElementType, elementTypeOf, type Kernel } from '../../ir/index.ts';
import { type CFamily, emitC, exactFunctions, realName } from '../spmd/c.ts';
import { exactName } from '../spmd/tree/print.ts';
import type { SpmdOptions, SpmdProgram } from '../spmd/tree/program.ts';
import { type Barrier, call, type MathName, name, type Statement, unary, type ValueType } from '../spmd/tree/tree.ts';

export interface CudaOptions extends SpmdOptions {
  readonly dialect?: 'cuda' | 'hip';
}

/**
 * One `extern "C"` kernel. Its parameters are the bindings, the tables and, if the arrangement has offsets, one 64-bit integer for each
 * global: its first element, in reals. If there are several launches, the number of the first group follows.
 * @throws RangeError if the language cannot express the kernel: too many groups, or an exchange over a cluster in HIP.
 */
export function emitCuda(kernel: Kernel, options: CudaOptions = {}): SpmdProgram {
  return emitC(kernel, options, cFamilyOf(options.dialect ?? 'cuda'));
}

/** A function for distributed shared memory: the address of another block's copy of an array. */
const BLOCK_COPY = [
  'template <typename T> static __device__ __forceinline__ T *block_copy(T *own, int block) {',
  '  unsigned long long address;',
  '  asm("mapa.u64 %0, %1, %2;" : "=l"(address) : "l"(own), "r"(block));',
  '  return (T *)address;',
  '}',
  '',
].join('\n');

const CLUSTER_BARRIER = 'asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");';

/**
 * The cluster barrier after reads only. There are no writes to publish to the whole GPU, so the fence only has to order the thread's reads,
 * which are all from its own block's memory.
 */
const CLUSTER_HAS_READ =
  'asm volatile("fence.acq_rel.cta; barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");';

/** A cluster barrier before any writes. It only waits until all blocks have started, so it needs no fence. */
const BEGUN = {
  say: 'asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");',
  wait: 'asm volatile("barrier.cluster.wait.aligned;" ::: "memory");',
};

/**
 * A function that reads shared memory by an inline instruction, which the compiler's optimiser does not analyse. That saves a tenth of its
 * time. It takes a 32-bit address, because a pointer would cost registers. Stores of this kind would make kernels slower.
 */
function sharedLoad(value: ValueType): string {
  const { register, bits } = value.type === 'f32' ? { register: 'f', bits: 32 } : { register: 'd', bits: 64 };
  const [kind, from, values, bytes] = value.pair
    ? [`v2.f${bits}`, '{%0, %1}, [%2]', ['value.x', 'value.y'], bits / 4]
    : [`f${bits}`, '%0, [%1]', ['value'], bits / 8];
  const type = realName(value);
  const results = values.map((value) => `"=${register}"(${value})`).join(', ');
  return [
    `static __device__ __forceinline__ ${type} shared_${type}(const unsigned int array, const int at) {`,
    `  ${type} value;`,
    `  asm volatile("ld.shared.${kind} ${from};" : ${results} : "r"(array + ${bytes} * at) : "memory");`,
    '  return value;',
    '}',
    '',
  ].join('\n');
}

/** Loads from shared memory and stores to globals bypass the optimiser; streamed accesses carry a cache hint. */
const WORDS: Pick<CFamily, 'read' | 'write'> = {
  read({ space, type, streamed }, array, at) {
    const real = typeof type === 'object' && type.type !== 'f16';
    if (space === 'shared' && real) return `shared_${realName(type)}(${array}_address, ${at})`;
    return streamed === 'loads' ? `__ldcs(&${array}[${at}])` : undefined;
  },
  /**
   * A store with the default cache hint is the same instruction as a plain store, but the compiler's optimiser does not analyse it. It would
   * find nothing to improve there, and it takes a seventh of its time less.
   */
  write({ space, streamed }, array, at, value) {
    if (space !== 'global') return undefined;
    return `${streamed === 'stores' ? '__stcs' : '__stwb'}(&${array}[${at}], ${value});`;
  },
};

const AXES = ['x', 'y', 'z'];
const INLINE = 'static __device__ __forceinline__';

/** Intrinsics of correctly rounded operations, which the compiler never contracts. */
const ROUNDED: Partial<Record<MathName, Record<ElementType, string>>> = {
  exactAdd: { f32: '__fadd_rn', f64: '__dadd_rn' },
  exactSub: { f32: '__fsub_rn', f64: '__dsub_rn' },
  exactMul: { f32: '__fmul_rn', f64: '__dmul_rn' },
};

/** Intrinsics of bits, of both languages. */
const BITS: Partial<Record<MathName, Record<ElementType, string>>> = {
  highBits: { f32: '__float_as_uint', f64: '__double2hiint' },
  ofHighBits: { f32: '__uint_as_float', f64: '__hiloint2double' },
};

function mathName(math: MathName, type: ElementType): string {
  const name = { abs: 'fabs', min: 'fmin', max: 'fmax' }[math as string] ?? math;
  return type === 'f32' ? `${name}f` : name;
}

/** Conversions by inline instructions. CUDA's type of halves needs a header, which not every run-time compiler finds. */
const CUDA_HALVES: Pick<CFamily, 'fromHalf' | 'toHalf'> = {
  fromHalf: (type) => [
    `${realName({ type, pair: false })} value;`,
    `asm("cvt.${type}.f16 %0, %1;" : "=${type === 'f32' ? 'f' : 'd'}"(value) : "h"(bits));`,
    'return value;',
  ],
  toHalf: (type) => [
    'unsigned short bits;',
    `asm("cvt.rn.f16.${type} %0, %1;" : "=h"(bits) : "${type === 'f32' ? 'f' : 'd'}"(value));`,
    'return bits;',
  ],
};

const HIP_HALVES: Pick<CFamily, 'fromHalf' | 'toHalf'> = {
  fromHalf: () => ['return __builtin_bit_cast(_Float16, bits);'],
  toHalf: () => ['return __builtin_bit_cast(unsigned short, (_Float16)value);'],
};

/** @throws RangeError for a cluster barrier in HIP. */
function barrierText({ scope, readsOnly, begun }: Barrier, language: 'cuda' | 'hip'): string {
  if (begun) return BEGUN[begun];
  if (scope === 'cluster') {
    if (language === 'hip') throw new RangeError('HIP has no exchange over a cluster of groups');
    return readsOnly ? CLUSTER_HAS_READ : CLUSTER_BARRIER;
  }
  return '__syncthreads();';
}

function cudaSines(type: ElementType): Statement[] {
  const results = ['s', 'c'];
  const real = { type, pair: false };
  const pointers = results.map((each) => unary('&', name(each)));
  return [
    ...results.map((each) => ({ op: 'declare', name: each, type: real, constant: false }) as const),
    { op: 'call', value: call(type === 'f32' ? 'sincospif' : 'sincospi', name('x'), ...pointers) },
  ];
}

export function cFamilyOf(language: 'cuda' | 'hip'): CFamily {
  return {
    language,
    wide: { type: 'long long', suffix: 'LL' },
    reserved: [
      'blockIdx',
      'threadIdx',
      'blockDim',
      'gridDim',
      'warpSize',
      'shared_bytes',
      'block_copy',
      'rank',
      'shared_float',
      'shared_float2',
      'shared_double',
      'shared_double2',
    ],
    global: '',
    restrict: '__restrict__',
    inline: INLINE,
    group: (axis) => `blockIdx.${AXES[axis]}`,
    thread: 'threadIdx.x',
    pair: (re, im, type) => `make_${type}(${re}, ${im})`,
    math: (own, type) =>
      BITS[own]?.[type] ?? ((language === 'cuda' && ROUNDED[own]?.[type]) || (exactName(own) ?? mathName(own, type))),
    ...(language === 'cuda' ? CUDA_HALVES : HIP_HALVES),
    sines: cudaSines,
    barrier: (barrier) => barrierText(barrier, language),
    preamble({ cluster, precision }, shared, math) {
      if (language === 'hip')
        return exactFunctions(math, elementTypeOf(precision), INLINE, ['#pragma clang fp contract(off)']);
      const loads = new Set(shared.filter(({ read, type }) => read && type !== 'f16').map(sharedLoad));
      return [...(cluster ? [BLOCK_COPY] : []), ...loads];
    },
    clusters: language === 'cuda',
    ...(language === 'cuda' ? WORDS : {}),
    head: (threads, blocks, beside) => {
      const cluster = blocks > 1 ? ` __cluster_dims__(${blocks}, 1, 1)` : '';
      // The second number has another meaning in HIP.
      const bounds = beside && language === 'cuda' ? `${threads}, ${beside}` : threads;
      return `extern "C" __global__ void${cluster} __launch_bounds__(${bounds})`;
    },
    sharedBytes: 'extern __shared__ __align__(16) unsigned char shared_bytes[];',
    shared(array) {
      const { name, byteOffset, read } = array;
      const type = realName(array);
      const start = byteOffset === 0 ? 'shared_bytes' : `(shared_bytes + ${byteOffset})`;
      const address = `const unsigned int ${name}_address = (unsigned int)__cvta_generic_to_shared(${name});`;
      return [
        `${type} *const ${name} = (${type} *)${start};`,
        ...(language === 'cuda' && read && array.type !== 'f16' ? [address] : []),
      ];
    },
  };
}
