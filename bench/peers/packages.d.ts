/** Packages that bring no types of their own, as far as the benchmark uses them. */
declare module '@echogarden/pffft-wasm/simd' {
  export interface Pffft {
    /** Replaced when the heap grows: read it again after every allocation. */
    readonly HEAPF32: Float32Array;
    _pffft_new_setup(length: number, transform: number): number;
    _pffft_destroy_setup(setup: number): void;
    _pffft_transform_ordered(setup: number, input: number, output: number, work: number, direction: number): void;
    _pffft_aligned_malloc(bytes: number): number;
    _pffft_aligned_free(pointer: number): void;
    _pffft_simd_size(): number;
  }
  export default function load(): Promise<Pffft>;
}

declare module 'fourier-transform' {
  /** Spectrum of reals, of N / 2 + 1 bins. */
  export function fft(input: Float64Array, output: [Float64Array, Float64Array]): [Float64Array, Float64Array];
}
