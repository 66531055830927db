/**
 * The registers of a device function: the element of the line that each register of each thread holds.
 *
 * The first phase of a kernel loads elements and the last phase stores them; in a device function, both are registers of the caller. The
 * items of a thread are written out one after another, so each access has an index that depends on the thread's number only, and accesses
 * with the same index are one register. Registers are numbered in the order of the elements that thread 0 has. If the number of butterflies
 * is the same for all threads, register j of thread t holds element t + j·T of a complex side, where T is the number of threads.
 */
import {
  type ArrayRef,
  EVERYWHERE,
  evaluate,
  type Guard,
  guardAt,
  holds,
  type Index,
  type Kernel,
  type Phase,
  Substitution,
  simplified,
  type Var,
  variable,
  variablesOf,
} from '../../ir/index.ts';
import { loadsOfPhase, readBy, writtenBy } from '../spmd/lowering/accesses.ts';
import { share } from '../spmd/lowering/items.ts';

/** One side of the transform in registers. */
export interface RegisterSide {
  readonly array: ArrayRef;
  /** Whether a register holds a single number; otherwise it holds two: a complex number, or hi and lo of a real number. */
  readonly isReal: boolean;
  /** For each thread, the number of the element in each register; −1 if a register holds none. With hi and lo, elements are reals. */
  readonly elements: readonly (readonly number[])[];
  /** The register of a value. @param at index of the value in terms of the thread's number */
  numberOf(at: Index): number;
}

/** An access by one item of a thread. */
interface RegisterAccess {
  readonly at: Index;
  readonly guard: Guard;
  /** The conditions under which the thread has the item: each index is positive. */
  readonly conditions: readonly Index[];
}

/**
 * The registers of both sides of a kernel for one line.
 * @param isReal whether a side holds reals
 * @param inParts whether a register holds hi and lo of a real number
 * @throws RangeError if the kernel moves data more than once between its two globals
 */
export function registersOf(
  kernel: Kernel,
  isReal: { readonly input: boolean; readonly output: boolean },
  inParts = false,
): { readonly input: RegisterSide; readonly output: RegisterSide } {
  const { globals, phases } = kernel;
  const [input, output] = globals;
  const [first, last] = [phases[0]!, phases.at(-1)!];
  const inner = [...readBy(phases.slice(1)), ...writtenBy(phases.slice(0, -1))];
  if (globals.length !== 2 || inner.some(({ space }) => space === 'global')) {
    throw new RangeError('only a kernel that reads one array first and writes another one last works in registers');
  }
  const side = (phase: Phase, array: ArrayRef, accesses: readonly PhaseAccess[], real: boolean) => {
    const own = accesses.filter((access) => access.array === array);
    return registerSide(array, threadAccessesOf(phase, kernel.threads, own, real), kernel.threads, real);
  };
  return {
    input: side(first, input!, loadsOfPhase(first), isReal.input && !inParts),
    output: side(last, output!, last.stores, isReal.output && !inParts),
  };
}

interface PhaseAccess {
  readonly array: ArrayRef;
  readonly index: Index;
  readonly guard?: Guard;
}

interface ThreadAccesses {
  readonly all: readonly RegisterAccess[];
  /** All variables whose value is the thread's number. */
  readonly threads: readonly Var[];
}

function threadAccessesOf(phase: Phase, threads: number, own: readonly PhaseAccess[], isReal: boolean): ThreadAccesses {
  const thread = variable('t', threads);
  const { slots, aliases } = share(phase, thread, threads, 1, true);
  const all = slots.flatMap(({ at, conditions }) => {
    const places = new Substitution(at);
    return own.flatMap(({ index, guard = EVERYWHERE }): RegisterAccess[] => {
      const held = simplified(guardAt(guard, places));
      // The imaginary part is in the register of the real part, and lo in that of hi.
      const isCounted = held && (isReal || index.constant % 2 === 0);
      return isCounted ? [{ at: places.apply(index), guard: held, conditions }] : [];
    });
  });
  return { all, threads: [thread, ...aliases] };
}

/** The threads whose elements distinguish registers. */
const PROBES = [0, 1, 2];

/** The elements that an index refers to in the probed threads: a key that does not depend on the names of variables. */
function probedElements(at: Index, reals: number): readonly number[] {
  const variables = [...variablesOf(at)];
  return PROBES.map((t) => evaluate(at, new Map(variables.map((thread) => [thread, t]))) / reals);
}

function registerSide(array: ArrayRef, { all, threads }: ThreadAccesses, count: number, isReal: boolean): RegisterSide {
  const reals = isReal ? 1 : 2;
  const signatures = new Map(all.map(({ at }) => probedElements(at, reals)).map((own) => [own.join(), own]));
  const sorted = [...signatures.values()].sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!);
  const numbers = new Map(sorted.map((own, register) => [own.join(), register]));
  const elements = Array.from({ length: count }, (_, t) => {
    const where = new Map(threads.map((thread) => [thread, t]));
    const own = new Array<number>(sorted.length).fill(-1);
    for (const { at, guard, conditions } of all) {
      const here = (index: Index) => evaluate(index, where);
      if (!conditions.every((condition) => here(condition) > 0) || !holds(guard, here)) continue;
      const register = numbers.get(probedElements(at, reals).join())!;
      const element = here(at) / reals;
      if (own[register]! >= 0 && own[register] !== element)
        throw new RangeError(`two elements of ${array.name} share a register`);
      own[register] = element;
    }
    return own;
  });
  return { array, isReal, elements, numberOf: (at) => numbers.get(probedElements(at, 1).join())! };
}
