/** Kernels with host code in C++ that launches them with the CUDA or HIP run-time library. */
import type { SpmdProgram } from '../spmd/tree/program.ts';
import {
  cNumberType,
  declaredParameters,
  directionsIn,
  guardedHeader,
  type HostFiles,
  kernelsIn,
  parametersOf,
  TABLES,
  tablesText,
} from './c.ts';
import type { DirectionData, StepData, TransformData } from './data.ts';

/** The limits of shared memory and cluster size that a kernel may exceed only after asking for it. */
const SHARED_UNASKED = 48 * 1024;
const CLUSTER_UNASKED = 8;

const HEADERS = { cuda: 'cuda_runtime.h', hip: 'hip/hip_runtime.h' };
const NO_MEMORY = { cuda: 'cudaErrorMemoryAllocation', hip: 'hipErrorOutOfMemory' };

/**
 * Host code in CUDA or HIP.
 * @param transforms by the prefixes of their functions' names
 * @param kernels by the names in `transforms`; every entry point has a name of its own
 * @param stem name of the files without its suffix
 */
export function cudaHost(
  transforms: ReadonlyMap<string, TransformData>,
  kernels: ReadonlyMap<string, SpmdProgram>,
  language: 'cuda' | 'hip',
  stem: string,
): HostFiles {
  const texts = [...kernels].map(([name, { source }]) => `namespace ${name}_code {\n${source}\n}\n`);
  const functions = [...transforms].map(([name, data]) => cudaTransform(name, data, kernels, language));
  const source = [`#include "${stem}.h"\n${TABLES}\n${helpers(language)}`, ...texts, ...functions].join('\n');
  const declarations = [...transforms].map(([name, data]) => cudaDeclarations(name, data, language));
  return { source, header: guardedHeader(stem, HEADERS[language], declarations) };
}

function cudaDeclarations(name: string, data: TransformData, language: 'cuda' | 'hip'): string {
  const calls = directionsIn(data).map(([direction]) => `${cudaSignature(name, data, direction, language)};\n`);
  return `/* ${name}: pointers are device memory. Its launches go into the stream; runs of one plan must not overlap. */
typedef struct ${name}_plan ${name}_plan;
${language}Error_t ${name}_create(${name}_plan **plan);
${calls.join('')}void ${name}_destroy(${name}_plan *plan);
`;
}

function cudaSignature(name: string, data: TransformData, direction: 'forward' | 'inverse', language: string): string {
  const parameters = declaredParameters(data, direction, `${cNumberType(data)} *`);
  return `${language}Error_t ${name}_${direction}(${name}_plan *plan, ${parameters}, ${language}Stream_t stream)`;
}

function helpers(language: 'cuda' | 'hip'): string {
  return `static ${language}Error_t omnifft_upload(void **memory, const omnifft_table *table) {
  void *contents = omnifft_contents(table);
  if (!contents) return ${NO_MEMORY[language]};
  ${language}Error_t status = ${language}Malloc(memory, table->bytes);
  if (status == ${language}Success) status = ${language}Memcpy(*memory, contents, table->bytes, ${language}MemcpyHostToDevice);
  free(contents);
  return status;
}
`;
}

function cudaTransform(
  name: string,
  data: TransformData,
  kernels: ReadonlyMap<string, SpmdProgram>,
  language: 'cuda' | 'hip',
): string {
  const { tables, temp } = data;
  const failed = `if (status != ${language}Success) goto failed;`;
  const requested = kernelsIn(data).flatMap((kernel) => requests(kernel, kernels.get(kernel)!, language));
  const calls = directionsIn(data).map(
    ([direction, own]) =>
      `${cudaSignature(name, data, direction, language)} {\n${launches(data, direction, own, kernels, language)}  return ${language}Success;\n}\n`,
  );
  return `${tablesText(name, data)}
struct ${name}_plan {
  void *tables[${Math.max(1, tables.length)}];
  void *temp;
};

void ${name}_destroy(${name}_plan *plan) {
  if (!plan) return;
  for (int n = 0; n < ${tables.length}; n++) ${language}Free(plan->tables[n]);
  ${language}Free(plan->temp);
  free(plan);
}

${language}Error_t ${name}_create(${name}_plan **plan) {
  ${language}Error_t status = ${language}Success;
  ${name}_plan *made = (${name}_plan *)calloc(1, sizeof(${name}_plan));
  if (!made) return ${NO_MEMORY[language]};
${tables.map((_, n) => `  status = omnifft_upload(&made->tables[${n}], &${name}_tables[${n}]);\n  ${failed}\n`).join('')}${
  temp > 0 ? `  status = ${language}Malloc(&made->temp, ${temp});\n  ${failed}\n` : ''
}${requested.map((request) => `  status = ${request};\n  ${failed}\n`).join('')}  *plan = made;
  return status;
${failed.length > 0 && tables.length + temp + requested.length > 0 ? `failed:\n  ${name}_destroy(made);\n  return status;\n` : ''}}

${calls.join('\n')}`;
}

/** Statements that raise the limits for a kernel that exceeds them. */
function requests(kernel: string, { entry, sharedBytes, cluster }: SpmdProgram, language: 'cuda' | 'hip'): string[] {
  if (language === 'hip') return [];
  const set = (attribute: string, value: number) =>
    `cudaFuncSetAttribute((const void *)${kernel}_code::${entry}, cudaFuncAttribute${attribute}, ${value})`;
  return [
    ...(sharedBytes > SHARED_UNASKED ? [set('MaxDynamicSharedMemorySize', sharedBytes)] : []),
    ...(cluster > CLUSTER_UNASKED ? [set('NonPortableClusterSizeAllowed', 1)] : []),
  ];
}

function launches(
  data: TransformData,
  direction: 'forward' | 'inverse',
  { steps }: DirectionData,
  kernels: ReadonlyMap<string, SpmdProgram>,
  language: 'cuda' | 'hip',
): string {
  return steps
    .map((step) => cudaLaunch(step, parametersOf(data, direction), kernels.get(step.kernel)!, language))
    .join('');
}

function cudaLaunch(
  { kernel, arrays, tables }: StepData,
  parameters: readonly string[],
  { entry, groups, threads, sharedBytes }: SpmdProgram,
  language: 'cuda' | 'hip',
): string {
  const values = [
    ...arrays.map(([slot, offset]) => (slot < 4 ? parameters[slot]! : `(char *)plan->temp + ${offset}`)),
    ...tables.map((n) => `plan->tables[${n}]`),
  ];
  const names = values.map((_, n) => `a${n}`);
  const call = `${language}LaunchKernel((const void *)${kernel}_code::${entry}, dim3(${groups.join(', ')}), dim3(${threads}), arguments, ${sharedBytes}, stream)`;
  return `  {
${values.map((value, n) => `    void *a${n} = ${value};\n`).join('')}    void *arguments[] = {${names.map((name) => `&${name}`).join(', ')}, NULL};
    const ${language}Error_t status = ${call};
    if (status != ${language}Success) return status;
  }
`;
}
