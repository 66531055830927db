/** Arrays with the element types of `.npy` files. */

/** Element types that omnifft computes with. */
export type NpyDtype = 'float32' | 'float64' | 'complex64' | 'complex128';

/** Typed arrays by element type. */
export interface NpyData {
  readonly float32: Float32Array;
  readonly float64: Float64Array;
  readonly complex64: Float32Array;
  readonly complex128: Float64Array;
}

/** A dense array in C order. */
export interface NpyArray<T extends NpyDtype = NpyDtype, S extends readonly number[] = readonly number[]> {
  /** All elements, slowest axis first; complex numbers interleaved as `re, im`, so twice as many entries. */
  readonly data: NpyData[T];
  /** Lengths of the axes, row-major: slowest first. Empty for a single number. */
  readonly shape: S;
  readonly dtype: T;
}
