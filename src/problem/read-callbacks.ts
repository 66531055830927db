/** Field `callbacks` of a problem: its arrays are checked, and its functions called, each once. */

import type { BuiltCallback, BuiltCallbacks, BuiltPair, CallbackArray, NumberKind } from './callbacks.ts';
import { kernelsOfEach } from './convolution.ts';
import type { Direction } from './directions.ts';
import type { FieldReader } from './fields.ts';
import { channelsOf, tensorShape, transformedKind } from './layout.ts';
import type { Problem, Side } from './problem.ts';
import { record } from './record.ts';
import { isRecord, type RawRecord } from './snapshot.ts';

const DIRECTIONS: readonly Direction[] = ['forward', 'inverse'];

/** What a problem has to say before its callbacks can be called. */
type CallbackFacts = Pick<
  Problem,
  | 'size'
  | 'transform'
  | 'leftBatches'
  | 'coordinates'
  | 'batches'
  | 'placement'
  | 'directions'
  | 'precision'
  | 'convolution'
>;

/** Names of arrays: those that are names in programs, too. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const NO_CALLBACKS = Object.freeze({ load: null, store: null });

/**
 * @param problem undefined where it is not known what callbacks would be called with: only arrays are looked at then.
 * @param refusal why there must be none: then none is called.
 * @returns `null` where there are no callbacks
 */
export function readCallbacks(
  reader: FieldReader,
  value: unknown,
  problem: CallbackFacts | undefined,
  refusal?: string,
): BuiltCallbacks | null {
  if (value === undefined || value === null) return null;
  const given = reader.record(value, 'callbacks', [...DIRECTIONS, 'arrays']);
  const arrays = readArrayTypes(reader, given.arrays, problem?.precision);
  const pairs = Object.fromEntries(
    DIRECTIONS.map((direction) => [
      direction,
      reader.record(given[direction], `callbacks.${direction}`, ['load', 'store']),
    ]),
  ) as Record<Direction, RawRecord>;
  if (!problem) return null;
  // A convolution goes both ways, whatever else is planned.
  const planned = (direction: Direction) =>
    problem.convolution !== null || problem.directions === 'both' || problem.directions === direction;
  const isGiven = (direction: Direction) => (pairs[direction].load ?? pairs[direction].store) != null;
  if (!DIRECTIONS.some((direction) => planned(direction) && isGiven(direction)) && Object.keys(arrays).length === 0)
    return null;
  if (refusal !== undefined) {
    reader.report('unsupported-feature', 'callbacks', refusal);
    return null;
  }
  const call = callerOf(reader, problem, arrays);
  // What one direction leaves in memory is what the other one finds there.
  const stores = {
    forward: planned('forward') ? call('forward', 'store', pairs.forward.store) : null,
    inverse: planned('inverse') ? call('inverse', 'store', pairs.inverse.store) : null,
  };
  const pairOf = (direction: Direction): BuiltPair => {
    if (!planned(direction)) return NO_CALLBACKS;
    const left = stores[direction === 'forward' ? 'inverse' : 'forward'];
    return Object.freeze({
      load: call(direction, 'load', pairs[direction].load, left?.gives),
      store: stores[direction],
    });
  };
  return Object.freeze({ forward: pairOf('forward'), inverse: pairOf('inverse'), arrays });
}

/** What calls one callback. @param found kind of the elements that it finds in memory, where that is not the transform's. */
function callerOf(reader: FieldReader, problem: CallbackFacts, arrays: BuiltCallbacks['arrays']) {
  return (
    direction: Direction,
    what: 'load' | 'store',
    callback: unknown,
    found?: NumberKind,
  ): BuiltCallback | null => {
    if (callback === undefined || callback === null) return null;
    const side = sideOf(problem, direction, what);
    const kind = transformedKind(problem, side);
    const path = `callbacks.${direction}.${what}`;
    // What has been built says what it takes; nobody else does where the other direction is not planned.
    const alone = problem.directions !== 'both' && isRecord(callback) && callback.takes === 'real';
    const built = record(callback, {
      shape: shapeOf(problem, side, what),
      takes: what === 'load' ? (found ?? (alone ? 'real' : kind)) : kind,
      // The result of a convolution is of the kind of the signal.
      gives: what === 'store' && kind === 'complex' && !problem.convolution ? ['complex', 'real'] : [kind],
      precision: problem.precision === 'single' ? 'single' : 'double',
      arrays,
    });
    if (typeof built !== 'string') return built;
    reader.report('invalid-field', path, `${path} ${built}`);
    return null;
  };
}

/** The side of the elements that a callback is called for. A spectral layer has its result on the output side. */
function sideOf(problem: CallbackFacts, direction: Direction, what: 'load' | 'store'): Side {
  if (channelsOf(problem)) return what === 'load' ? 'input' : 'output';
  return (direction === 'forward') === (what === 'load') ? 'input' : 'output';
}

/** Counts of the elements that a callback is called for: a result has batches for each of several kernels. */
function shapeOf(problem: CallbackFacts, side: Side, what: 'load' | 'store'): number[] {
  const shape = tensorShape(problem, side);
  const kernels = problem.convolution && what === 'store' ? kernelsOfEach(problem.convolution) : 1;
  return [...shape.slice(0, -1), shape.at(-1)! * kernels];
}

function readArrayTypes(
  reader: FieldReader,
  value: unknown,
  precision: Problem['precision'] | undefined,
): BuiltCallbacks['arrays'] {
  const arrays: Record<string, CallbackArray> = Object.create(null);
  if (value === undefined) return Object.freeze(arrays);
  const names = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  const record = reader.record(value, 'callbacks.arrays', names);
  for (const name of Object.keys(record)) {
    const path = `callbacks.arrays.${name.slice(0, 64)}`;
    if (!NAME.test(name)) {
      const accepted = 'a name has letters, digits and _, does not begin with a digit, and is no longer than 64';
      reader.report('invalid-field', path, `${path} is no name of an array; ${accepted}.`);
      continue;
    }
    const { type, length } = reader.record(record[name], path, ['type', 'length']);
    const array = {
      type: reader.oneOf(type, `${path}.type`, ['f32', 'f64'], 'f32'),
      length: reader.integer(length, `${path}.length`, 'invalid-field', 'a number of elements', 1),
    };
    if (type === undefined)
      reader.report('invalid-field', `${path}.type`, `${path}.type is missing; choose 'f32' or 'f64'.`);
    if (array.type === 'f64' && precision === 'single') {
      const message = `${path}.type 'f64' with arithmetic in 'single' is not supported: arrays hold numbers as they are computed, or narrower.`;
      reader.report('unsupported-feature', `${path}.type`, message);
    }
    arrays[name] = Object.freeze(array);
  }
  return Object.freeze(arrays);
}
