/**
 * Butterflies: discrete Fourier transforms of a few values in registers, derived from the formula by the folding constructors of
 * ir/real.ts. The algorithm depends on the length only, except that the planner chooses between two for large primes:
 *
 * - primes: conjugate symmetry and Rader's ordering, which turn the cosine and sine sums into a cyclic and a skew-cyclic correlation; or
 *   a cyclic convolution by transforms of length p − 1
 * - coprime factors: Good–Thomas, without twiddles
 * - powers of two from 16 up: split radix with conjugate twiddles
 * - powers of three: radix 3 with conjugate twiddles
 * - all other lengths: Cooley–Tukey
 *
 * Operation counts are at most those of FFTW's published codelets (see the test). With multiply-adds counted as one operation, most equal
 * those of FFTW's codelets for multiply-adds.
 */

import type { Complex, Expressions, Real } from '../../ir/real.ts';
import type { Exact } from '../../numeric/exact.ts';
import * as exact from '../../numeric/exact.ts';
import { rootPowersModulo, rootSpectrumComplexDds } from '../../numeric/large-primes/powers.ts';
import { inverseModulo, modPow, primeFactors, primitiveRoot } from '../../numeric/primes.ts';

/**
 * X[k] = Σ x[n] · e^{−2πi·nk/N} for N = x.length, as expressions.
 * @param convolved primes that are transformed as convolutions.
 */
export function dft(x: Expressions, values: readonly Complex[], convolved: readonly number[] = []): Complex[] {
  const n = values.length;
  if (n === 1) return [...values];
  const factors = primeFactors(n);
  if (factors.length === 1) {
    if (convolved.includes(n)) return primeConvolved(x, values, convolved);
    return n === 2 ? pair(x, values[0]!, values[1]!) : prime(x, values);
  }
  const power = factors.filter((p) => p === factors[0]).length;
  const coprime = factors[0]! ** power;
  if (coprime !== n) return good(x, values, coprime, n / coprime, convolved);
  if (factors[0] === 2 && power >= 4) return splitRadix(x, values);
  if (factors[0] === 3) return centred(x, values);
  return cooleyTukey(x, values, factors[0]! ** (power >> 1));
}

/** A transform inside a larger one, with the hint to compute all its results before the next transform begins. */
function innerDft(x: Expressions, values: readonly Complex[], whole: number, convolved?: readonly number[]): Complex[] {
  const result = dft(x, values, convolved);
  // Few values and their twiddles fit any register file.
  if (whole * x.perNumber > 9) x.together(...result);
  return result;
}

function pair(x: Expressions, a: Complex, b: Complex): Complex[] {
  return [x.cadd(a, b), x.csub(a, b)];
}

/** n = b·i + j, k = k₁ + a·k₂: a-point transforms, twiddles, b-point transforms. */
function cooleyTukey(x: Expressions, values: readonly Complex[], a: number): Complex[] {
  const n = values.length;
  const b = n / a;
  // Twiddles that are eighths of a turn are nearly free. Others are products, best computed before the next column begins.
  const costly = n > 8;
  const columns = indices(b).map((j) => {
    const inputs = indices(a).map((i) => values[b * i + j]!);
    const column = costly ? dft(x, inputs) : innerDft(x, inputs, n);
    const rotated = column.map((value, k1) => x.rotate(value, j * k1, n));
    if (costly) x.together(...rotated);
    return rotated;
  });
  const result: Complex[] = new Array(n);
  for (let k1 = 0; k1 < a; k1++) {
    const row = dft(
      x,
      columns.map((column) => column[k1]!),
    );
    if (costly) x.together(...row);
    for (let k2 = 0; k2 < b; k2++) result[k1 + a * k2] = row[k2]!;
  }
  return result;
}

/**
 * A power of three by radix 3, with j in n = 3·i + j from −1 to 1. The twiddles of the columns 1 and −1 are then conjugate (Kamar and
 * Elcherif 1989). With the transforms c of the columns, X[k] = c₀ + (c₁ + c₋₁)·cos 2πk/N − i·(c₁ − c₋₁)·sin 2πk/N. That takes as many
 * operations as twiddles followed by a butterfly; with multiply-adds, it takes 16 instead of 20 for three values.
 */
