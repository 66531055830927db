/**
 * Code shared by CUDA, HIP, OpenCL C and Metal's language: the words of C, and the frame around the statements of a kernel.
 */
import { type ElementType, elementTypeOf, type Kernel } from '../../ir/index.ts';
import { conversionFunction, type HalfWords, involvesHalf, partConversion } from './conversions.ts';
import { type Lowered, launchOf, lower } from './lowering/lower.ts';
import {
  type Conversion,
  conversionName,
  type Dialect,
  pieceFunctions,
  pointerTo,
  type SharedArray,
} from './lowering/memory.ts';
import { type RootWords, rootFunctions } from './lowering/root.ts';
import { EXACT, indented, printedLines, type Words } from './tree/print.ts';
import type { SpmdOptions, SpmdProgram } from './tree/program.ts';
import {
  binary,
  cast,
  chain,
  declareConstant,
  type Expression,
  integer,
  type MathName,
  mathIn,
  name,
  namesUsed,
  type Parameter,
  type Pointer,
  type Statement,
  type Type,
  type ValueType,
} from './tree/tree.ts';

/** The differences between CUDA, HIP, OpenCL C and Metal's language. */
export interface CFamily extends RootWords, HalfWords, Pick<Words, 'barrier' | 'math' | 'read' | 'write'> {
  readonly language: Exclude<SpmdProgram['language'], 'wgsl'>;
  readonly reserved: Iterable<string>;
  readonly clusters: boolean;
  /** The type of 64-bit integers and the suffix of their literals. */
  readonly wide: { readonly type: string; readonly suffix: string };
  /** Qualifiers of a function that the kernel calls. */
  readonly inline: string;
  /** Qualifier of a pointer to global memory. */
  readonly global: string;
  readonly restrict: string;
  /** The group's number along x, y or z, and the thread's along x. */
  group(axis: number): string;
  readonly thread: string;
  pair(re: string, im: string, type: string): string;
  /** Text before all functions: includes, pragmas and helper functions. */
  preamble(kernel: Kernel, shared: readonly SharedArray[], math: ReadonlySet<MathName>): readonly string[];
  /** Qualifiers of the entry point. */
  head(threads: number, blocks: number, beside: number | undefined): string;
  /** Parameters of the entry point, in languages that declare them otherwise than parameters of other functions (Metal). */
  readonly entry?: {
    /** The declaration of a parameter. @param place its number among the kernel's parameters, from 0 */
    parameter(declared: string, place: number): string;
    /** Parameters behind the kernel's own. */
    readonly more: readonly string[];
  };
  /** Declares the memory of all shared arrays, if the language has a single array for them. */
  readonly sharedBytes?: string;
  /** Declares a shared array. */
  shared(array: SharedArray): readonly string[];
}

const RESERVED = `
  auto bool break case char class const constant continue default delete do double double_of_float double_of_half double2_of_float2
  double2_of_half2 else enum exact_add exact_mul exact_sub extern high_bits of_high_bits false first_group float float_of_double float_of_half
  float2_of_double2 float2_of_half2 for half_of_double half_of_float half2_of_double2 half2_of_float2 friend generic global goto group half if inline int kernel local long namespace new operator private public
  register restrict return root root_wide shared short signed sizeof static struct switch t template this true typedef typename
  uint ulong union unsigned using void volatile while`;

/** A kernel as the body of a function, with the declarations around it. */
export interface WrittenKernel {
  readonly lowered: Lowered;
  /** Functions that the body calls, each whole. */
  readonly helpers: readonly string[];
  readonly parameters: readonly Parameter[];
  /** Uses the names `group`, `rank` and `t`, which it does not declare. */
  readonly body: readonly Statement[];
  /** Declarations of shared arrays, which follow the declaration of their memory. */
  readonly shared: readonly string[];
}

