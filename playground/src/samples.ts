/**
 * The programs that the page of programs offers: each with its source, the rules that are applied to it, data for it, and how its
 * result is shown.
 */
import { type Program, type Rule, rules } from 'omnifft/lift';
import { correlation } from './programs/correlation.ts';
import correlationSource from './programs/correlation.ts?raw';
import { filter } from './programs/filter.ts';
import filterSource from './programs/filter.ts?raw';
import { life } from './programs/life.ts';
import lifeSource from './programs/life.ts?raw';
import { product } from './programs/product.ts';
import productSource from './programs/product.ts?raw';
import { ring } from './programs/ring.ts';
import ringSource from './programs/ring.ts?raw';

export interface Sample {
  readonly title: string;
  readonly source: string;
  readonly program: Program;
  /** Rules that the page applies, one after another. */
  readonly rules: readonly Rule[];
  readonly inputs: () => Readonly<Record<string, Float32Array>>;
  /** An image of so many pixels, row after row; a curve where there is one row. */
  readonly shown: { readonly width: number; readonly height: number };
  /** The input that takes the result when the program runs once more. */
  readonly again?: string;
}

const noise = (length: number) => Float32Array.from({ length }, () => Math.random() - 0.5);
/** How far the echo of the sample lies behind, in samples. */
export const DELAY = 300;

function echo() {
  const sent = noise(2 * 1024);
  const heard = noise(2 * 1024).map((value, n) => value + sent[(n + 2 * (1024 - DELAY)) % 2048]!);
  return { heard, sent };
}

function disc() {
  const inside = (x: number, y: number) => (x - 40) ** 2 + (y - 30) ** 2 < 400;
  const image = noise(60 * 80).map((value, n) => 0.5 * value + Number(inside(n % 80, Math.floor(n / 80))));
  return { image };
}

export const samples: Readonly<Record<string, Sample>> = {
  filter: {
    title: 'Image filter',
    source: filterSource,
    program: filter,
    rules: [rules.reduceFusion, rules.mapWorkgroup, rules.mapLocal],
    inputs: disc,
    shown: { width: 80, height: 60 },
  },
  life: {
    title: 'Game of Life',
    source: lifeSource,
    program: life,
    rules: [rules.mapWorkgroup, rules.mapLocal],
    inputs: () => ({ cells: noise(40 * 60).map((value) => Number(value > 0.2)) }),
    shown: { width: 60, height: 40 },
    again: 'cells',
  },
  ring: {
    title: 'Smoothing on a ring',
    source: ringSource,
    program: ring,
    rules: [rules.stencilToFft],
    inputs: () => ({ signal: noise(1024).map((value, n) => value + Math.sin((6 * Math.PI * n) / 1024)) }),
    shown: { width: 1024, height: 1 },
  },
  correlation: {
    title: 'Correlation',
    source: correlationSource,
    program: correlation,
    rules: [],
    inputs: echo,
    shown: { width: 1024, height: 1 },
  },
  product: {
    title: 'Matrix product',
    source: productSource,
    program: product,
    rules: [rules.splitMap(12), rules.mapWorkgroup, rules.reduceFusion],
    inputs: () => ({ A: noise(60 * 40), B: noise(40 * 80) }),
    shown: { width: 80, height: 60 },
  },
};
