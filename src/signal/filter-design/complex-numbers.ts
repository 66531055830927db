/** Arithmetic of single complex numbers; a filter design takes some dozens of such operations. */

export interface Complex {
  readonly re: number;
  readonly im: number;
}

export const fromReal = (re: number): Complex => ({ re, im: 0 });
export const plus = (a: Complex, b: Complex): Complex => ({ re: a.re + b.re, im: a.im + b.im });
export const minus = (a: Complex, b: Complex): Complex => ({ re: a.re - b.re, im: a.im - b.im });
export const negative = ({ re, im }: Complex): Complex => ({ re: -re, im: -im });
export const conjugateOf = ({ re, im }: Complex): Complex => ({ re, im: -im });
export const timesReal = ({ re, im }: Complex, by: number): Complex => ({ re: re * by, im: im * by });
export const complexTimes = (a: Complex, b: Complex): Complex => ({
  re: a.re * b.re - a.im * b.im,
  im: a.re * b.im + a.im * b.re,
});
export const modulusOf = ({ re, im }: Complex): number => Math.hypot(re, im);
export const productOfAll = (all: readonly Complex[]): Complex => all.reduce(complexTimes, fromReal(1));

/** The quotient by Smith's method, which divides by the larger part and so avoids overflow. */
export function divide(a: Complex, b: Complex): Complex {
  if (Math.abs(b.re) >= Math.abs(b.im)) {
    const ratio = b.im / b.re;
    const by = b.re + b.im * ratio;
    return { re: (a.re + a.im * ratio) / by, im: (a.im - a.re * ratio) / by };
  }
  const ratio = b.re / b.im;
  const by = b.re * ratio + b.im;
  return { re: (a.re * ratio + a.im) / by, im: (a.im * ratio - a.re) / by };
}

/** The square root whose real part is not negative. */
export function squareRoot({ re, im }: Complex): Complex {
  const larger = Math.sqrt((Math.abs(re) + Math.hypot(re, im)) / 2);
  if (larger === 0) return fromReal(0);
  const smaller = Math.abs(im) / (2 * larger);
  const sign = im < 0 || Object.is(im, -0) ? -1 : 1;
  return re >= 0 ? { re: larger, im: sign * smaller } : { re: smaller, im: sign * larger };
}