export function writeC(kernel: Kernel, options: SpmdOptions, family: CFamily): WrittenKernel {
  const target = dialectOf(family);
  const lowered = lower(kernel, options, target);
  const { memory, statements, grid } = lowered;
  const words = cWords(family);
  const whole = memory.conversions.filter((each) => each.from.pair || !involvesHalf(each));
  const functions = [
    ...whole.map(conversionFunction),
    ...memory.pieced.flatMap((array) => pieceFunctions(array, target, 'long')),
    ...rootFunctions(elementTypeOf(kernel.precision), namesUsed(statements), family),
  ];
  return {
    lowered,
    helpers: [
      ...family.preamble(kernel, memory.shared, mathIn(statements)),
      ...halfFunctions(memory.conversions, family),
      ...functions.map(({ name, parameters, result, body }) => {
        const type = result ? words.type(result) : 'void';
        return framed(`${family.inline} ${type} ${name}`, parameters, printedLines(body, words), family).join('\n');
      }),
    ],
    parameters: [
      ...memory.bindings.map((array) => ({ name: array.name, type: pointerTo(array, !array.aliased) })),
      ...memory.offsets.map((array) => ({ name: `${array.name}_offset`, type: 'long' }) as const),
      ...(grid.launches > 1 ? [{ name: 'first_group', type: 'long' } as const] : []),
    ],
    body: [
      ...memory.offsets.map((array) => {
        const reals = name(`${array.name}_offset`);
        const offset = array.pair ? binary('/', reals, integer(2)) : reals;
        if (array.pieced) return declareConstant(`${array.name}_start`, 'long', offset);
        const type = { ...pointerTo(array.binding, false), to: array };
        return declareConstant(array.name, type, binary('+', name(array.binding.name), offset));
      }),
      ...statements,
    ],
    shared: memory.shared.flatMap((array) => family.shared(array)),
  };
}

/** The functions that convert a single half-precision number. */
function halfFunctions(conversions: readonly Conversion[], family: CFamily): Set<string> {
  const texts = conversions.filter(involvesHalf).map((conversion) => {
    const { from, to } = partConversion(conversion);
    const parameter = { name: from.type === 'f16' ? 'bits' : 'value', type: from };
    const body =
      from.type === 'f16' ? family.fromHalf(to.type as ElementType) : family.toHalf(from.type as ElementType);
    return framed(`${family.inline} ${realName(to)} ${conversionName(from, to)}`, [parameter], body, family).join('\n');
  });
  return new Set(texts);
}

export function emitC(kernel: Kernel, options: SpmdOptions, family: CFamily): SpmdProgram {
  const { lowered, helpers, parameters, body, shared } = writeC(kernel, options, family);
  const { entry, threads, grid, blocks } = lowered;
  const groups = grid.dimensions;
  const used = namesUsed(body);
  const int = (word: string) => cast('int', name(word));
  const numbers = groups.flatMap((count, axis): Expression[] => {
    const step = groups.slice(0, axis).reduce((a, b) => a * b, 1);
    const number = int(family.group(axis));
    if (axis === 0) return [blocks > 1 ? binary('/', number, integer(blocks)) : number];
    return count === 1 ? [] : [binary('*', integer(step), number)];
  });
  if (grid.launches > 1) numbers.unshift(int('first_group'));
  // With one group or one thread, its number is known and the name is not used.
  const builtins: [string, Expression][] = [
    ['group', chain('+', numbers)],
    ['rank', binary('%', int(family.group(0)), integer(blocks))],
    ['t', int(family.thread)],
  ];
  const words = cWords(family);
  const text = [
    ...printedLines(
      builtins.filter(([each]) => used.has(each)).map(([each, value]) => declareConstant(each, 'int', value)),
      words,
    ),
    ...(family.sharedBytes && shared.length > 0 ? [family.sharedBytes] : []),
    ...shared,
    ...printedLines(body, words),
  ];
  const head = `${family.head(threads, blocks, kernel.residentGroups)} ${entry}`;
  const source = [...helpers, ...framed(head, parameters, text, family, family.entry)].join('\n');
  return { language: family.language, source, ...launchOf(lowered) };
}

