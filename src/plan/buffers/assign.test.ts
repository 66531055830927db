import { describe, expect, it } from 'vitest';
import { FftError } from '../../problem/errors.ts';
import { type BranchNode, type Dimension, type LeafNode, leafNode, type PlanNode } from '../tree/node.ts';
import { type Assignment, assignBuffers, searchAssignments } from './assign.ts';
import type { ArrayType, AvailableBuffers } from './available-buffers.ts';

const TENSOR = [8, 8, 8];
const ELEMENTS = 512;

function leaf(title: string, transposes: boolean): LeafNode {
  const at = (step: number) => ({ dimension: 0, stride: step });
  const dimension = (count: number, from: number, to: number): Dimension => ({
    count,
    input: at(from),
    output: at(to),
  });
  const axis = transposes ? dimension(2, 1, 4) : dimension(2, 1, 1);
  const batch = transposes ? [dimension(4, 2, 1)] : [dimension(4, 2, 2)];
  return leafNode({ title, axis, batch, tensor: TENSOR });
}

function branch(scheme: BranchNode['scheme'], ...children: PlanNode[]): BranchNode {
  return { scheme, title: scheme, length: TENSOR, outputLength: TENSOR, children };
}

const whole = leaf('whole', false);
const twoUploads = branch('four-step', leaf('first', false), leaf('last', true));
const threeUploads = branch('four-step', leaf('first', false), leaf('second', false), leaf('last', true));
const threeAxes = branch('axes', leaf('x', false), leaf('y', false), leaf('z', false));

function outOfPlace(more: Partial<AvailableBuffers> & { types?: ArrayType } = {}): AvailableBuffers {
  const { types = 'interleaved', ...rest } = more;
  const user = { type: types, elements: ELEMENTS };
  return { input: { ...user, writable: false }, output: user, same: false, sameLayout: true, ...rest };
}

const inPlace = (sameLayout = true) => outOfPlace({ same: true, sameLayout });
const preserving = outOfPlace();
const destroying = outOfPlace({ input: { type: 'interleaved', elements: ELEMENTS, writable: true } });
const throughWork = outOfPlace({ work: { type: 'interleaved', elements: ELEMENTS } });

/** The buffers of an assignment in the order in which the data passes through them. */
function route(assignment: Assignment | undefined): string {
  if (!assignment) return 'none';
  return ['input', ...assignment.steps.map(({ output }) => output.buffer)].join(' ');
}

const best = (root: PlanNode, available: AvailableBuffers) => assignBuffers(root, available)[0]!;

