/**
 * The search against brute force, on random small trees.
 *
 * The brute force knows none of the rules of validity.ts. It tries every sequence of buffers and array types and moves
 * data through memory, word by word: an assignment is right where every word read is the one that the step before
 * wrote, whatever order the hardware takes the elements in, and no word is written that must stay as it is.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seedFor } from '../../../test/support/random.ts';
import { FftError } from '../../problem/index.ts';
import { type BranchNode, type Dimension, type LeafNode, leafNode, leavesOf } from '../tree/node.ts';
import { searchAssignments } from './assign.ts';
import type { ArrayType, AvailableBuffers, BufferName, TypedBuffer } from './available-buffers.ts';

const seed = seedFor('plan/buffers');

/** One axis of the tensor, in as many uploads as it has factors. */
interface AxisPlan {
  readonly of: number;
  readonly factors: readonly number[];
  readonly reordered: boolean;
}

interface Scene {
  readonly tensor: readonly number[];
  readonly axes: readonly AxisPlan[];
  readonly available: AvailableBuffers;
}

function treeOf({ tensor, axes }: Scene): BranchNode {
  const children = axes.map(({ of: dimension, factors, reordered }, number) => {
    const others = tensor.map(
      (count, d): Dimension => ({ count, input: { dimension: d, stride: 1 }, output: { dimension: d, stride: 1 } }),
    );
    others.splice(dimension, 1);
    const leaves = factors.map((_, upload): LeafNode => {
      const last = upload === factors.length - 1;
      const own = factors.map((count, d): Dimension => {
        const before = factors.slice(d + 1).reduce((a, b) => a * b, 1);
        const after = factors.slice(0, d).reduce((a, b) => a * b, 1);
        return {
          count,
          input: { dimension, stride: before },
          output: { dimension, stride: last && reordered ? after : before },
        };
      });
      const [axis] = own.splice(upload, 1);
      const title = `axis ${number} upload ${upload}`;
      return leafNode({ title, axis: axis!, batch: [...own, ...others], tensor });
    });
    return {
      scheme: 'four-step',
      title: `axis ${number}`,
      length: tensor,
      outputLength: tensor,
      children: leaves,
    } as const;
  });
  return { scheme: 'axes', title: 'tensor', length: tensor, outputLength: tensor, children };
}

/** For each element that a leaf moves, its place in the packed tensor before and after. */
function movesOf({ axis, batch }: LeafNode, tensor: readonly number[]): [number, number][] {
  const packed = tensor.map((_, d) => tensor.slice(0, d).reduce((a, b) => a * b, 1));
  let moves: [number, number][] = [[0, 0]];
  for (const { count, input, output } of [axis, ...batch]) {
    moves = moves.flatMap(([from, to]) =>
      Array.from({ length: count }, (_, i): [number, number] => [
        from + i * input.stride * packed[input.dimension]!,
        to + i * output.stride * packed[output.dimension]!,
      ]),
    );
  }
  return moves;
}

/** The two words of an element in memory. The input side of a problem with unequal strides runs backwards. */
function wordsOf(element: number, { buffer, type }: TypedBuffer, { available, tensor }: Scene): [string, string] {
  const size = tensor.reduce((a, b) => a * b, 1);
  const reversed = buffer === 'input' && !available.sameLayout;
  const at = reversed ? size - 1 - element : element;
  const memory = available.same && buffer === 'input' ? 'output' : buffer;
  return type === 'planar'
    ? [`${memory} ${at}`, `${memory} ${size + at}`]
    : [`${memory} ${2 * at}`, `${memory} ${2 * at + 1}`];
}

