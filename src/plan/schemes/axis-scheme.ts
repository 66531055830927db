/**
 * An axis scheme: what the search over plans has decided for one axis, as data. The file of a transform makes its schemes, each once and with
 * its price; saved plans keep them, `explain()` prints them, and the nodes of the axis are made from a scheme without another search.
 */

/** Stockham passes: in one launch, or in several uploads of these lengths by the four-step algorithm. */
export interface Uploads {
  readonly by: 'uploads';
  readonly lengths: readonly number[];
}

/** Rader's algorithm: a transform of prime length as a cyclic convolution of one point less, in one launch. */
export interface Rader {
  readonly by: 'rader';
}

/** Bluestein's algorithm: a transform of any length as a cyclic convolution of a longer one. */
export interface Bluestein {
  readonly by: 'bluestein';
  /** Points of the convolution. */
  readonly length: number;
  /** Lengths of the uploads of the transform of `length` points and of its inverse; missing where all of it is one launch. */
  readonly uploads?: readonly number[];
  /**
   * Steps with launches of their own. `transforms`: the last upload of the first transform and the first one of the inverse are two launches.
   * `steps`: so are chirp and padding, the product, and chirp and crop, which are otherwise part of the transforms' launches.
   */
  readonly apart?: 'transforms' | 'steps';
}

/** The scheme of an axis of complex numbers. */
export type ComplexScheme = Uploads | Rader | Bluestein;

/** The scheme of an axis of real numbers: by complex transforms or by passes over reals. */
export type RealScheme =
  /** Two neighbouring reals are the parts of a complex number; a Hermitian split follows, or comes before. */
  | { readonly by: 'halves'; readonly points: ComplexScheme }
  /** Each line is transformed by itself, by passes that compute only the bins up to the half. */
  | { readonly by: 'symmetric'; readonly points: ComplexScheme }
  /** Two lines that are neighbours along a dimension of the tensor are the parts of one complex line. */
  | { readonly by: 'lines'; readonly along: number; readonly points: ComplexScheme }
  /** Several uploads. The first one transforms columns of reals, two at a time as the parts of a complex column. */
  | { readonly by: 'columns'; readonly lengths: readonly number[] }
  /** Reals are complex numbers whose imaginary parts are zero. */
  | { readonly by: 'zeros'; readonly points: ComplexScheme }
  /** Kind IV of even lengths: real n and real N − 1 − n are the parts of a complex number (VkFFT guide 2.5.5). */
  | { readonly by: 'folded'; readonly points: ComplexScheme };

/** The scheme of any axis. */
export type AxisScheme = ComplexScheme | RealScheme;

/** The scheme of passes in one launch. */
export function inOneUpload(length: number): Uploads {
  return { by: 'uploads', lengths: [length] };
}

/** The name of a scheme, for people: `1024·1024`, `Bluestein 2187`, `halves of 512`. */
export function schemeText(scheme: AxisScheme): string {
  switch (scheme.by) {
    case 'uploads':
      return scheme.lengths.join('·');
    case 'rader':
      return 'Rader';
    case 'bluestein':
      return `Bluestein ${scheme.length}${scheme.uploads ? ` as ${scheme.uploads.join('·')}` : ''}`;
    case 'columns':
      return `columns of reals, ${scheme.lengths.join('·')}`;
    case 'lines':
      return `merged lines of ${schemeText(scheme.points)}`;
    case 'symmetric':
      return `reals, ${schemeText(scheme.points)}`;
    case 'zeros':
      return `zero imaginary parts, ${schemeText(scheme.points)}`;
    default:
      return `${scheme.by} of ${schemeText(scheme.points)}`;
  }
}
