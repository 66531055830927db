/** Fourier transforms as programs, in the variants of the paper's figures. */
import {
  type Arr,
  add,
  array,
  array2,
  array3,
  type Complex,
  complex,
  dft,
  join,
  map,
  mapWorkgroup,
  mul,
  omega,
  type Program,
  program,
  reduce,
  split,
  toGlobal,
  toLocal,
  transpose,
  zip,
} from '../../src/lift/index.ts';

type Vector = Arr<Complex>;
export type OfVector = (v: Vector) => Vector;

/** How a pass multiplies by its butterfly matrices: dense matrices, or twiddles and then a transform of as many points as the radix. */
export type Twiddles = 'dense' | 'table' | 'powers';

const product = (rs: readonly number[]) => rs.reduce((a, b) => a * b, 1);
export const global: OfVector = (v) => toGlobal((x: Vector) => x, v);
export const local: OfVector = (v) => toLocal((x: Vector) => x, v);
const plain: OfVector = (v) => v;
const cdot = (v: Vector, w: Vector) => reduce((s, a, b) => add(s, mul(a, b)), 0, zip(v, w));

/** 1, w, w², …, of r numbers. */
function powers(w: Complex, r: number): Complex[] {
  const all: Complex[] = [{ re: 1, im: 0 } as never, w];
  for (let l = 2; l < r; l++) all.push(mul(all[l >> 1]!, all[l - (l >> 1)]!));
  return all.slice(0, r);
}

/** The product with a butterfly matrix of radix r for L points. */
const multB =
  (r: number, L: number, twiddles: Twiddles) =>
  (v: Vector): Vector => {
    const rows = transpose(split(L / r, v));
    if (L === r && twiddles !== 'dense') return dft(v);
    if (twiddles === 'dense') {
      const matrices = array3(L / r, r, r, (j, k, l) => omega((((k * L) / r + j) * l) % L, L));
      return join(transpose(map((vj, Bj) => map((row) => cdot(row, vj), Bj), zip(rows, matrices))));
    }
    if (twiddles === 'powers') {
      const roots = array(L / r, (j) => omega(j, L));
      return join(transpose(map((vj, w) => dft(map(mul, zip(vj, powers(w, r) as never as Vector))), zip(rows, roots))));
    }
    // The table lies as neighbouring threads read it.
    const table = transpose(array2(r, L / r, (l, j) => omega(j * l, L)));
    return join(transpose(map((vj, tj) => dft(map(mul, zip(vj, tj))), zip(rows, table))));
  };

const kronIdR = (q: number, f: OfVector) => (v: Vector) => join(transpose(map(f, transpose(split(q, v)))));
const kronIdL = (q: number, f: OfVector) => (v: Vector) => join(map(f, split(q, v)));
const multPiT = (r: number) => (v: Vector) => join(transpose(split(r, v)));

/** Stockham's passes. @param between where what a pass gives lies for the next one */
export const stockham =
  (rs: readonly number[], twiddles: Twiddles = 'table', between: OfVector = plain) =>
  (v: Vector): Vector =>
    rs.reduce((x, r, q) => {
      const [L, N] = [product(rs.slice(0, q + 1)), product(rs)];
      const y = kronIdR(N / L, multB(r, L, twiddles))(kronIdR(N / L, multPiT(r))(x));
      return q < rs.length - 1 ? between(y) : y;
    }, v);

/** Passes of Cooley and Tukey, after one permutation. */
export const cooleyTukey =
  (rs: readonly number[], twiddles: Twiddles = 'table', between: OfVector = plain) =>
  (v: Vector): Vector => {
    const N = product(rs);
    const permuted = rs.reduceRight((x, r, q) => {
      const L = product(rs.slice(0, q + 1));
      return kronIdL(L, multPiT(r))(x);
    }, v);
    return rs.reduce((x, r, q) => {
      const L = product(rs.slice(0, q + 1));
      const y = kronIdL(L, multB(r, L, twiddles))(x);
      return L < N ? between(y) : y;
    }, permuted);
  };

/** A transform of each row; `rows` of them in a work-group. */
const over =
  (N: number, rows: number, nested: OfVector) =>
  (v: Vector): Vector =>
    join(join(mapWorkgroup((tile) => map(nested, tile), split(rows, split(N, v)))));

/** Rows times e^(−2πi·ij/n), from two tables whose entries are multiplied. */
const twiddled =
  (n1: number, n2: number) =>
  (v: Vector): Arr<Vector> => {
    const n = n1 * n2;
    let s = 1;
    while (s * s < n2 && n2 % (2 * s) === 0) s *= 2;
    const coarse = transpose(array2(n2 / s, n1, (h, i) => omega((i * h * s) % n, n)));
    const fine = transpose(array2(s, n1, (l, i) => omega((i * l) % n, n)));
    return map(
      (row, a, b) =>
        join(map((chunk, ah) => map((x, bl) => mul(x, mul(ah, bl)), zip(chunk, b)), zip(split(s, row), a))),
      zip(split(n2, v), coarse, fine),
    ) as Arr<Vector>;
  };

export interface Hierarchy {
  /** Radices of the n1 points of a column, and of the n2 points of a row. */
  readonly columns: readonly number[];
  readonly rows: readonly number[];
  readonly twiddles?: Twiddles;
  /** Rows of a work-group. */
  readonly tile?: number;
  /** Each of the five steps is a kernel of its own. */
  readonly isStored?: boolean;
}

/** Group, rows, twiddled transpose, columns, ungroup. */
export function hierarchical({ columns, rows, twiddles = 'table', tile = 1, isStored = false }: Hierarchy): OfVector {
  const [n1, n2] = [product(columns), product(rows)];
  const step = isStored ? global : plain;
  return (v) => {
    const grouped = step(join(transpose(split(n1, v))));
    const ofRows = over(n2, tile, stockham(rows, twiddles, local))(grouped);
    const turned = step(join(transpose(twiddled(n1, n2)(ofRows))));
    const ofColumns = step(over(n1, tile, stockham(columns, twiddles, local))(turned));
    return join(transpose(split(n1, ofColumns)));
  };
}

/** All passes in one work-group. */
export const inOneGroup = (rs: readonly number[], twiddles: Twiddles = 'table', batches = 1): OfVector =>
  over(product(rs), batches, stockham(rs, twiddles, local));

export const fftProgram = (n: number, f: OfVector): Program<{ v: ReturnType<typeof complex> }> =>
  program({ v: complex(n) as never }, ({ v }) => f(v as never) as never);