function centred(x: Expressions, values: readonly Complex[]): Complex[] {
  const n = values.length;
  const third = n / 3;
  const [middle, after, before] = [0, 1, n - 1].map((j) =>
    innerDft(
      x,
      indices(third).map((i) => values[(3 * i + j) % n]!),
      n,
    ),
  ) as [Complex[], Complex[], Complex[]];
  const result: Complex[] = new Array(n);
  for (let k1 = 0; k1 < third; k1++) {
    const sum = x.cadd(after[k1]!, before[k1]!);
    const difference = x.csub(after[k1]!, before[k1]!);
    x.together(sum, difference);
    for (const k of [k1, k1 + third, k1 + 2 * third]) {
      const along = x.cadd(middle[k1]!, x.cscale(sum, x.constant(exact.cosTurn(k, n))));
      result[k] = x.cadd(along, x.quarter(x.cscale(difference, x.constant(exact.sinTurn(k, n)))));
    }
  }
  return result;
}

/** Good–Thomas: for coprime a and b the index maps of the Chinese remainder theorem remove the twiddles. */
function good(
  x: Expressions,
  values: readonly Complex[],
  a: number,
  b: number,
  convolved: readonly number[],
): Complex[] {
  const n = a * b;
  const columns = indices(b).map((j) =>
    innerDft(
      x,
      indices(a).map((i) => values[(b * i + a * j) % n]!),
      n,
      convolved,
    ),
  );
  const stepA = b * inverseModulo(b, a);
  const stepB = a * inverseModulo(a, b);
  const result: Complex[] = new Array(n);
  for (let k1 = 0; k1 < a; k1++) {
    const row = dft(
      x,
      indices(b).map((j) => columns[j]![k1]!),
      convolved,
    );
    for (let k2 = 0; k2 < b; k2++) result[(stepA * k1 + stepB * k2) % n] = row[k2]!;
  }
  return result;
}

/**
 * Split radix: one transform of half the length for the even values, and two of a quarter of the length for the values 4m + 1 and 4m − 1
 * (4m + 3 in Yavne 1968). With 4m − 1, the twiddles of the two are conjugate (Kamar and Elcherif 1989), so they have a common factor.
 */
function splitRadix(x: Expressions, values: readonly Complex[]): Complex[] {
  const n = values.length;
  const quarter = n / 4;
  const even = innerDft(
    x,
    indices(n / 2).map((m) => values[2 * m]!),
    n,
  );
  const first = innerDft(
    x,
    indices(quarter).map((m) => values[4 * m + 1]!),
    n,
  );
  const last = innerDft(
    x,
    indices(quarter).map((m) => values[(4 * m + n - 1) % n]!),
    n,
  );
  const result: Complex[] = new Array(n);
  for (let k = 0; k < quarter; k++) {
    const a = x.rotate(first[k]!, k, n);
    const b = x.rotate(last[k]!, -k, n);
    const sum = x.cadd(a, b);
    const difference = x.quarter(x.csub(a, b));
    result[k] = x.cadd(even[k]!, sum);
    result[k + 2 * quarter] = x.csub(even[k]!, sum);
    result[k + quarter] = x.cadd(even[k + quarter]!, difference);
    result[k + 3 * quarter] = x.csub(even[k + quarter]!, difference);
  }
  return result;
}

/**
 * A prime p by a cyclic convolution of length p − 1, which is computed by transforms (Rader 1968). The inputs in the order of powers of a
 * generator g are transformed; their bins are multiplied by the spectrum of the roots e^{−2πi·m/p} in the order m = g^−n; the inverse
 * transform gives the outputs in the order g^−n. X[0] is x[0] plus bin 0 of the inputs. x[0] is also added to bin 0 after the product, which
 * adds it to every other output.
 */
function primeConvolved(x: Expressions, values: readonly Complex[], convolved: readonly number[]): Complex[] {
  const p = values.length;
  const [zero] = values as [Complex];
  const order = rootPowersModulo(p);
  const inputs = order.map((m) => values[m]!);
  const bins = innerDft(x, inputs, p, convolved);
  const spectrum = spectrumOf(p);
  const products = bins.map((bin, n) => {
    const product = x.cmul(bin, { re: x.constant(spectrum[n]!.re), im: x.constant(spectrum[n]!.im) });
    const result = n === 0 ? x.cadd(product, zero) : product;
    x.together(result);
    return result;
  });
  const outputs = dft(x, products, convolved);
  const result: Complex[] = new Array(p);
  result[0] = x.cadd(zero, bins[0]!);
  // A forward transform stands in for the inverse one: its bin n is bin −n of that one.
  rootPowersModulo(p).forEach((k, n) => {
    result[k] = outputs[n]!;
  });
  return result;
}

const spectra = new Map<number, readonly { readonly re: Exact; readonly im: Exact }[]>();