/** Run the steps; false where one would read something stale, race with itself or overwrite what is not its own. */
function survives(route: readonly TypedBuffer[], leaves: readonly LeafNode[], scene: Scene): boolean {
  const { available, tensor } = scene;
  /** Who wrote a word last: the step and the place of the element that it belongs to. */
  const memory = new Map<string, string>();
  const size = tensor.reduce((a, b) => a * b, 1);
  for (let e = 0; e < size; e++) wordsOf(e, route[0]!, scene).forEach((w, part) => memory.set(w, `0 ${e} ${part}`));
  for (const [step, leaf] of leaves.entries()) {
    const from = route[step]!;
    const to = route[step + 1]!;
    const last = step === leaves.length - 1;
    if (to.buffer === 'input' && !available.same && !available.input.writable) return false;
    if (available.work && !last && (to.buffer === 'input' || to.buffer === 'output')) return false;
    if (to.buffer !== 'temp' && to.buffer !== 'temp2' && available[to.buffer]!.elements < size) return false;
    const readers = new Map<string, number>();
    const moves = movesOf(leaf, tensor);
    for (const [mover, [source]] of moves.entries()) {
      for (const [part, word] of wordsOf(source, from, scene).entries()) {
        if (memory.get(word) !== `${step} ${source} ${part}`) return false;
        readers.set(word, mover);
      }
    }
    for (const [mover, [, target]] of moves.entries()) {
      for (const [part, word] of wordsOf(target, to, scene).entries()) {
        if (readers.has(word) && readers.get(word) !== mover) return false;
        memory.set(word, `${step + 1} ${target} ${part}`);
      }
    }
  }
  // The output has to hold every element, from the last step.
  return Array.from({ length: size }, (_, e) =>
    wordsOf(e, { buffer: 'output', type: available.output.type }, scene),
  ).every((words, e) => words.every((word, part) => memory.get(word) === `${leaves.length} ${e} ${part}`));
}

function everyRoute(steps: number, { available }: Scene, temps: number): TypedBuffer[][] {
  const both = ['interleaved', 'planar'] as const;
  const choices: TypedBuffer[] = [
    { buffer: 'input', type: available.input.type },
    { buffer: 'output', type: available.output.type },
    ...(available.work ? [{ buffer: 'work', type: available.work.type } as const] : []),
    ...(['temp', 'temp2'] as const).slice(0, temps).flatMap((buffer) => both.map((type) => ({ buffer, type }))),
  ];
  let routes: TypedBuffer[][] = [[choices[0]!]];
  for (let step = 0; step < steps; step++) {
    routes = routes.flatMap((route) => (step === steps - 1 ? [choices[1]!] : choices).map((next) => [...route, next]));
  }
  return routes;
}

/** One spelling for routes that differ in names only: temps swapped, or the one buffer of an in-place problem. */
function spell(route: readonly TypedBuffer[], { available }: Scene): string {
  const oneName = available.same && available.sameLayout && available.input.type === available.output.type;
  const temps: BufferName[] = [];
  return route
    .map(({ buffer, type }) => {
      if (buffer === 'temp' || buffer === 'temp2') {
        if (!temps.includes(buffer)) temps.push(buffer);
        return `temp${temps.indexOf(buffer)} ${type}`;
      }
      return `${oneName && buffer === 'input' ? 'output' : buffer} ${type}`;
    })
    .join(', ');
}

function scoreOf(route: readonly TypedBuffer[], { available }: Scene): number[] {
  const memories = route.map(({ buffer }) => (available.same && buffer === 'input' ? 'output' : buffer));
  const later = route.slice(1);
  const inPlace = later.filter((_, step) => memories[step] === memories[step + 1]).length;
  const typeChanges = later.filter(({ type }, step) => type !== route[step]!.type).length;
  const temps = memories.filter((memory) => memory === 'temp' || memory === 'temp2').length;
  // Each of them is written and read once.
  return [new Set(memories).size, -(available.padded ? 2 * temps : 0), -inPlace, typeChanges];
}

function bruteForce(leaves: readonly LeafNode[], scene: Scene) {
  for (const temps of [0, 1, 2]) {
    const valid = everyRoute(leaves.length, scene, temps).filter((route) => survives(route, leaves, scene));
    if (valid.length === 0) continue;
    const scores = valid
      .map((route) => scoreOf(route, scene))
      .sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]! || a[3]! - b[3]!);
    return { temps, best: scores[0]!, spellings: new Set(valid.map((route) => spell(route, scene))) };
  }
  return undefined;
}

const arrayType = fc.constantFrom<ArrayType>('interleaved', 'planar');

