/** Host code in C that all APIs share: the tables of a transform, its parameters, and the arguments of its launches. */
import type { DirectionData, SideData, TableData, TransformData } from './data.ts';

/** A file of host code and its header. */
export interface HostFiles {
  readonly source: string;
  readonly header: string;
}

const REALS = { Float32Array: 'float', Float64Array: 'double', Uint16Array: 'unsigned short', Uint32Array: 'unsigned' };

/** The C type of a number in the arrays of a transform; halves are unsigned integers. */
export function cNumberType({ array }: Pick<TransformData, 'array'>): string {
  return REALS[array];
}

/** The names of a direction's parameters for each slot: the two arrays of the input, then of the output. */
export function parametersOf({ input, output }: TransformData, direction: 'forward' | 'inverse'): readonly string[] {
  const named = (name: string, { planar }: SideData) => (planar ? [`${name}_re`, `${name}_im`] : [name, name]);
  if (!output) return [...named('data', input), ...named('data', input)];
  const [reads, writes] = ['in', 'out'];
  return direction === 'forward'
    ? [...named(reads, input), ...named(writes, output)]
    : [...named(writes, input), ...named(reads, output)];
}

/** The parameter list of a C function for one direction of a transform: input arrays, then output arrays. */
export function declaredParameters(data: TransformData, direction: 'forward' | 'inverse', type: string): string {
  const slots = parametersOf(data, direction);
  const order = direction === 'forward' ? slots : [...slots.slice(2), ...slots.slice(0, 2)];
  return [...new Set(order)].map((name) => `${type}${name}`).join(', ');
}

export function directionsIn(data: TransformData): readonly (readonly ['forward' | 'inverse', DirectionData])[] {
  const names = ['forward', 'inverse'] as const;
  return names.flatMap((name) => (data[name] ? [[name, data[name]] as const] : []));
}

/** Names of a transform's kernels, in the order of its launches. */
export function kernelsIn(data: TransformData): string[] {
  return [...new Set(directionsIn(data).flatMap(([, { steps }]) => steps.map(({ kernel }) => kernel)))];
}

/** The beginning of every source: tables that it computes, or that are given as 32-bit words. */
export const TABLES = `#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table of constants: roots of unity in runs, or words. */
typedef struct {
  size_t bytes;
  int doubles;
  const long long (*runs)[9];
  int count;
  const unsigned *words;
} omnifft_table;

/* Angles are reduced to an eighth of a turn in integers, which costs no digit. */
static void omnifft_roots(void *numbers, int doubles, const long long run[9]) {
  const long long q = run[2];
  for (long long i = 0; i < run[3]; i++) {
    const long long turns = 4 * ((run[0] + run[1] * i) % q);
    const long long quarter = (2 * turns + q) / (2 * q);
    const double angle = 1.5707963267948966 * ((double)(turns - quarter * q) / (double)q);
    const double c = cos(angle), s = sin(angle), parts[4] = {c, -s, -c, s};
    const long long at = run[6] * i + run[8] * (i / run[7]);
    const double re = parts[quarter & 3], im = parts[(quarter + 1) & 3];
    if (doubles) {
      ((double *)numbers)[run[4] + at] = re;
      ((double *)numbers)[run[5] + at] = im;
    } else {
      ((float *)numbers)[run[4] + at] = (float)re;
      ((float *)numbers)[run[5] + at] = (float)im;
    }
  }
}

/* Its contents, to be freed; NULL where there is no memory. */
static void *omnifft_contents(const omnifft_table *table) {
  void *numbers = calloc(1, table->bytes);
  if (!numbers) return NULL;
  if (table->words) memcpy(numbers, table->words, table->bytes);
  for (int n = 0; n < table->count; n++) omnifft_roots(numbers, table->doubles, table->runs[n]);
  return numbers;
}
`;

/** The tables of a transform as an array `NAME_tables`; empty if it has none. */
export function tablesText(name: string, { tables }: TransformData): string {
  if (tables.length === 0) return '';
  const texts = tables.flatMap((table, n) => contentsText(`${name}_table${n}`, table));
  const entries = tables.map((table, n) => `  ${entryText(`${name}_table${n}`, table)},\n`);
  return `${texts.join('')}static const omnifft_table ${name}_tables[] = {\n${entries.join('')}};\n`;
}

/** The bytes of a table, rounded up to whole words. */
function tableBytes({ array, length }: TableData): number {
  return Math.ceil((length * Number(array.replace(/\D/g, ''))) / 32) * 4;
}

function contentsText(name: string, { runs, bytes = '' }: TableData): string {
  if (runs)
    return `static const long long ${name}[][9] = {\n${runs.map((run) => `  {${run.join(', ')}},\n`).join('')}};\n`;
  const padded = Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0));
  const words = new Uint32Array(Math.ceil(padded.length / 4));
  new Uint8Array(words.buffer).set(padded);
  return `static const unsigned ${name}[] = {\n${eightPerLine([...words].map((word) => `0x${word.toString(16)}u`))}};\n`;
}

function entryText(name: string, table: TableData): string {
  const doubles = table.array === 'Float64Array' ? 1 : 0;
  const { runs } = table;
  return runs
    ? `{${tableBytes(table)}, ${doubles}, ${name}, ${runs.length}, NULL}`
    : `{${tableBytes(table)}, 0, NULL, 0, ${name}}`;
}

/** Values in lines of eight. */
function eightPerLine(values: readonly string[]): string {
  const rows = Array.from({ length: Math.ceil(values.length / 8) }, (_, n) => values.slice(8 * n, 8 * n + 8));
  return rows.map((row) => `  ${row.join(', ')},\n`).join('');
}

/** A header around declarations, for C and C++. */
export function guardedHeader(stem: string, include: string, declarations: readonly string[]): string {
  const guard = `OMNIFFT_${stem.replace(/\W/g, '_').toUpperCase()}_H`;
  return `/* Fourier transforms, planned by omnifft. */
#ifndef ${guard}
#define ${guard}
#include <${include}>
#ifdef __cplusplus
extern "C" {
#endif

${declarations.join('\n')}
#ifdef __cplusplus
}
#endif
#endif
`;
}
