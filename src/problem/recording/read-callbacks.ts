/** The field `callbacks` of a problem: its arrays are checked, and each of its functions is called once. */

import type { BuiltCallback, BuiltCallbacks, BuiltPair, CallbackArray, NumberKind } from '../callbacks.ts';
import { kernelsOfEach } from '../convolution.ts';
import type { Direction } from '../directions.ts';
import type { FieldReader } from '../input/fields.ts';
import { isRecord, type RawRecord } from '../input/snapshot.ts';
import { channelsOf, tensorShape, transformedKind } from '../layout/layout.ts';
import type { Problem, Side } from '../problem.ts';
import { record } from './record.ts';

const DIRECTIONS: readonly Direction[] = ['forward', 'inverse'];

/** The fields of a problem that callbacks depend on. */
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
  | 'bands'
>;

/** Valid names of arrays: identifiers, as programs have them. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

const NO_CALLBACKS = Object.freeze({ load: null, store: null });

/**
 * The normal form of the field.
 * @param problem undefined if the arguments of callbacks are not known: only arrays are checked then
 * @param refusal the reason why callbacks are not accepted: none is called then
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
      reader.record(
        given[direction],
        `callbacks.${direction}`,
        direction === 'forward' && problem?.bands ? ['load', 'bin', 'store'] : ['load', 'store'],
      ),
    ]),
  ) as Record<Direction, RawRecord>;
  if (!problem) return null;
  // A convolution needs both directions, whatever else is planned.
  const planned = (direction: Direction) =>
    problem.convolution !== null || problem.directions === 'both' || problem.directions === direction;
  const isGiven = (direction: Direction) =>
    (pairs[direction].load ?? pairs[direction].bin ?? pairs[direction].store) != null;
  if (!DIRECTIONS.some((direction) => planned(direction) && isGiven(direction)) && Object.keys(arrays).length === 0)
    return null;
  if (refusal !== undefined) {
    reader.report('unsupported-feature', 'callbacks', refusal);
    return null;
  }
  const call = callerOf(reader, problem, arrays);
  // The kind of element that one direction stores is the kind that the other one loads.
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
  const bin = problem.bands ? call('forward', 'bin', pairs.forward.bin) : null;
  const forward = bin ? Object.freeze({ ...pairOf('forward'), bin }) : pairOf('forward');
  return Object.freeze({ forward, inverse: pairOf('inverse'), arrays });
}

/** The function that calls one callback. @param found the kind of the elements in memory, if it is not the transform's */
function callerOf(reader: FieldReader, problem: CallbackFacts, arrays: BuiltCallbacks['arrays']) {
  return (
    direction: Direction,
    what: 'load' | 'bin' | 'store',
    callback: unknown,
    found?: NumberKind,
  ): BuiltCallback | null => {
    if (callback === undefined || callback === null) return null;
    const side = sideOf(problem, direction, what);
    const seen = what === 'bin' ? { ...problem, bands: null } : problem;
    const kind = transformedKind(seen, side);
    const path = `callbacks.${direction}.${what}`;
    // A built callback says which kind it takes; that is needed where the other direction, which would decide it, is not planned.
    const alone = problem.directions !== 'both' && isRecord(callback) && callback.takes === 'real';
    const built = record(callback, {
      shape: callbackShape(seen, side, what),
      takes: what === 'load' ? (found ?? (alone ? 'real' : kind)) : kind,
      gives: givenKinds(what, kind, problem),
      precision: problem.precision,
      arrays,
    });
    if (typeof built !== 'string') return built;
    reader.report('invalid-field', path, `${path} ${built}`);
    return null;
  };
}

/** The kinds of number that a callback may return. The result of a convolution has the kind of the signal. */
function givenKinds(what: 'load' | 'bin' | 'store', kind: NumberKind, problem: CallbackFacts): readonly NumberKind[] {
  if (what === 'bin') return ['real'];
  return what === 'store' && kind === 'complex' && !problem.convolution ? ['complex', 'real'] : [kind];
}

/** The side of the elements that a callback is called for. A spectral layer has its result on the output side. */
function sideOf(problem: CallbackFacts, direction: Direction, what: 'load' | 'bin' | 'store'): Side {
  if (channelsOf(problem)) return what === 'load' ? 'input' : 'output';
  return (direction === 'forward') === (what === 'load') ? 'input' : 'output';
}

/** The shape of the tensor that a callback is called for: a result has batches for each of several kernels. */
function callbackShape(problem: CallbackFacts, side: Side, what: 'load' | 'bin' | 'store'): number[] {
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
