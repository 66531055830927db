/** The ten programs of the language's contract, as users write them. */

import type { Arr, Complex, Real } from '../../src/lift/index.ts';
import {
  add,
  array2,
  complex,
  conj,
  dft,
  fft,
  id,
  ifft,
  iterate,
  join,
  log,
  map,
  mapLocal,
  mapWorkgroup,
  max,
  mul,
  norm2,
  omega,
  pad,
  pipe,
  program,
  real,
  reduce,
  rewrite,
  rfft,
  rules,
  size,
  slide,
  split,
  sub,
  toGlobal,
  toLocal,
  transpose,
  zip,
} from '../../src/lift/index.ts';

const n = size('n'),
  m = size('m'),
  k = size('k');
const product = (rs: readonly number[]) => rs.reduce((a, b) => a * b, 1);
// 1 dot product; 2 matrix times vector; 3 matrix product, tiled by rules
const dot = (v: Arr<Real>, w: Arr<Real>) => reduce(add, 0, map(mul, zip(v, w)));
export const dotProduct = program({ v: real(n), w: real(n) }, ({ v, w }) => dot(v, w));
export const matVec = program({ M: real(m, n), v: real(n) }, ({ M, v }) => map((row) => dot(row, v), M));
export const matMul = program({ A: real(m, k), B: real(k, n) }, ({ A, B }) =>
  map((row) => map((column) => dot(row, column), transpose(B)), A),
);
export const tiled = rewrite(matMul, rules.splitMap(64), rules.mapWorkgroup, rules.mapLocal).program;
// 4 three-point stencil
export const blur = program({ x: real(n) }, ({ x }) =>
  pipe(
    x,
    pad(1, 1, 'clamp'),
    slide(3, 1),
    map(([a, b, c]) => add(mul(0.5, b), mul(0.25, add(a, c)))),
  ),
);
// The same over an image, of k × k points and any weights; an image without a boundary has k − 1 rows and columns more.
export const stencil = (height: number, width: number, k: number, boundary?: 'wrap' | 'clamp' | 'mirror' | number) => {
  const [before, after] = boundary === undefined ? [0, 0] : [k >> 1, k - 1 - (k >> 1)];
  const more = boundary === undefined ? k - 1 : 0;
  return program({ x: real(height + more, width + more), h: real(k * k) }, ({ x, h }) => {
    const image = boundary === undefined ? x : pad(before, after, boundary, map(pad(before, after, boundary), x));
    return map((rows) => map((window) => dot(join(window), h), slide(k, 1, transpose(rows))), slide(k, 1, image));
  });
};
// 5 DFT as matrix times vector
const cdot = (v: Arr<Complex>, w: Arr<Complex>) => reduce((s, a, b) => add(s, mul(a, b)), 0, zip(v, w));
export const naive = (N: number) =>
  program({ v: complex(N) }, ({ v }) =>
    map(
      (row) => cdot(row, v),
      array2(N, N, (j, l) => omega(j * l, N)),
    ),
  );
// 6 user functions that take and return arrays: our derived butterflies, or one's own
export const butterflies = (r: number) => program({ v: complex(n) }, ({ v }) => join(map(dft, split(r, v))));
export const haar = program({ x: real(n) }, ({ x }) => join(map(([a, b]) => [add(a, b), sub(a, b)], split(2, x))));
// 7 Stockham (2), any radices
const kronIdR = (q: number, f: (x: Arr<Complex>) => Arr<Complex>) => (v: Arr<Complex>) =>
  join(transpose(map(f, transpose(split(q, v)))));
const multPiT = (r: number) => (v: Arr<Complex>) => join(transpose(split(r, v)));
const multB = (r: number, L: number) => (v: Arr<Complex>) =>
  join(
    transpose(
      map(
        (vj, tj) => dft(map(mul, zip(vj, tj))),
        zip(
          transpose(split(L / r, v)),
          array2(L / r, r, (j, l) => omega(j * l, L)),
        ),
      ),
    ),
  );
const pass = (r: number, L: number, N: number) => (v: Arr<Complex>) =>
  kronIdR(N / L, multB(r, L))(kronIdR(N / L, multPiT(r))(v));
const stockham = (rs: readonly number[]) => (v: Arr<Complex>) =>
  rs.reduce((x, r, q) => pass(r, product(rs.slice(0, q + 1)), product(rs))(x), v);
export const fft4096 = program({ v: complex(4096) }, ({ v }) => stockham([16, 16, 16])(v));
// 8 Cooley–Tukey, recursive: (3) is what it unrolls to
const decimated =
  (rs: readonly number[]) =>
  (v: Arr<Complex>): Arr<Complex> => {
    const [r, ...rest] = rs;
    return r === undefined ? v : multB(r, product(rs))(join(map(decimated(rest), transpose(split(r, v)))));
  };
export const ct = (rs: readonly number[]) => program({ v: complex(product(rs)) }, ({ v }) => decimated(rs)(v));
// 9 hierarchical: group, rows, twiddled transpose, columns, ungroup
const over = (N: number, nested: (x: Arr<Complex>) => Arr<Complex>) => (v: Arr<Complex>) =>
  join(mapWorkgroup((row) => toGlobal(mapLocal(id), nested(toLocal(mapLocal(id), row))), split(N, v)));
export const hierarchical = (r1: number[], r2: number[], n1 = product(r1), n2 = product(r2)) =>
  program({ v: complex(n1 * n2) }, ({ v }) =>
    pipe(
      v,
      (x) => join(transpose(split(n1, x))),
      over(n2, stockham(r2)),
      (x) =>
        join(
          transpose(
            map(
              (row, t) => map(mul, zip(row, t)),
              zip(
                split(n2, x),
                array2(n1, n2, (i, j) => omega(i * j, n1 * n2)),
              ),
            ),
          ),
        ),
      over(n1, stockham(r1)),
      (x) => join(transpose(split(n1, x))),
    ),
  );
// 10 planned transforms inside a program
export const correlate = program({ x: complex(n), h: complex(n) }, ({ x, h }) =>
  ifft(map((a, b) => mul(a, conj(b)), zip(fft(x), fft(h)))),
);
export const logMel = (length: number, hop: number, N: number, bands: number) =>
  program({ signal: real(N), window: real(length), bank: real(bands, length / 2 + 1) }, ({ signal, window, bank }) =>
    map(
      (frame) => {
        const power = map(norm2, rfft(map(mul, zip(frame, window))));
        return map((band) => log(max(1e-10, dot(band, power))), bank);
      },
      slide(length, hop, signal),
    ),
  );
export const schroedinger = (N: number, steps: number) =>
  program({ psi: complex(N), V: complex(N), K: complex(N) }, ({ psi, V, K }) =>
    iterate(steps, (p) => ifft(map(mul, zip(K, fft(map(mul, zip(V, p)))))), psi),
  );
