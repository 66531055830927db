/**
 * Butterflies: the discrete Fourier transform of a few values that are already at hand, derived from its formula.
 *
 * Six identities, chosen by the length alone but for large primes, run through the folding constructors of ir/real.ts:
 * prime lengths by conjugate symmetry and Rader's ordering, which turns the cosine and sine sums into a cyclic and a
 * skew-cyclic correlation, or, where they are large, by transforms of one point less; coprime factors by Good's mapping, without twiddles; powers of two from 16 up by split radix and
 * powers of three, both with conjugate twiddles; everything else by Cooley–Tukey. The operation counts are those of FFTW's
 * published codelets or fewer (see the test), and where multiply-adds are one operation mostly those of its codelets for that.
 */

import type { Complex, Expressions, Real } from '../ir/real.ts';
import type { Exact } from '../numeric/exact.ts';
import * as exact from '../numeric/exact.ts';
import { powers, rootSpectrumComplexDds } from '../numeric/powers.ts';
import { inverseModulo, modPow, primeFactors, primitiveRoot } from '../numeric/primes.ts';

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

/** A transform that is a step of a larger one: its results are best computed before the next one begins. */
function part(x: Expressions, values: readonly Complex[], whole: number, convolved?: readonly number[]): Complex[] {
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
  // Eighths of a turn cost next to nothing. Others are products of four, best done before the next column begins.
  const costly = n > 8;
  const columns = indices(b).map((j) => {
    const inputs = indices(a).map((i) => values[b * i + j]!);
    const column = costly ? dft(x, inputs) : part(x, inputs, n);
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
 * A power of three, with j in n = 3·i + j counted from the middle: −1, 0, 1. The twiddles of the outer columns are conjugate then
 * (Kamar and Elcherif 1989), and with the columns' results c, X[k] = c₀ + (c₁ + c₋₁)·cos 2πk/N − i·(c₁ − c₋₁)·sin 2πk/N: as
 * many operations as with twiddles and a butterfly after them, but with multiply-adds 16 instead of 20 for three values.
 */
function centred(x: Expressions, values: readonly Complex[]): Complex[] {
  const n = values.length;
  const third = n / 3;
  const [middle, after, before] = [0, 1, n - 1].map((j) =>
    part(
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
    part(
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
 * Split radix: one half-length transform of the even and two quarter-length ones of the odd values, those of 4m + 1 and 4m − 1
 * (Yavne 1968 has 4m + 3), whose twiddles are conjugate (Kamar and Elcherif 1989) and so have a factor in common.
 */
function splitRadix(x: Expressions, values: readonly Complex[]): Complex[] {
  const n = values.length;
  const quarter = n / 4;
  const even = part(
    x,
    indices(n / 2).map((m) => values[2 * m]!),
    n,
  );
  const first = part(
    x,
    indices(quarter).map((m) => values[4 * m + 1]!),
    n,
  );
  const last = part(
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
 * The same by a cyclic convolution of length p − 1 that is done by transforms (Rader 1968): inputs at powers of a generator g,
 * their transform, a product with that of the roots e^{−2πi·m/p} at m = g^−n, and the way back, to outputs at g^−n. Bin 0 of the first
 * transform and x[0] are X[0]; x[0] added to it after the product comes back in every output.
 */
function primeConvolved(x: Expressions, values: readonly Complex[], convolved: readonly number[]): Complex[] {
  const p = values.length;
  const [zero] = values as [Complex];
  const order = powers(p);
  const inputs = order.map((m) => values[m]!);
  const bins = part(x, inputs, p, convolved);
  const spectrum = spectrumOf(p);
  const products = bins.map((bin, n) => {
    const product = x.cmul(bin, { re: x.constant(spectrum[n]!.re), im: x.constant(spectrum[n]!.im) });
    const kept = n === 0 ? x.cadd(product, zero) : product;
    x.together(kept);
    return kept;
  });
  const outputs = dft(x, products, convolved);
  const result: Complex[] = new Array(p);
  result[0] = x.cadd(zero, bins[0]!);
  // Backwards, bin −n is what forwards bin n would be.
  powers(p).forEach((k, n) => {
    result[k] = outputs[n]!;
  });
  return result;
}

const spectra = new Map<number, readonly { readonly re: Exact; readonly im: Exact }[]>();

function spectrumOf(p: number) {
  let spectrum = spectra.get(p);
  if (!spectrum) {
    const complexDds = rootSpectrumComplexDds(p);
    // Bins 0 and h have one part only; what is left of the other is rounding.
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
 * Σₐ s[a + b] · v[a] for every b, where s[i + h] = −s[i]. The largest s stands before each sum: as many operations, but where
 * multiply-adds are one, one less, because its product goes into the sums that follow.
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
