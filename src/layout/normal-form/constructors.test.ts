/** Constructors refuse what does not fit, and layouts print as the views that they are. */
import { expect, it } from 'vitest';
import * as l from '../index.ts';

const of = l.memory('input', [6, 4], [4, 1]);

it.each([
  ['memory with a stride too few', () => l.memory('input', [6, 4], [4])],
  ['memory with half a stride', () => l.memory('input', [2], [0.5])],
  ['memory with a negative length', () => l.memory('input', [-1], [1])],
  ['memory at no place', () => l.memory('input', [2], [1], Number.NaN)],
  ['zeros of half an element', () => l.zeros([1.5])],
  ['a split into pieces that do not fit', () => l.split(of, 0, 4)],
  ['a split of a dimension that is not there', () => l.split(of, 2, 1)],
  ['a join of the last dimension', () => l.join(of, 1)],
  ['a permutation that names a dimension twice', () => l.permute(of, [0, 0])],
  ['a permutation of too many dimensions', () => l.permute(of, [0, 1, 2])],
  ['a transposition with a dimension that is not there', () => l.transpose(of, 0, 2)],
  ['a slice over the end', () => l.slice(of, 0, 3, 4)],
  ['a slice from a negative index', () => l.slice(of, 0, -1, 2)],
  ['a stride of no step', () => l.stride(of, 0, 0)],
  ['a stride from over the end', () => l.stride(of, 0, 1, 7)],
  ['windows longer than the dimension', () => l.slide(of, 1, 5, 1)],
  ['repeating half a time', () => l.repeat(of, 0, 0.5)],
  ['repeating along a far dimension', () => l.repeat(of, 3, 2)],
  ['a concat of nothing', () => l.concat(0)],
  ['a concat of shapes that differ elsewhere', () => l.concat(0, of, l.zeros([6, 5]))],
  ['a stack of different shapes', () => l.stack(0, of, l.zeros([5, 4]))],
  ['a negative pad', () => l.pad(of, 0, -1, 0)],
  ['a block that ends before it begins', () => l.within(of, 0, 3, 2)],
  ['a hole over the end', () => l.without(of, 0, 3, 7)],
  ['a gap over the end', () => l.gap(of, 1, 3, 5)],
  ['an order of indices that are not there', () => l.gather(of, 1, { powersOf: 7 })],
  ['a function that asks for a dimension that is not there', () => l.map(of, 'f', [2])],
  ['blocks of nothing', () => l.splitAxis('input', { count: 4, block: 0, step: 1, next: 4 })],
  ['a mask of remainders that there are not', () => l.mask(of, 0, 2, 0, 3)],
  ['an alternation along a dimension that is not there', () => l.alternate(of, 2)],
])('%s is refused', (_, make) => {
  expect(make).toThrow(RangeError);
});

it('prints the normal form: a stride over a signal and its mirror image is two strides', () => {
  const signal = l.memory('input', [512], [1]);
  const extended = l.concat(0, signal, l.reverse(signal, 0));
  expect(l.printLayout(extended)).toBe('concat(0)(input[512]:[1], input+511[512]:[-1])');
  expect(l.printLayout(l.stride(extended, 0, 2))).toBe('concat(0)(input[256]:[2], input+511[256]:[-2])');
});

it('prints each kind of node', () => {
  expect(l.printLayout(l.negate(l.slice(of, 0, 1, 2)))).toBe('-input+4[2, 4]:[4, 1]');
  expect(l.printLayout(l.pad(of, 1, 0, 2))).toBe('concat(1)(input[6, 4]:[4, 1], zeros[6, 2])');
  expect(l.printLayout(l.alternate(of, 1))).toBe('input[6, 4]:[4, 1] |> alternate(i1)');
  expect(l.printLayout(l.mask(of, 0, 3, 1, 2))).toBe('input[6, 4]:[4, 1] |> mask((i0) mod 3 in 1..1)');
  expect(l.printLayout(l.map(of, 'load', [1, 0]))).toBe('load(input[6, 4]:[4, 1]; i1; i0)');
  expect(l.printLayout(l.gather(of, 1, { powersOf: 3 }))).toBe('input[6, 4]:[4, 1] |> gather(1, powers modulo 3)');
  const axis = l.splitAxis('input', { count: 10, block: 4, step: 1, next: 100 });
  expect(l.printLayout(axis)).toBe('input[3, 4]:[100, 1] |> join(0) |> at[10](i0)');
  expect(l.printLayout(l.slice(axis, 0, 0, 8))).toBe('input[2, 4]:[100, 1] |> join(0)');
});

it('a split axis is its blocks one after another, the last of them shorter', () => {
  const axis = l.splitAxis('input', { count: 10, block: 4, step: 2, next: 100 }, 7);
  const places = Array.from({ length: 10 }, (_, n) => l.elementOfLayout(axis, [n])!.place);
  expect(places).toEqual([7, 9, 11, 13, 107, 109, 111, 113, 207, 209]);
});

it('negative and zero strides are strides like others', () => {
  expect(l.printLayout(l.reverse(l.memory('input', [5], [3]), 0))).toBe('input+12[5]:[-3]');
  expect(l.printLayout(l.repeat(l.memory('input', [5], [3]), 0, 2))).toBe('input[2, 5]:[0, 3]');
});
