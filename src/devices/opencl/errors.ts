/** The meaning of OpenCL's error numbers as error codes of this library. */
import { FftError, type FftErrorCode } from '../../problem/errors.ts';

/** The purpose of a call, for the message of its error. */
export interface ClPurpose {
  /** The action at the beginning of a sentence: `Allocating 4096 bytes`. */
  readonly what: string;
  /** The error code for numbers without a meaning of their own. Default `launch-failed`. */
  readonly otherwise?: FftErrorCode;
  /** A sentence to append to messages about memory. */
  readonly memory?: string;
  /** Whether the call allocates, so that `CL_OUT_OF_RESOURCES` means missing memory. */
  readonly allocates?: boolean;
}

const NAMES: Readonly<Record<number, string>> = {
  [-1]: 'CL_DEVICE_NOT_FOUND',
  [-2]: 'CL_DEVICE_NOT_AVAILABLE',
  [-3]: 'CL_COMPILER_NOT_AVAILABLE',
  [-4]: 'CL_MEM_OBJECT_ALLOCATION_FAILURE',
  [-5]: 'CL_OUT_OF_RESOURCES',
  [-6]: 'CL_OUT_OF_HOST_MEMORY',
  [-7]: 'CL_PROFILING_INFO_NOT_AVAILABLE',
  [-11]: 'CL_BUILD_PROGRAM_FAILURE',
  [-14]: 'CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST',
  [-30]: 'CL_INVALID_VALUE',
  [-32]: 'CL_INVALID_PLATFORM',
  [-33]: 'CL_INVALID_DEVICE',
  [-34]: 'CL_INVALID_CONTEXT',
  [-35]: 'CL_INVALID_QUEUE_PROPERTIES',
  [-36]: 'CL_INVALID_COMMAND_QUEUE',
  [-38]: 'CL_INVALID_MEM_OBJECT',
  [-43]: 'CL_INVALID_BUILD_OPTIONS',
  [-44]: 'CL_INVALID_PROGRAM',
  [-45]: 'CL_INVALID_PROGRAM_EXECUTABLE',
  [-46]: 'CL_INVALID_KERNEL_NAME',
  [-48]: 'CL_INVALID_KERNEL',
  [-49]: 'CL_INVALID_ARG_INDEX',
  [-50]: 'CL_INVALID_ARG_VALUE',
  [-51]: 'CL_INVALID_ARG_SIZE',
  [-52]: 'CL_INVALID_KERNEL_ARGS',
  [-53]: 'CL_INVALID_WORK_DIMENSION',
  [-54]: 'CL_INVALID_WORK_GROUP_SIZE',
  [-55]: 'CL_INVALID_WORK_ITEM_SIZE',
  [-57]: 'CL_INVALID_EVENT_WAIT_LIST',
  [-58]: 'CL_INVALID_EVENT',
  [-59]: 'CL_INVALID_OPERATION',
  [-61]: 'CL_INVALID_BUFFER_SIZE',
  [-63]: 'CL_INVALID_GLOBAL_WORK_SIZE',
};

/** `CL_MEM_OBJECT_ALLOCATION_FAILURE`, `CL_OUT_OF_HOST_MEMORY`, `CL_INVALID_BUFFER_SIZE`. */
const OUT_OF_MEMORY = [-4, -6, -61];
const OUT_OF_RESOURCES = -5;
/** Invalid device, context, queue and similar handles. The library's own handles become invalid only if the device is lost. */
const INVALID_HANDLES = [-2, -33, -34, -36];

export function errorName(status: number): string {
  return NAMES[status] ?? 'an error that OpenCL does not name';
}

/** The error for an error number. */
export function clFailure(name: string, status: number, requested?: ClPurpose): FftError {
  const { what = `The call of ${name}`, otherwise = 'launch-failed' } = requested ?? {};
  const said = `${errorName(status)} (${status}${requested ? `, from ${name}` : ''})`;
  if (OUT_OF_MEMORY.includes(status) || (requested?.allocates && status === OUT_OF_RESOURCES)) {
    const more = requested?.memory ? ` ${requested.memory}` : '';
    return new FftError('out-of-memory', `${what} failed for lack of memory: ${said}.${more}`);
  }
  if (INVALID_HANDLES.includes(status)) {
    return new FftError('device-lost', `${what} failed because the device is gone: ${said}. Open it anew.`);
  }
  return new FftError(otherwise, `${what} failed: ${said}.`);
}