const scenes: fc.Arbitrary<Scene> = fc
  .record({
    tensor: fc
      .array(fc.constantFrom<number>(1, 2, 3, 4, 6, 8), { minLength: 1, maxLength: 3 })
      .filter((t) => t.some((n) => n > 1)),
    picks: fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 3 }), fc.boolean()), { minLength: 1, maxLength: 3 }),
    types: fc.tuple(arrayType, arrayType, fc.option(arrayType, { nil: undefined })),
    writable: fc.boolean(),
    same: fc.boolean(),
    sameLayout: fc.boolean(),
    padded: fc.boolean(),
    short: fc.constantFrom<'nothing' | 'input' | 'output' | 'work'>('nothing', 'nothing', 'input', 'output', 'work'),
  })
  .map(({ tensor, picks, types: [read, written, work], writable, same, sameLayout, padded, short }): Scene => {
    const elements = tensor.reduce((a, b) => a * b, 1);
    let room = 4;
    const axes = picks.flatMap(([number, uploads, reordered]): AxisPlan[] => {
      const of = number % tensor.length;
      const factors: number[] = [];
      for (let rest = tensor[of]!; factors.length < uploads; rest /= factors.at(-1)!) {
        factors.push(factors.length === uploads - 1 ? rest : ([2, 3].find((p) => rest % p === 0) ?? 1));
      }
      room -= uploads;
      return room < 0 ? [] : [{ of, factors, reordered }];
    });
    const available: AvailableBuffers = {
      input: { type: read, elements: elements - Number(short === 'input'), writable },
      output: { type: written, elements: elements - Number(short === 'output') },
      same,
      sameLayout,
      padded,
      work: work && { type: work, elements: elements - Number(short === 'work') },
    };
    return { tensor, axes, available };
  });

describe('the search against brute force', () => {
  it('finds exactly the assignments that move data correctly, and the best of them first', () => {
    let solved = 0;
    let transposed = 0;
    fc.assert(
      fc.property(scenes, (scene) => {
        const tree = treeOf(scene);
        const leaves = leavesOf(tree);
        const expected = bruteForce(leaves, scene);
        if (!expected) {
          expect(() => searchAssignments(tree, scene.available)).toThrow(/two temp buffers/);
          return;
        }
        const { assignments, merged } = searchAssignments(tree, scene.available);
        const routes = assignments.map(({ steps }) => [steps[0]!.input, ...steps.map(({ output }) => output)]);
        for (const { steps } of assignments) {
          for (const [n, { input }] of steps.slice(1).entries()) expect(input).toEqual(steps[n]!.output);
        }
        expect(merged).toBe(false);
        expect(assignments[0].temps).toBe(expected.temps);
        expect(new Set(routes.map((route) => spell(route, scene)))).toEqual(expected.spellings);
        expect(routes).toHaveLength(expected.spellings.size);
        expect(scoreOf(routes[0]!, scene)).toEqual(expected.best);
        for (const [n, { bufferCount, padded, inPlace, typeChanges, buffers, steps }] of assignments.entries()) {
          expect([bufferCount, -padded, -inPlace, typeChanges]).toEqual(scoreOf(routes[n]!, scene));
          expect(buffers).toHaveLength(bufferCount);
          expect(steps.filter((step) => step.inPlace)).toHaveLength(inPlace);
        }
        solved++;
        if (expected.temps > 0) transposed++;
      }),
      { seed, numRuns: 300 },
    );
    expect(solved).toBeGreaterThan(100);
    expect(transposed).toBeGreaterThan(20);
  });

  it('keeps the winner when tries are merged', () => {
    let mergedRuns = 0;
    fc.assert(
      fc.property(scenes, fc.integer({ min: 1, max: 6 }), (scene, keep) => {
        // Twice as many leaves as brute force can follow.
        const tree = treeOf({ ...scene, axes: [...scene.axes, ...scene.axes] });
        const full = attempt(() => searchAssignments(tree, scene.available, { keep: Number.POSITIVE_INFINITY }));
        const merging = attempt(() => searchAssignments(tree, scene.available, { keep }));
        expect(full?.merged ?? false).toBe(false);
        expect(merging?.assignments[0]).toEqual(full?.assignments[0]);
        if (merging?.merged) mergedRuns++;
      }),
      { seed, numRuns: 200 },
    );
    expect(mergedRuns).toBeGreaterThan(20);
  });
});

function attempt<T>(search: () => T): T | undefined {
  try {
    return search();
  } catch (error) {
    // There is no way: the only reason not to find one.
    expect(error).toBeInstanceOf(FftError);
    return undefined;
  }
}
