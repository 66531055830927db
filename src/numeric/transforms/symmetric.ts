/** Transforms of symmetric numbers, x(−n) = x(n) on a circle: half as long as others, and so are their results. */
import { type Numbers, transformedArray } from './passes.ts';

/**
 * @param x at 0, 1, … up to half the length, or just below it.
 * @returns X(k) = Σ x(n)·e^(−2πi·nk/length) at the same places, which is symmetric, too.
 */
export function symmetricTransform(x: Float64Array, length: number, numbers: Numbers): Float64Array {
  return length % 2 === 0 && length > 2 ? byHalves(x, length, numbers) : asAWhole(x, length, numbers);
}

/** The same without a division by sines, which double-doubles are too good for: twice as long. */
export function asAWhole(x: Float64Array, length: number, { words, ...numbers }: Numbers): Float64Array {
  const circle = new Float64Array(words * length);
  for (let n = 0; n < length; n++) {
    const from = words * Math.min(n, length - n);
    for (let word = 0; word < words; word++) circle[words * n + word] = x[from + word]!;
  }
  return transformedArray(circle, { words, ...numbers }).slice(0, x.length);
}

/**
 * With half = length/2, y(n) = x(2n) + x(2n + 1) − x(2n − 1) is a symmetric sequence plus one that is odd. Of its transform
 * the even part is E(k) = Σ x(2n)·e^(−2πi·nk/half), the odd one D(k) = (e^(iθ) − e^(−iθ))·e^(−iθ)·Σ x(2n + 1)·e^(−2πi·nk/half)
 * with θ = 2πk/length, and X(k) = E(k) + D(k)/(2i·sin θ). (Cooley, Lewis and Welch 1970. The sine costs as many digits as
 * the length has, in the few places where it is small.)
 */
function byHalves(x: Float64Array, length: number, numbers: Numbers): Float64Array {
  const { words, add, subtract, scale } = numbers;
  const half = length / 2;
  const place = (n: number) => words * (n <= half ? n : length - n);
  const y = new Float64Array(words * half);
  const ends = new Float64Array(2 * words);
  for (let n = 0; n < half; n++) {
    subtract(y, words * n, x, place(2 * n + 1), x, place(Math.abs(2 * n - 1)));
    add(y, words * n, y, words * n, x, place(2 * n));
    add(ends, 0, ends, 0, x, place(2 * n));
    add(ends, words, ends, words, x, place(2 * n + 1));
  }
  const result = new Float64Array(words * (half + 1));
  add(result, 0, ends, 0, ends, words);
  subtract(result, words * half, ends, 0, ends, words);
  const spectrum = transformedArray(y, numbers);
  const count = Math.floor(half / 2) + 1;
  // The roots have −sin θ. Twice the even and the odd part come together: a half more.
  const factors = numbers.inverses(numbers.roots(length, count), -1 / 4);
  const [even, odd, rotated] = [new Float64Array(words), new Float64Array(words), new Float64Array(words)];
  for (let k = 1; k < count; k++) {
    add(even, 0, spectrum, words * k, spectrum, words * (half - k));
    subtract(odd, 0, spectrum, words * k, spectrum, words * (half - k));
    for (let word = 0; word < words; word++) even[word]! *= 0.5;
    scale(odd, 0, factors, (k * words) / 2);
    // 1/i = −i: the parts change places.
    for (let word = 0; word < words / 2; word++) {
      rotated[word] = odd[word + words / 2]!;
      rotated[word + words / 2] = -odd[word]!;
    }
    subtract(result, words * (half - k), even, 0, rotated, 0);
    add(result, words * k, even, 0, rotated, 0);
  }
  return result;
}
