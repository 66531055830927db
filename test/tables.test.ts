/** The tables of docs/errors.md and docs/vkfft-parity.md hold what they say. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fftErrorCodes } from '../src/problem/errors.ts';

const docs = new URL('../docs/', import.meta.url);

/** The cells of every row of a document's tables, without their heads. */
function rowsOf(document: string): string[][] {
  const lines = readFileSync(new URL(document, docs), 'utf8').split('\n');
  return lines
    .filter((line, n) => line.startsWith('|') && !line.startsWith('|---') && !lines[n + 1]?.startsWith('|---'))
    .map((line) =>
      line
        .slice(1, line.lastIndexOf('|'))
        .split(' | ')
        .map((cell) => cell.trim()),
    );
}

/** What stands in back quotes. */
function wordsOf(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
}

/** The values of `VkFFTResult` (VkFFT API guide 1.3.3, section 4.1), as far as they differ without `VKFFT_ERROR_`. */
const vkFftResults = `
  VKFFT_SUCCESS MALLOC_FAILED INSUFFICIENT_CODE_BUFFER INSUFFICIENT_TEMP_BUFFER PLAN_NOT_INITIALIZED
  NULL_TEMP_PASSED MATH_FAILED FFTdim_GT_MAX_FFT_DIMENSIONS NONZERO_APP_INITIALIZATION INVALID_PHYSICAL_DEVICE
  INVALID_DEVICE INVALID_QUEUE INVALID_COMMAND_POOL INVALID_FENCE ONLY_FORWARD_FFT_INITIALIZED
  ONLY_INVERSE_FFT_INITIALIZED INVALID_CONTEXT INVALID_PLATFORM EMPTY_FILE EMPTY_FFTdim EMPTY_size
  EMPTY_bufferSize EMPTY_buffer EMPTY_tempBufferSize EMPTY_tempBuffer EMPTY_inputBufferSize EMPTY_inputBuffer
  EMPTY_outputBufferSize EMPTY_outputBuffer EMPTY_kernelSize EMPTY_kernel EMPTY_applicationString
  EMPRY_useCustomBluesteinPaddingPattern_arrays EMPTY_app INVALID_user_tempBuffer_too_small UNSUPPORTED_RADIX
  UNSUPPORTED_FFT_LENGTH UNSUPPORTED_FFT_LENGTH_R2C UNSUPPORTED_FFT_LENGTH_R2R UNSUPPORTED_FFT_OMIT
  FAILED_TO_ALLOCATE FAILED_TO_MAP_MEMORY FAILED_TO_ALLOCATE_COMMAND_BUFFERS FAILED_TO_BEGIN_COMMAND_BUFFER
  FAILED_TO_END_COMMAND_BUFFER FAILED_TO_SUBMIT_QUEUE FAILED_TO_WAIT_FOR_FENCES FAILED_TO_RESET_FENCES
  FAILED_TO_CREATE_DESCRIPTOR_POOL FAILED_TO_CREATE_DESCRIPTOR_SET_LAYOUT FAILED_TO_ALLOCATE_DESCRIPTOR_SETS
  FAILED_TO_CREATE_PIPELINE_LAYOUT FAILED_SHADER_PREPROCESS FAILED_SHADER_PARSE FAILED_SHADER_LINK
  FAILED_SPIRV_GENERATE FAILED_TO_CREATE_SHADER_MODULE FAILED_TO_CREATE_INSTANCE FAILED_TO_SETUP_DEBUG_MESSENGER
  FAILED_TO_FIND_PHYSICAL_DEVICE FAILED_TO_CREATE_DEVICE FAILED_TO_CREATE_FENCE FAILED_TO_CREATE_COMMAND_POOL
  FAILED_TO_CREATE_BUFFER FAILED_TO_ALLOCATE_MEMORY FAILED_TO_BIND_BUFFER_MEMORY FAILED_TO_FIND_MEMORY
  FAILED_TO_SYNCHRONIZE FAILED_TO_COPY FAILED_TO_CREATE_PROGRAM FAILED_TO_COMPILE_PROGRAM FAILED_TO_GET_CODE_SIZE
  FAILED_TO_GET_CODE FAILED_TO_DESTROY_PROGRAM FAILED_TO_LOAD_MODULE FAILED_TO_GET_FUNCTION
  FAILED_TO_SET_DYNAMIC_SHARED_MEMORY FAILED_TO_MODULE_GET_GLOBAL FAILED_TO_LAUNCH_KERNEL FAILED_TO_EVENT_RECORD
  FAILED_TO_ADD_NAME_EXPRESSION FAILED_TO_INITIALIZE FAILED_TO_SET_DEVICE_ID FAILED_TO_GET_DEVICE
  FAILED_TO_CREATE_CONTEXT FAILED_TO_CREATE_PIPELINE FAILED_TO_SET_KERNEL_ARG FAILED_TO_CREATE_COMMAND_QUEUE
  FAILED_TO_RELEASE_COMMAND_QUEUE FAILED_TO_ENUMERATE_DEVICES FAILED_TO_GET_ATTRIBUTE FAILED_TO_CREATE_EVENT
  FAILED_TO_CREATE_COMMAND_LIST FAILED_TO_DESTROY_COMMAND_LIST FAILED_TO_SUBMIT_BARRIER
`
  .trim()
  .split(/\s+/);

describe('docs/errors.md', () => {
  const rows = rowsOf('errors.md');
  const ours = rows.filter(({ length }) => length === 4);
  const theirs = rows.filter(({ length }) => length === 2);

  it('names each of VkFFT’s results exactly once', () => {
    const named = [...ours.map((cells) => cells[3]!), ...theirs.map((cells) => cells[0]!)].flatMap(wordsOf);
    expect(named.toSorted()).toEqual(vkFftResults.toSorted());
  });

  it('names only codes that there are', () => {
    const codes = [...ours.map((cells) => cells[0]!), ...theirs.map((cells) => cells[1]!)].flatMap(wordsOf);
    const words = codes.filter((word) => /^[a-z]+(-[a-z]+)+$/.test(word) || word === 'destroyed');
    expect(words.length).toBeGreaterThanOrEqual(fftErrorCodes.length);
    for (const word of words) expect(fftErrorCodes).toContain(word);
  });
});

describe('docs/vkfft-parity.md', () => {
  const rows = rowsOf('vkfft-parity.md');
  const working = rows.filter(([, , status]) => status!.startsWith('works'));

  it('has a status and a test, or a dash, in every row', () => {
    expect(working.length).toBeGreaterThan(70);
    for (const row of rows) expect(row, row.join(' | ')).toHaveLength(4);
  });

  it.each(working)('%s works in a test that speaks of it', (_, words, __, link) => {
    const path = link!.match(/^\[[^\]]+\]\(\.\.\/((?:src|test)\/[^)]+\.test\.ts)\)$/)?.[1];
    expect(path, `“${link}” is no link to a test`).toBeDefined();
    const file = new URL(`../${path}`, docs);
    expect(existsSync(file), `${path} is not there`).toBe(true);
    const names = wordsOf(words!).flatMap((code) => code.match(/[A-Za-z][\w-]*/g) ?? []);
    const text = readFileSync(file, 'utf8');
    expect(names.filter((name) => new RegExp(`\\b${name}\\b`).test(text))).not.toEqual([]);
  });
});