describe('one step', () => {
  it('reads the input and writes the output', () => {
    expect(assignBuffers(whole, preserving)).toHaveLength(1);
    const only = best(whole, preserving);
    expect(only.steps).toEqual([
      {
        leaf: whole,
        input: { buffer: 'input', type: 'interleaved' },
        output: { buffer: 'output', type: 'interleaved' },
        inPlace: false,
      },
    ]);
    expect(only).toMatchObject({ buffers: ['input', 'output'], bufferCount: 2, temps: 0, inPlace: 0, typeChanges: 0 });
  });

  it('works in place where the strides of both sides are equal', () => {
    const only = best(whole, inPlace());
    expect(only.steps[0]!.inPlace).toBe(true);
    expect(only).toMatchObject({ buffers: ['input'], bufferCount: 1, inPlace: 1, temps: 0 });
  });

  it('cannot transpose in place, nor change strides there', () => {
    for (const [root, available] of [
      [leaf('transpose', true), inPlace()],
      [whole, inPlace(false)],
    ] as const) {
      let thrown: unknown;
      try {
        assignBuffers(root, available);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(FftError);
      expect((thrown as FftError).code).toBe('internal-error');
      expect((thrown as FftError).message).toContain('two temp buffers');
    }
  });

  it('changes the array type between the buffers of the user', () => {
    const available = outOfPlace({ output: { type: 'planar', elements: ELEMENTS } });
    expect(best(whole, available)).toMatchObject({ typeChanges: 1, inPlace: 0 });
  });
});

describe('several uploads', () => {
  it('need a temp buffer in place, because the last one transposes', () => {
    expect(best(twoUploads, inPlace())).toMatchObject({ temps: 1, buffers: ['input', 'temp'], inPlace: 0 });
    expect(route(best(twoUploads, inPlace()))).toBe('input temp output');
  });

  it('stay in the user’s memory until the last moment where that is one more step in place', () => {
    const { steps, inPlace: count } = best(threeUploads, inPlace());
    expect(count).toBe(1);
    expect(steps.map(({ inPlace: is }) => is)).toEqual([true, false, false]);
    expect(route(best(threeUploads, inPlace()))).toBe('input output temp output');
    expect(route(best(threeUploads, inPlace(false)))).toBe('input input temp output');
  });

  it('use a temp buffer rather than an input that has to be preserved', () => {
    expect(route(best(twoUploads, preserving))).toBe('input temp output');
    expect(route(best(threeUploads, preserving))).toBe('input temp temp output');
    expect(best(threeUploads, preserving)).toMatchObject({ bufferCount: 3, inPlace: 1, temps: 1 });
  });

  it('work in the input where it may be overwritten', () => {
    expect(route(best(twoUploads, destroying))).toBe('input input output');
    expect(route(best(threeUploads, destroying))).toBe('input input input output');
    expect(best(threeUploads, destroying)).toMatchObject({ bufferCount: 2, inPlace: 2, temps: 0 });
  });

  it('pass through work, which leaves the input unread after the first and the output unwritten before the last', () => {
    for (const available of [throughWork, { ...throughWork, input: { ...throughWork.input, writable: true } }]) {
      expect(route(best(twoUploads, available))).toBe('input work output');
      expect(route(best(threeUploads, available))).toBe('input work work output');
    }
    const shuffles = branch('four-step', leaf('first', true), leaf('second', true), leaf('last', true));
    expect(route(best(shuffles, throughWork))).toBe('input work temp output');
    expect(best(shuffles, throughWork).temps).toBe(1);
  });

  it('may need a second temp buffer', () => {
    const shuffles = branch('four-step', ...['a', 'b', 'c', 'd'].map((title) => leaf(title, true)));
    // A work buffer that is too small leaves the temps only, and a transposing step cannot work in one of them.
    const tiny = outOfPlace({ work: { type: 'interleaved', elements: ELEMENTS - 1 } });
    expect(route(best(shuffles, tiny))).toBe('input temp temp2 temp output');
    expect(best(shuffles, tiny).temps).toBe(2);
  });
});

describe('several axes', () => {
  it('work in the output after the first', () => {
    expect(route(best(threeAxes, preserving))).toBe('input output output output');
    expect(best(threeAxes, preserving)).toMatchObject({ bufferCount: 2, inPlace: 2, temps: 0 });
    expect(best(threeAxes, inPlace())).toMatchObject({ bufferCount: 1, inPlace: 3, temps: 0 });
  });

  it('prefer the output to an input that may be overwritten, other things being equal', () => {
    const all = assignBuffers(threeAxes, destroying);
    expect(all.map(route)).toEqual([
      'input output output output',
      'input input output output',
      'input input input output',
      'input output input output',
    ]);
  });

  it('of several uploads each nest', () => {
    const nested = branch('axes', branch('axes', twoUploads, whole), twoUploads);
    expect(route(best(nested, preserving))).toBe('input output temp temp temp output');
  });
});

describe('array types', () => {
  it('stay planar between planar user buffers', () => {
    const planar = outOfPlace({ types: 'planar' });
    const [first, second] = assignBuffers(twoUploads, planar);
    expect(first!.steps[0]!.output).toEqual({ buffer: 'temp', type: 'planar' });
    expect(first!.typeChanges).toBe(0);
    expect(second!.steps[0]!.output).toEqual({ buffer: 'temp', type: 'interleaved' });
    expect(second!.typeChanges).toBe(2);
  });

  it('change once on the way from planar to interleaved', () => {
    const available = outOfPlace({ input: { type: 'planar', elements: ELEMENTS, writable: false } });
    expect(best(threeUploads, available)).toMatchObject({ typeChanges: 1, inPlace: 1 });
    expect(assignBuffers(threeUploads, available).at(-1)!.typeChanges).toBe(3);
  });

  it('never change within one memory', () => {
    const steps = assignBuffers(threeUploads, preserving).flatMap((assignment) => assignment.steps);
    const inPlace = steps.filter(({ input, output }) => input.buffer === output.buffer);
    expect(inPlace.length).toBeGreaterThan(0);
    for (const { input, output } of inPlace) expect(input.type).toBe(output.type);
  });
});

describe('the search', () => {
  it('never writes a user buffer that is too small', () => {
    const wide: LeafNode = { ...leaf('wide', false), outputLength: [9, 8, 8] };
    const root = branch('axes', wide, leaf('narrow', false));
    expect(route(best(root, preserving))).toBe('input temp output');
    expect(route(best(branch('axes', whole, whole), preserving))).toBe('input output output');
    expect(() => assignBuffers(branch('axes', whole, wide), preserving)).toThrow(FftError);
  });

  it('answers repeated questions from the cache', () => {
    const once = searchAssignments(branch('axes', whole, whole), preserving).cache;
    const often = searchAssignments(
      branch('axes', ...Array.from({ length: 7 }, () => ({ ...whole }))),
      preserving,
    ).cache;
    expect(once.hits).toBe(0);
    // What is new is a step that is neither first nor last, with two buffers to choose from; four more ask the same.
    expect(often.misses).toBe(once.misses + 2);
    expect(often.hits).toBe(8);
    expect(searchAssignments(threeUploads, preserving).cache.hits).toBeGreaterThan(0);
  });

  it('keeps its tries as a tree, dead ends included', () => {
    const { tries, assignments } = searchAssignments(twoUploads, preserving);
    expect(tries.branches).toHaveLength(3);
    expect(tries.branches.filter(({ branches }) => branches.length > 0)).toHaveLength(assignments.length);
    expect(tries.branches[1]!.branches[0]!.parent).toBe(tries.branches[1]);
    const ends = tries.branches.map(({ output, branches }) => [output, branches.map((last) => last.output.buffer)]);
    expect(ends).toEqual([
      [{ buffer: 'output', type: 'interleaved' }, []],
      [{ buffer: 'temp', type: 'interleaved' }, ['output']],
      [{ buffer: 'temp', type: 'planar' }, ['output']],
    ]);
    const counts = tries.branches.map(({ bufferCount, inPlace, typeChanges }) => [bufferCount, inPlace, typeChanges]);
    expect(counts).toEqual([
      [2, 0, 0],
      [2, 0, 0],
      [2, 0, 1],
    ]);
  });

  it('does not explode on long trees', () => {
    const long = branch('axes', ...Array.from({ length: 40 }, () => threeUploads));
    const { assignments, merged } = searchAssignments(long, inPlace());
    expect(merged).toBe(true);
    expect(assignments[0].steps).toHaveLength(120);
    // What is left of the tries of a leaf are states: an operand, and the set of memories used.
    const frugal = searchAssignments(long, inPlace(), { keep: 1 });
    expect(frugal.assignments[0]).toEqual(assignments[0]);
    let level = [frugal.tries];
    while (level.length > 0) {
      expect(level.length).toBeLessThan(100);
      level = level.flatMap(({ branches }) => branches);
    }
    // In each axis but the last, two of three steps can stay where they are; the last has to end in the output.
    expect(assignments[0]).toMatchObject({ temps: 1, bufferCount: 2, typeChanges: 0, inPlace: 80 });
  });

  it('refuses broken trees', () => {
    expect(() => assignBuffers(branch('axes'), preserving)).toThrow(RangeError);
    expect(() => assignBuffers(branch('axes', whole, branch('four-step')), preserving)).toThrow(/four-step.*children/);
    expect(() => assignBuffers({ ...whole, outputLength: [8, 0] }, preserving)).toThrow(RangeError);
    const axis = { ...whole.axis, count: 1.5 };
    expect(() => assignBuffers({ ...whole, axis }, preserving)).toThrow(/positive integers/);
  });
});