function spectrumOf(p: number) {
  let spectrum = spectra.get(p);
  if (!spectrum) {
    const complexDds = rootSpectrumComplexDds(p);
    // Bins 0 and (p − 1)/2 have one part that is exactly 0; what is computed for that part is rounding error.
    const at = (n: number) =>
      Math.abs(complexDds[n]! + complexDds[n + 1]!) < 2 ** -80
        ? exact.ZERO
        : exact.add(exact.exact(complexDds[n]!), exact.exact(complexDds[n + 1]!));
    spectrum = indices(p - 1).map((n) => ({ re: at(4 * n), im: at(4 * n + 2) }));
    spectra.set(p, spectrum);
  }
  return spectrum;
}

/**
 * Odd prime p with h = (p − 1)/2. With u and v the sums and differences of x[m] and x[p − m],
 * X[±k] = x[0] + Σ u·cos ∓ i·Σ v·sin. Ordered by powers of a generator (Rader 1968) the cosine sum is a cyclic
 * correlation of length h, the sine sum a skew-cyclic one.
 */
function prime(x: Expressions, values: readonly Complex[]): Complex[] {
  const p = values.length;
  const h = (p - 1) / 2;
  const generator = primitiveRoot(p);
  const powers = indices(h).map((a) => modPow(generator, a, p));
  const sums = powers.map((m) => x.cadd(values[m]!, values[p - m]!));
  const differences = powers.map((m) => x.csub(values[m]!, values[p - m]!));
  if (p > 3) powers.forEach((_, a) => x.together(sums[a]!, differences[a]!));
  const parts = (['re', 'im'] as const).map((part) => {
    const cosine = cyclic(
      x,
      powers.map((m) => exact.cosTurn(m, p)),
      sums.map((u) => u[part]),
      values[0]![part],
    );
    const sine = skewCyclic(
      x,
      powers.map((m) => exact.sinTurn(m, p)),
      differences.map((v) => v[part]),
    );
    return { cosine, sine };
  });
  const [re, im] = parts as [(typeof parts)[0], (typeof parts)[0]];
  const result: Complex[] = new Array(p);
  result[0] = { re: re.cosine.total, im: im.cosine.total };
  powers.forEach((k, b) => {
    const even = { re: re.cosine.outputs[b]!, im: im.cosine.outputs[b]! };
    const odd = x.quarter({ re: re.sine[b]!, im: im.sine[b]! });
    if (p > 5) x.together(even, odd);
    result[k] = x.cadd(even, odd);
    result[p - k] = x.csub(even, odd);
  });
  return result;
}

/** offset + Σₐ c[(a + b) mod h] · u[a] for every b, and offset + Σ u. */
function cyclic(
  x: Expressions,
  c: readonly Exact[],
  u: readonly Real[],
  offset: Real,
): { outputs: Real[]; total: Real } {
  const h = u.length;
  if (h % 2 === 1) {
    const total = u.reduce((sum, value) => x.add(sum, value), offset);
    const outputs = indices(h).map((b) =>
      u.reduce((sum, value, a) => x.add(sum, x.mul(x.constant(c[(a + b) % h]!), value)), offset),
    );
    return { outputs, total };
  }
  // x^h − 1 = (x^t − 1)(x^t + 1): half as many products.
  const t = h / 2;
  const half = exact.rational(1, 2);
  const low = indices(t);
  const even = cyclic(
    x,
    low.map((a) => exact.mul(half, exact.add(c[a]!, c[a + t]!))),
    low.map((a) => x.add(u[a]!, u[a + t]!)),
    offset,
  );
  const odd = skewCyclic(
    x,
    low.map((a) => exact.mul(half, exact.sub(c[a]!, c[a + t]!))),
    low.map((a) => x.sub(u[a]!, u[a + t]!)),
  );
  return {
    outputs: [...low.map((b) => x.add(even.outputs[b]!, odd[b]!)), ...low.map((b) => x.sub(even.outputs[b]!, odd[b]!))],
    total: even.total,
  };
}

/**
 * Σₐ s[a + b] · v[a] for every b, where s[i + h] = −s[i]. The largest s is factored out of each sum. That takes as many operations as
 * without; with multiply-adds it takes one less, because the product with the factor fuses into the sums that follow.
 */
function skewCyclic(x: Expressions, s: readonly Exact[], v: readonly Real[]): Real[] {
  const h = v.length;
  const largest = indices(h).reduce((best, i) =>
    exact.sign(exact.sub(exact.abs(s[i]!), exact.abs(s[best]!))) > 0 ? i : best,
  );
  return indices(h).map((b) => {
    const at = (largest - b + h) % h;
    const factor = (a: number) => (a + b < h ? s[a + b]! : exact.neg(s[a + b - h]!));
    const sum = v.reduce(
      (sum, value, a) => (a === at ? sum : x.add(sum, x.mul(x.constant(exact.div(factor(a), factor(at))), value))),
      v[at]!,
    );
    return x.mul(x.constant(factor(at)), sum);
  });
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