/** The text of a function: its head, one line for each parameter, and its body. */
export function framed(
  head: string,
  parameters: readonly Parameter[],
  body: readonly string[],
  family: CFamily,
  entry?: CFamily['entry'],
): string[] {
  const declared = parameters.map(({ name, type }, place) => {
    const isPointer = typeof type === 'object' && 'to' in type;
    const own = isPointer ? `${pointer(type, family)}${name}` : `const ${cTypeName(type, family)} ${name}`;
    return entry ? entry.parameter(own, place) : own;
  });
  const all = [...declared, ...(entry?.more ?? [])].map((each) => `    ${each}`);
  return [`${head}(`, all.join(',\n'), ') {', ...indented(body), '}', ''];
}

export function realName({ type, pair }: ValueType): string {
  if (type === 'f16') return pair ? 'unsigned int' : 'unsigned short';
  return type === 'u32' ? 'unsigned int' : `${type === 'f32' ? 'float' : 'double'}${pair ? '2' : ''}`;
}

function cTypeName(type: Exclude<Type, Pointer>, { wide }: CFamily): string {
  switch (type) {
    case 'int':
    case 'bool':
      return type;
    case 'long':
      return wide.type;
    case 'unsigned':
      return 'unsigned int';
    case 'unsigned long':
      return `unsigned ${wide.type}`;
    default:
      return realName(type);
  }
}

/** The declaration of a pointer parameter up to its name. */
function pointer({ to, written, unique, volatile }: Pointer, family: CFamily): string {
  const type = to === 'byte' ? 'unsigned char' : cTypeName(to, family);
  const qualifiers = `${volatile ? 'volatile ' : ''}${written ? '' : 'const '}${family.global}`;
  return `${qualifiers}${type} *${unique && family.restrict !== '' ? `${family.restrict} ` : ''}`;
}

export function dialectOf({ reserved, clusters }: CFamily): Dialect {
  const names = new Set([...RESERVED.trim().split(/\s+/), ...reserved]);
  return { wideIntegers: true, pointers: true, clusters, sines: true, reserved: names };
}

/** The functions for exact operations. @param first statements that keep the compiler from contracting them */
export function exactFunctions(
  used: ReadonlySet<MathName>,
  type: ElementType,
  inline: string,
  first: readonly string[],
): string[] {
  const real = realName({ type, pair: false });
  return Object.entries(EXACT)
    .filter(([own]) => used.has(own as MathName))
    .map(([, [own, sign]]) => {
      const head = `${inline} ${real} ${own}(const ${real} a, const ${real} b) {`;
      return [head, ...first, `  return a ${sign} b;`, '}', ''].join('\n');
    });
}

export function cWords(family: CFamily): Words {
  const type = (of: Type): string => {
    return typeof of === 'object' && 'to' in of ? pointer(of, family) : cTypeName(of, family);
  };
  return {
    type,
    integer: (value, of) => `${value}${{ int: '', long: family.wide.suffix }[of as string] ?? 'u'}`,
    cast: (to, operand) => `(${type(to)})${operand}`,
    pair: (re, im, of) => family.pair(re, im, realName({ type: of, pair: true })),
    select: (condition, then, otherwise) => `${condition} ? ${then} : ${otherwise}`,
    declare(own, of, isConstant, value) {
      const end = value === undefined ? ';' : ` = ${value};`;
      const isPointer = typeof of === 'object' && 'to' in of;
      if (isPointer) return `${type(of)}${isConstant ? 'const ' : ''}${own}${end}`;
      return `${isConstant ? 'const ' : ''}${type(of)} ${own}${end}`;
    },
    loop: (counter, end) => `for (int ${counter} = 0; ${counter} < ${end}; ${counter}++)`,
    barrier: (barrier) => family.barrier(barrier),
    math: (own, of) => family.math(own, of),
    ...(family.read ? { read: family.read } : {}),
    ...(family.write ? { write: family.write } : {}),
  };
}
