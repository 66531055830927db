/** Kernels with host code in C that builds and launches them with OpenCL 1.2. The code is also valid C++. */
import type { SpmdProgram } from '../spmd/tree/program.ts';
import {
  declaredParameters,
  directionsIn,
  guardedHeader,
  type HostFiles,
  kernelsIn,
  parametersOf,
  TABLES,
  tablesText,
} from './c.ts';
import type { StepData, TransformData } from './data.ts';

/** A kernel, and the bytes of a number in each of its globals. The first element of each global is an argument after the tables. */
export interface OpenClHostKernel {
  readonly program: SpmdProgram;
  readonly elementBytes: readonly number[];
}

/**
 * Host code in OpenCL.
 * @param transforms by the prefixes of their functions' names
 * @param kernels by the names in `transforms`
 * @param stem name of the files without its suffix
 */
export function openClHost(
  transforms: ReadonlyMap<string, TransformData>,
  kernels: ReadonlyMap<string, OpenClHostKernel>,
  stem: string,
): HostFiles {
  const texts = [...kernels].map(([name, { program }]) => sourceText(name, program.source));
  const functions = [...transforms].map(([name, data]) => openclTransform(name, data, kernels));
  const source = [`#include "${stem}.h"\n${TABLES}\n${HELPERS}`, ...texts, ...functions].join('\n');
  const declarations = [...transforms].map(([name, data]) => openclDeclarations(name, data));
  return { source, header: guardedHeader(stem, 'CL/cl.h', declarations) };
}

/** The source of a kernel as a list of string literals, one for each line, because not every compiler accepts long literals. */
function sourceText(name: string, source: string): string {
  const lines = source.split('\n').map((line) => `  ${JSON.stringify(`${line}\n`)},\n`);
  return `static const char *${name}_source[] = {\n${lines.join('')}};\n`;
}

function openclDeclarations(name: string, data: TransformData): string {
  const calls = directionsIn(data).map(([direction]) => `${openclSignature(name, data, direction)};\n`);
  return `/* ${name}: it builds its kernels when it is created. The queue runs in order; runs of one plan must not overlap. */
typedef struct ${name}_plan ${name}_plan;
cl_int ${name}_create(cl_context context, cl_device_id device, ${name}_plan **plan);
${calls.join('')}void ${name}_destroy(${name}_plan *plan);
`;
}

function openclSignature(name: string, data: TransformData, direction: 'forward' | 'inverse'): string {
  return `cl_int ${name}_${direction}(${name}_plan *plan, cl_command_queue queue, ${declaredParameters(data, direction, 'cl_mem ')})`;
}

const HELPERS = `static cl_int omnifft_upload(cl_context context, cl_mem *memory, const omnifft_table *table) {
  cl_int status = CL_OUT_OF_HOST_MEMORY;
  void *contents = omnifft_contents(table);
  if (!contents) return status;
  *memory = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, table->bytes, contents, &status);
  free(contents);
  return status;
}

static cl_int omnifft_build(cl_context context, cl_device_id device, const char **lines, cl_uint count, const char *name,
                            cl_kernel *kernel) {
  cl_int status = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(context, count, lines, NULL, &status);
  if (status != CL_SUCCESS) return status;
  status = clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
  if (status == CL_SUCCESS) *kernel = clCreateKernel(program, name, &status);
  clReleaseProgram(program);
  return status;
}
`;

function openclTransform(name: string, data: TransformData, kernels: ReadonlyMap<string, OpenClHostKernel>): string {
  const { tables, temp } = data;
  const names = kernelsIn(data);
  const failed = '  if (status != CL_SUCCESS) goto failed;\n';
  const calls = directionsIn(data).map(([direction, { steps }]) => {
    const parameters = parametersOf(data, direction);
    const text = steps.map((step) =>
      openclLaunch(step, names.indexOf(step.kernel), parameters, kernels.get(step.kernel)!),
    );
    return `${openclSignature(name, data, direction)} {\n  cl_int status = CL_SUCCESS;\n${text.join('')}  return status;\n}\n`;
  });
  return `${tablesText(name, data)}
struct ${name}_plan {
  cl_kernel kernels[${names.length}];
  cl_mem tables[${Math.max(1, tables.length)}];
  cl_mem temp;
};

void ${name}_destroy(${name}_plan *plan) {
  int n;
  if (!plan) return;
  for (n = 0; n < ${names.length}; n++)
    if (plan->kernels[n]) clReleaseKernel(plan->kernels[n]);
  for (n = 0; n < ${tables.length}; n++)
    if (plan->tables[n]) clReleaseMemObject(plan->tables[n]);
  if (plan->temp) clReleaseMemObject(plan->temp);
  free(plan);
}

cl_int ${name}_create(cl_context context, cl_device_id device, ${name}_plan **plan) {
  cl_int status = CL_SUCCESS;
  ${name}_plan *made = (${name}_plan *)calloc(1, sizeof(${name}_plan));
  if (!made) return CL_OUT_OF_HOST_MEMORY;
${names.map((kernel, n) => `  status = omnifft_build(context, device, ${kernel}_source, sizeof ${kernel}_source / sizeof *${kernel}_source, "${kernels.get(kernel)!.program.entry}", &made->kernels[${n}]);\n${failed}`).join('')}${tables
  .map((_, n) => `  status = omnifft_upload(context, &made->tables[${n}], &${name}_tables[${n}]);\n${failed}`)
  .join(
    '',
  )}${temp > 0 ? `  made->temp = clCreateBuffer(context, CL_MEM_READ_WRITE, ${temp}, NULL, &status);\n${failed}` : ''}  *plan = made;
  return status;
failed:
  ${name}_destroy(made);
  return status;
}

${calls.join('\n')}`;
}

function openclLaunch(
  { arrays, tables }: StepData,
  kernel: number,
  parameters: readonly string[],
  { program: { groups, threads }, elementBytes }: OpenClHostKernel,
): string {
  const memories = [
    ...arrays.map(([slot]) => (slot < 4 ? parameters[slot]! : 'plan->temp')),
    ...tables.map((n) => `plan->tables[${n}]`),
  ];
  const starts = arrays.map(([slot, offset], n) => (slot < 4 ? 0 : offset / elementBytes[n]!));
  const set = [
    ...memories.map((value, n) => `clSetKernelArg(kernel, ${n}, sizeof(cl_mem), &${value})`),
    ...starts.map((_, n) => `clSetKernelArg(kernel, ${memories.length + n}, sizeof(cl_long), &starts[${n}])`),
  ];
  return `  {
    cl_kernel kernel = plan->kernels[${kernel}];
    const cl_long starts[] = {${starts.join(', ')}};
    const size_t all[] = {${groups.map((count, n) => (n === 0 ? count * threads : count)).join(', ')}};
    const size_t group[] = {${threads}, 1, 1};
${set.map((call) => `    status |= ${call};\n`).join('')}    if (status != CL_SUCCESS) return CL_INVALID_KERNEL_ARGS;
    status = clEnqueueNDRangeKernel(queue, kernel, 3, NULL, all, group, 0, NULL, NULL);
    if (status != CL_SUCCESS) return status;
  }
`;
}
