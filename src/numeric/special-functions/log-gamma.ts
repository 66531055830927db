/**
 * The logarithm of the gamma function of a complex number, in doubles, by Stirling's series, which needs a large argument. A small
 * argument is first increased by the recurrence Γ(z + 1) = z Γ(z); one with a negative real part is first replaced by 1 − z, using
 * the reflection Γ(z) Γ(1 − z) = π / sin πz.
 */

/** A complex number. */
export interface ComplexPoint {
  readonly re: number;
  readonly im: number;
}

/** From this modulus on, with a real part of at least 0, the terms below leave an error under 2⁻⁵⁵. */
const FAR = 12;
/** B₂ₖ / (2k (2k − 1)), B₂ₖ being the Bernoulli numbers: the coefficients of z¹⁻²ᵏ, from k = 1 on. */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400] as const;
const HALF_LOG_TWO_PI = 0.9189385332046728;

/** Whether Γ has a pole there: 0, −1, −2 … */
export function isPoleOfGamma({ re, im }: ComplexPoint): boolean {
  return im === 0 && re <= 0 && Number.isInteger(re);
}

/** A number whose exponential is Γ(z): its imaginary part may be off by a multiple of 2π. At a pole the real part is infinite. */
export function logGamma({ re, im }: ComplexPoint): ComplexPoint {
  if (im < 0) {
    const mirrored = logGamma({ re, im: -im });
    return { re: mirrored.re, im: -mirrored.im };
  }
  if (re >= 0) return rightHalf(re, im);
  const sine = logSine(re, im);
  const other = logGamma({ re: 1 - re, im: -im });
  return { re: Math.log(Math.PI) - sine.re - other.re, im: -sine.im - other.im };
}

function rightHalf(re: number, im: number): ComplexPoint {
  let x = re;
  let factor = { re: 1, im: 0 };
  for (; Math.hypot(x, im) < FAR; x++) {
    factor = { re: factor.re * x - factor.im * im, im: factor.re * im + factor.im * x };
  }
  const [logModulus, angle] = [Math.log(Math.hypot(x, im)), Math.atan2(im, x)];
  let sum = {
    re: (x - 0.5) * logModulus - im * angle - x + HALF_LOG_TWO_PI,
    im: (x - 0.5) * angle + im * logModulus - im,
  };
  STIRLING.forEach((coefficient, k) => {
    const power = 1 - 2 * (k + 1);
    const modulus = coefficient * Math.exp(power * logModulus);
    sum = { re: sum.re + modulus * Math.cos(power * angle), im: sum.im + modulus * Math.sin(power * angle) };
  });
  return {
    re: sum.re - Math.log(Math.hypot(factor.re, factor.im)),
    im: sum.im - Math.atan2(factor.im, factor.re),
  };
}

/**
 * ln sin πz for Im z ≥ 0, up to a multiple of 2πi. Since sin πz = (i/2) e^(−iπz) (1 − e^(2πiz)), nothing overflows far from the
 * real axis. The real part is first reduced by an integer r, which multiplies the sine by (−1)^r.
 */
function logSine(re: number, im: number): ComplexPoint {
  const r = Math.round(re);
  const x = re - r;
  const [decay, turn] = [-2 * Math.PI * im, 2 * Math.PI * x];
  // 1 − e^(decay + i·turn) without cancellation near 0.
  const difference = {
    re: 2 * Math.sin(turn / 2) ** 2 - Math.expm1(decay) * Math.cos(turn),
    im: -Math.exp(decay) * Math.sin(turn),
  };
  return {
    re: Math.PI * im - Math.LN2 + Math.log(Math.hypot(difference.re, difference.im)),
    im: Math.PI * (0.5 - x + (r % 2 === 0 ? 0 : 1)) + Math.atan2(difference.im, difference.re),
  };
}
