/** All rows of the source documents, in their order. */
import { bbfftRows } from './bbfft.ts';
import { bluesteinRows } from './bluestein.ts';
import { rocFftRows } from './rocfft.ts';
import type { Row } from './toolkit.ts';
import { vkFftParameterRows } from './vkfft-parameters.ts';
import { vkFftPlanRows } from './vkfft-plans.ts';
import { vkFftSampleRows } from './vkfft-samples.ts';
import { vkFftSchemeRows } from './vkfft-schemes.ts';

export const rows: readonly Row[] = [
  ...rocFftRows,
  ...bluesteinRows,
  ...bbfftRows,
  ...vkFftPlanRows,
  ...vkFftParameterRows,
  ...vkFftSchemeRows,
  ...vkFftSampleRows,
];
