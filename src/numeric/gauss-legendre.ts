/** Gauss–Legendre quadrature. */

export interface Quadrature {
  readonly nodes: Float64Array;
  readonly weights: Float64Array;
}

/** Nodes in (−1, 1), in descending order, and weights: exact for polynomials of a degree below 2n. (Newton's method from Tricomi's estimates.) */
export function gaussLegendre(n: number): Quadrature {
  const nodes = new Float64Array(n);
  const weights = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
    let slope = 0;
    for (let round = 0; round < 20; round++) {
      const [value, previous] = legendre(n, x);
      slope = (n * (x * value - previous)) / (x * x - 1);
      const step = value / slope;
      x -= step;
      if (Math.abs(step) < 1e-16) break;
    }
    nodes[i] = x;
    weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return { nodes, weights };
}

/** The Legendre polynomials of degrees n and n − 1. */
function legendre(n: number, x: number): [value: number, previous: number] {
  let [previous, value] = [0, 1];
  for (let k = 1; k <= n; k++) [previous, value] = [value, ((2 * k - 1) * x * value - (k - 1) * previous) / k];
  return [value, previous];
}
