/**
 * Rader's algorithm: a transform of prime length p as a cyclic convolution of p − 1 points (Rader 1968; VkFFT guide 2.5.1). With a
 * primitive root g every index but 0 is a power of it, and of inputs taken at its powers,
 *
 *   X(0) = Σ x(n),   X(g^−k) = x(0) + Σ x(g^n) · w(g^(n − k)),   w(m) = e^{−2πi·m/p}.
 *
 * The sum is a cyclic convolution: a transform of length p − 1, a product with the spectrum of w(g^−n), which plan time computes, and an inverse
 * transform. The launch reads and writes its points in the two orders of powers. Bin 0 of the first transform is the sum of all inputs but x(0):
 * adding x(0) makes X(0) of it. And x(0), added to bin 0 after the product, comes back in every output.
 */
import type { Order } from '../../layout/index.ts';
import { isPrime } from '../../numeric/primes.ts';
import type { Sides } from '../../problem/index.ts';
import type { Target } from '../device/target.ts';
import { allowedAlgorithms, isPassPrime, LARGEST_CONVOLVED_PRIME, largePrimesOf } from '../group/butterflies.ts';
import { convolvedCost, exposure, type LaunchCost } from '../price/cost.ts';
import type { ConvolveSteps } from './convolve-steps.ts';

/** Whether a length is a prime whose convolution can be done by passes, in one launch. */
export function mayConvolve(length: number, target: Target): boolean {
  if (
    length < 5 ||
    length > LARGEST_CONVOLVED_PRIME ||
    !isPrime(length) ||
    !allowedAlgorithms(length, target).convolved
  )
    return false;
  const { room } = target.capacity;
  if (target.lockstep === 'threads' && length - 1 > room) return false;
  return largePrimesOf(length - 1).every((prime) => isPassPrime(prime, target));
}

/** The cost of an axis by Rader's algorithm. @param alone the cost of one transform of one point less */
export function raderCost(length: number, alone: LaunchCost, target: Target): number {
  const { rader, trip } = target.calibration;
  const permuted = target.lockstep === 'threads' ? rader.permuted / trip.passes : rader.permuted;
  return convolvedCost(length, length - 1, alone, exposure(length - 1, target)) + permuted;
}

/** The step for the bins of the transform of one point less. */
export function permuted(prime: number): ConvolveSteps {
  return { product: { factors: { kind: 'root-spectrum', modulus: prime }, origin: true } };
}

/** The orders in which the launch reads and writes the points. */
export function powerOrders(prime: number): Sides<Order> {
  return { input: { powersOf: prime }, output: { powersOf: prime, inverse: true } };
}
