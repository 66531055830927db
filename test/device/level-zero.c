/*
 * A driver of Level Zero that is not there, for tests: the part of the API that omnifft uses, by its own header, so that
 * structures are laid out as it says. Modules are translated by llvm-spirv and run by PoCL; a native binary is the SPIR-V
 * behind a word of our own.
 *
 * It is as free as the rules allow. Commands run when somebody waits for an event, and between two barriers they run in the
 * reverse of their order; a kernel's arguments are those that it had when it was appended. Memory holds NaNs until it is
 * written and lies between guards. Objects that were destroyed stay here as dead ones: whoever uses one, or destroys what
 * waiting commands use, is counted as a fault.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTEXT, LIST, POOL, EVENT, MODULE, LOG, KERNEL, KINDS };
#define GUARD 256
#define MOST_ARGUMENTS 32
static const char word[8] = "SIMZEBIN";

typedef struct Object {
  struct Object *parent, *next;
  int kind, dead;
  /* Lists. */
  struct Command *first, *last;
  int immediate;
  /* Events. */
  int signalled, timed;
  uint64_t time;
  /* Modules and logs: SPIR-V, and the program that was made of it; kernels: arguments. */
  unsigned char *code;
  size_t size;
  void *program;
  uint64_t arguments[MOST_ARGUMENTS];
  unsigned set, group[3];
} Object;

typedef struct Command {
  struct Command *next;
  enum { LAUNCH, COPY, BARRIER } what;
  Object *kernel, *event;
  uint64_t arguments[MOST_ARGUMENTS];
  unsigned set;
  size_t group[3], groups[3];
  char *to;
  const char *from;
  size_t bytes;
} Command;

typedef struct Block { struct Block *next; char *start; size_t bytes; ze_memory_type_t type; } Block;

static Object *objects;
static Block *blocks;
static int64_t live[KINDS], memory_count, memory_bytes, most_memory = (int64_t)1 << 32, launches, faults;
static int integrated, drivers = 2;
static uint64_t ticks = 1;
static ze_result_t lost, next_status;
static char next_name[64], wrong[4096];
static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER, listing = PTHREAD_MUTEX_INITIALIZER;

/* ---- What tests can see and change. ---- */

void sim_counts(int64_t *out) {
  memcpy(out, live, sizeof live);
  out[KINDS] = memory_count;
  out[KINDS + 1] = launches;
  out[KINDS + 2] = faults;
}
/* What was wrong. */
const char *sim_faults(void) { return wrong; }
void sim_memory(int64_t bytes) { most_memory = bytes; }
void sim_integrated(int yes) { integrated = yes; }
/* How many drivers there are; without one the loader does not start. */
void sim_drivers(int count) { drivers = count; }
/* The next call of a function ends with a status. */
void sim_fail(const char *name, ze_result_t status) { snprintf(next_name, sizeof next_name, "%s", name); next_status = status; }
/* Every call ends with this status; 0 ends that. */
void sim_lose(ze_result_t status) { lost = status; }

static void fault(const char *where, const char *what) {
  faults++;
  size_t used = strlen(wrong);
  snprintf(wrong + used, sizeof wrong - used, "%s: %s; ", where, what);
}
static ze_result_t enter(const char *name) {
  if (*next_name && strcmp(next_name, name) == 0) { *next_name = 0; return next_status; }
  return lost;
}
#define ENTER() do { ze_result_t s_ = enter(__func__); if (s_) return s_; } while (0)
#define IS(condition, what) do { if (!(condition)) { fault(__func__, what); return ZE_RESULT_ERROR_INVALID_ARGUMENT; } } while (0)
#define LIVE(object, of) IS(known((Object *)(object), of), "a " #of " that is none, or was destroyed")
#define TYPED(desc, of) IS((desc) && (desc)->stype == ZE_STRUCTURE_TYPE_##of && !(desc)->pNext, "no " #of)

static int known(Object *object, int kind) {
  for (Object *at = objects; at; at = at->next) if (at == object) return at->kind == kind && !at->dead;
  return 0;
}
static Object *make(int kind, Object *parent) {
  Object *object = calloc(1, sizeof *object);
  object->kind = kind;
  object->parent = parent;
  pthread_mutex_lock(&listing);
  object->next = objects;
  objects = object;
  live[kind]++;
  pthread_mutex_unlock(&listing);
  return object;
}
/* Whether commands that have not run yet use an object or a block of memory. */
static int waited_for(Object *object, Block *block) {
  for (Object *list = objects; list; list = list->next)
    if (list->kind == LIST && !list->dead && list->immediate)
      for (Command *at = list->first; at; at = at->next) {
        if (object && (at->kernel == object || at->event == object || (at->kernel && at->kernel->parent == object))) return 1;
        if (!block) continue;
        uint64_t start = (uint64_t)block->start, end = start + block->bytes;
#define INSIDE(p) ((uint64_t)(p) >= start && (uint64_t)(p) < end)
        if (INSIDE(at->to) || INSIDE(at->from)) return 1;
        for (unsigned i = 0; i < at->set; i++) if (INSIDE(at->arguments[i])) return 1;
      }
  return 0;
}
static ze_result_t destroy(const char *name, Object *object, int kind) {
  if (!known(object, kind)) { fault(name, "destroys what is none, or was destroyed"); return ZE_RESULT_ERROR_INVALID_NULL_HANDLE; }
  if (!lost && waited_for(object, NULL)) fault(name, "destroys what waiting commands use");
  for (Object *at = objects; at; at = at->next)
    if (at->parent == object && !at->dead && at->kind != LOG) fault(name, "leaves children behind");
  pthread_mutex_lock(&listing);
  object->dead = 1;
  live[kind]--;
  pthread_mutex_unlock(&listing);
  return ZE_RESULT_SUCCESS;
}

/* ---- Drivers and devices: a GPU behind the first driver, something else behind the second. ---- */

#define DRIVER(n) ((void *)(size_t)(0xD0000 + (n)))
#define DEVICE(n) ((void *)(size_t)(0xE0000 + (n)))

ze_result_t zeInit(ze_init_flags_t flags) { ENTER(); return drivers ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED; }
ze_result_t zeDriverGet(uint32_t *count, ze_driver_handle_t *out) {
  ENTER();
  IS(drivers, "asked without a driver");
  if (!out) { *count = drivers; return ZE_RESULT_SUCCESS; }
  for (uint32_t n = 0; n < *count; n++) out[n] = DRIVER(n);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDriverGetApiVersion(ze_driver_handle_t driver, ze_api_version_t *out) { ENTER(); *out = ZE_MAKE_VERSION(1, 3); return ZE_RESULT_SUCCESS; }
ze_result_t zeDriverGetProperties(ze_driver_handle_t driver, ze_driver_properties_t *out) {
  ENTER(); TYPED(out, DRIVER_PROPERTIES);
  out->driverVersion = 4242;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGet(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *out) {
  ENTER();
  if (!out) { *count = 1; return ZE_RESULT_SUCCESS; }
  out[0] = DEVICE(driver == DRIVER(0) ? 0 : 1);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGetProperties(ze_device_handle_t device, ze_device_properties_t *out) {
  ENTER(); TYPED(out, DEVICE_PROPERTIES_1_2);
  int gpu = device == DEVICE(0);
  out->type = gpu ? ZE_DEVICE_TYPE_GPU : ZE_DEVICE_TYPE_VPU;
  out->flags = integrated ? ZE_DEVICE_PROPERTY_FLAG_INTEGRATED : 0;
  out->maxMemAllocSize = most_memory / 2;
  out->physicalEUSimdWidth = 8;
  out->numSubslicesPerSlice = 4;
  out->numSlices = 2;
  out->timerResolution = 19200000;
  out->kernelTimestampValidBits = 32;
  snprintf(out->name, sizeof out->name, gpu ? "Simulated Xe" : "Simulated NPU");
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t device, ze_device_compute_properties_t *out) {
  ENTER(); TYPED(out, DEVICE_COMPUTE_PROPERTIES);
  out->maxTotalGroupSize = out->maxGroupSizeX = 512;
  out->maxGroupCountX = out->maxGroupCountY = out->maxGroupCountZ = 65535;
  out->maxSharedLocalMemory = 64 * 1024;
  out->numSubGroupSizes = 3;
  for (int i = 0; i < 3; i++) out->subGroupSizes[i] = 8 << i;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t device, ze_device_module_properties_t *out) {
  ENTER(); TYPED(out, DEVICE_MODULE_PROPERTIES);
  out->flags = ZE_DEVICE_MODULE_FLAG_FP16 | ZE_DEVICE_MODULE_FLAG_FP64;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count, ze_device_memory_properties_t *out) {
  ENTER();
  if (!out) { *count = 1; return ZE_RESULT_SUCCESS; }
  TYPED(out, DEVICE_MEMORY_PROPERTIES);
  out->totalSize = most_memory;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t device, uint32_t *count, ze_command_queue_group_properties_t *out) {
  ENTER();
  if (!out) { *count = 2; return ZE_RESULT_SUCCESS; }
  for (int i = 0; i < 2; i++) TYPED(out + i, COMMAND_QUEUE_GROUP_PROPERTIES);
  out[0].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  out[1].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeContextCreate(ze_driver_handle_t driver, const ze_context_desc_t *desc, ze_context_handle_t *out) {
  ENTER(); TYPED(desc, CONTEXT_DESC);
  *out = (void *)make(CONTEXT, NULL);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeContextDestroy(ze_context_handle_t context) { return destroy(__func__, (Object *)context, CONTEXT); }

/* ---- Memory. ---- */

static int guarded(const char *at) {
  for (int i = 0; i < GUARD; i++) if ((unsigned char)at[i] != 0xA5) return 0;
  return 1;
}
static Block **find(const void *pointer) {
  for (Block **at = &blocks; *at; at = &(*at)->next)
    if ((const char *)pointer >= (*at)->start && (const char *)pointer < (*at)->start + (*at)->bytes) return at;
  return NULL;
}
static ze_result_t allocate(ze_memory_type_t type, size_t bytes, void **out) {
  if (memory_bytes + (int64_t)bytes > most_memory) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  char *all = aligned_alloc(256, (bytes + 255) / 256 * 256 + 2 * GUARD);
  Block *block = malloc(sizeof *block);
  *block = (Block){ blocks, all + GUARD, bytes, type };
  blocks = block;
  memset(all, 0xA5, GUARD);
  memset(all + GUARD, 0xFF, bytes);
  memset(all + GUARD + bytes, 0xA5, GUARD);
  memory_count++;
  memory_bytes += bytes;
  *out = block->start;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc, size_t size, size_t alignment, ze_device_handle_t device, void **out) {
  ENTER(); LIVE(context, CONTEXT); TYPED(desc, DEVICE_MEM_ALLOC_DESC); IS(device == DEVICE(0) && size, "no device or no bytes");
  return allocate(ZE_MEMORY_TYPE_DEVICE, size, out);
}
ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc, const ze_host_mem_alloc_desc_t *host, size_t size, size_t alignment, ze_device_handle_t device, void **out) {
  ENTER(); LIVE(context, CONTEXT); TYPED(desc, DEVICE_MEM_ALLOC_DESC); TYPED(host, HOST_MEM_ALLOC_DESC);
  IS(device == DEVICE(0) && size, "no device or no bytes");
  return allocate(ZE_MEMORY_TYPE_SHARED, size, out);
}
ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc, size_t size, size_t alignment, void **out) {
  ENTER(); LIVE(context, CONTEXT); TYPED(desc, HOST_MEM_ALLOC_DESC); IS(size, "no bytes");
  return allocate(ZE_MEMORY_TYPE_HOST, size, out);
}
ze_result_t zeMemFree(ze_context_handle_t context, void *pointer) {
  LIVE(context, CONTEXT);
  Block **at = find(pointer);
  IS(at && (*at)->start == pointer, "frees what was not allocated");
  Block *block = *at;
  if (!lost && waited_for(NULL, block)) fault(__func__, "frees what waiting commands use");
  if (!guarded(block->start - GUARD) || !guarded(block->start + block->bytes)) fault(__func__, "somebody wrote beside it");
  *at = block->next;
  memory_count--;
  memory_bytes -= block->bytes;
  free(block->start - GUARD);
  free(block);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeMemGetAllocProperties(ze_context_handle_t context, const void *pointer, ze_memory_allocation_properties_t *out, ze_device_handle_t *device) {
  ENTER(); LIVE(context, CONTEXT); TYPED(out, MEMORY_ALLOCATION_PROPERTIES);
  Block **at = find(pointer);
  out->type = at ? (*at)->type : ZE_MEMORY_TYPE_UNKNOWN;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeMemGetAddressRange(ze_context_handle_t context, const void *pointer, void **start, size_t *bytes) {
  ENTER(); LIVE(context, CONTEXT);
  Block **at = find(pointer);
  if (!at) return ZE_RESULT_ERROR_UNKNOWN;
  *start = (*at)->start;
  *bytes = (*at)->bytes;
  return ZE_RESULT_SUCCESS;
}

/* ---- Modules and kernels, by PoCL. ---- */

static void *cl(const char *name) {
  static void *library;
  if (!library) library = dlopen("libOpenCL.so.1", RTLD_NOW);
  return dlsym(library, name);
}
#define CL(result, name, ...) ((result (*)(__VA_ARGS__))cl(#name))
static void *cl_device, *cl_context, *cl_queue;
static int cl_open(void) {
  if (cl_queue) return 1;
  void *platforms[8];
  unsigned count = 0;
  CL(int, clGetPlatformIDs, unsigned, void **, unsigned *)(8, platforms, &count);
  for (unsigned i = 0; i < count && i < 8 && !cl_device; i++)
    /* A processor: it reads memory by the addresses that C knows. */
    CL(int, clGetDeviceIDs, void *, uint64_t, unsigned, void **, unsigned *)(platforms[i], 2, 1, &cl_device, NULL);
  if (!cl_device) return 0;
  cl_context = CL(void *, clCreateContext, void *, unsigned, void **, void *, void *, int *)(NULL, 1, &cl_device, NULL, NULL, NULL);
  cl_queue = CL(void *, clCreateCommandQueue, void *, void *, uint64_t, int *)(cl_context, cl_device, 0, NULL);
  return cl_queue != NULL;
}
static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *size = ftell(file);
  rewind(file);
  unsigned char *bytes = malloc(*size + 1);
  *size = fread(bytes, 1, *size, file);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}
static char log_text[2048];
/* The same code is compiled once. */
static struct Known { struct Known *next; unsigned char *code; size_t size; void *program; } *compiled;
static void *program_of(const unsigned char *code, size_t size) {
  for (struct Known *at = compiled; at; at = at->next)
    if (at->size == size && memcmp(at->code, code, size) == 0) return at->program;
  char base[] = "/tmp/omnifft-ze-XXXXXX", path[64], command[256];
  snprintf(log_text, sizeof log_text, "no OpenCL");
  if (!cl_open()) return NULL;
  close(mkstemp(base));
  FILE *file = fopen(base, "wb");
  fwrite(code, 1, size, file);
  fclose(file);
  snprintf(path, sizeof path, "%s.bc", base);
  snprintf(command, sizeof command, "llvm-spirv-14 -r --spirv-target-env=CL1.2 %s -o %s 2>%s.log", base, path, base);
  int failed = system(command);
  size_t bytes = 0;
  unsigned char *binary = failed ? NULL : read_file(path, &bytes);
  unlink(path);
  snprintf(path, sizeof path, "%s.log", base);
  unsigned char *log = read_file(path, &(size_t){ 0 });
  snprintf(log_text, sizeof log_text, "llvm-spirv says: %s", log ? (char *)log : "");
  free(log);
  unlink(path);
  unlink(base);
  if (!binary) return NULL;
  const unsigned char *list[] = { binary };
  void *program = CL(void *, clCreateProgramWithBinary, void *, unsigned, void **, size_t *, const unsigned char **, int *, int *)(cl_context, 1, &cl_device, &bytes, list, NULL, NULL);
  free(binary);
  if (program && CL(int, clBuildProgram, void *, unsigned, void **, const char *, void *, void *)(program, 1, &cl_device, "", NULL, NULL) == 0) {
    struct Known *own = malloc(sizeof *own);
    *own = (struct Known){ compiled, memcpy(malloc(size), code, size), size, program };
    compiled = own;
    return program;
  }
  return NULL;
}
ze_result_t zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device, const ze_module_desc_t *desc, ze_module_handle_t *out, ze_module_build_log_handle_t *log) {
  /* Compilers run on threads of their own. */
  pthread_mutex_lock(&compiling);
  ze_result_t status = enter(__func__);
  const unsigned char *code = desc->pInputModule;
  size_t size = desc->inputSize;
  int native = desc->format == ZE_MODULE_FORMAT_NATIVE;
  if (desc->stype != ZE_STRUCTURE_TYPE_MODULE_DESC || !known((Object *)context, CONTEXT)) fault(__func__, "no description or no context");
  if (!status && native && (size < 8 || memcmp(code, word, 8))) status = ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
  if (!status && native) { code += 8; size -= 8; }
  void *program = status ? NULL : program_of(code, size);
  if (!status && !program) status = ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
  if (log) {
    Object *text = make(LOG, NULL);
    text->code = (unsigned char *)strdup(status ? log_text : "");
    *log = (void *)text;
  }
  if (!status) {
    Object *module = make(MODULE, (Object *)context);
    module->code = malloc(size);
    module->size = size;
    memcpy(module->code, code, size);
    module->program = program;
    *out = (void *)module;
  }
  pthread_mutex_unlock(&compiling);
  return status;
}
ze_result_t zeModuleDestroy(ze_module_handle_t module) { return destroy(__func__, (Object *)module, MODULE); }
ze_result_t zeModuleGetNativeBinary(ze_module_handle_t handle, size_t *size, uint8_t *out) {
  ENTER(); LIVE(handle, MODULE);
  Object *module = (Object *)handle;
  *size = module->size + 8;
  if (!out) return ZE_RESULT_SUCCESS;
  memcpy(out, word, 8);
  memcpy(out + 8, module->code, module->size);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t log, size_t *size, char *out) {
  LIVE(log, LOG);
  const char *text = (char *)((Object *)log)->code;
  *size = strlen(text) + 1;
  if (out) strcpy(out, text);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t log) { return destroy(__func__, (Object *)log, LOG); }
ze_result_t zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t *desc, ze_kernel_handle_t *out) {
  ENTER(); LIVE(module, MODULE); TYPED(desc, KERNEL_DESC);
  void *made = CL(void *, clCreateKernel, void *, const char *, int *)(((Object *)module)->program, desc->pKernelName, NULL);
  if (!made) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
  Object *kernel = make(KERNEL, (Object *)module);
  kernel->program = made;
  *out = (void *)kernel;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeKernelDestroy(ze_kernel_handle_t kernel) { return destroy(__func__, (Object *)kernel, KERNEL); }
ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z) {
  ENTER(); LIVE(handle, KERNEL);
  memcpy(((Object *)handle)->group, (unsigned[]){ x, y, z }, 12);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t index, size_t size, const void *value) {
  ENTER(); LIVE(handle, KERNEL); IS(size == 8 && index < MOST_ARGUMENTS, "an argument that is none");
  Object *kernel = (Object *)handle;
  memcpy(kernel->arguments + index, value, 8);
  if (index >= kernel->set) kernel->set = index + 1;
  return ZE_RESULT_SUCCESS;
}

/* ---- Lists and events. ---- */

static void run(Command *command) {
  if (command->what == COPY) memmove(command->to, command->from, command->bytes);
  if (command->what == LAUNCH) {
    if (command->kernel->dead) fault("a launch", "the kernel was destroyed");
    void *kernel = command->kernel->program;
    size_t all[3];
    for (int i = 0; i < 3; i++) all[i] = command->groups[i] * command->group[i];
    int status = 0;
    for (unsigned i = 0; i < command->set; i++) {
      void *value = (void *)command->arguments[i];
      status |= find(value) ? CL(int, clSetKernelArgSVMPointer, void *, unsigned, void *)(kernel, i, value)
                            : CL(int, clSetKernelArg, void *, unsigned, size_t, void *)(kernel, i, 8, &value);
    }
    status |= CL(int, clEnqueueNDRangeKernel, void *, void *, unsigned, void *, size_t *, size_t *, unsigned, void *, void *)(cl_queue, kernel, 3, NULL, all, command->group, 0, NULL, NULL);
    status |= CL(int, clFinish, void *)(cl_queue);
    if (status) fault("a launch", "the kernel does not run");
    launches++;
    ticks += 1000;
  }
  if (command->event) { command->event->signalled = 1; command->event->time = ticks; }
}
/* Runs commands up to a barrier, the last one first. */
static void run_segment(Command *first, Command *end) {
  if (first == end) return;
  run_segment(first->next, end);
  run(first);
}
static void run_list(Object *list) {
  for (Command *at = list->first; at;) {
    Command *end = at;
    while (end && end->what != BARRIER) end = end->next;
    run_segment(at, end);
    if (end) run(end);
    at = end ? end->next : NULL;
  }
}
static void run_immediate(void) {
  for (Object *list = objects; list; list = list->next) {
    if (list->kind != LIST || list->dead || !list->immediate) continue;
    run_list(list);
    for (Command *at = list->first; at;) { Command *next = at->next; free(at); at = next; }
    list->first = list->last = NULL;
  }
}
ze_result_t zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device, const ze_command_queue_desc_t *desc, ze_command_list_handle_t *out) {
  ENTER(); LIVE(context, CONTEXT); TYPED(desc, COMMAND_QUEUE_DESC);
  IS(device == DEVICE(0) && desc->ordinal == 1 && desc->index == 0, "no queue that computes");
  IS(desc->mode == ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, "not asynchronous");
  Object *list = make(LIST, (Object *)context);
  list->immediate = 1;
  *out = (void *)list;
  return ZE_RESULT_SUCCESS;
}
/* For what a caller would do. */
ze_result_t zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device, const ze_command_list_desc_t *desc, ze_command_list_handle_t *out) {
  *out = (void *)make(LIST, (Object *)context);
  return ZE_RESULT_SUCCESS;
}
/* The caller's list runs now, as often as it likes: a queue of the caller's is no matter here. */
ze_result_t sim_execute(ze_command_list_handle_t list) { LIVE(list, LIST); run_list((Object *)list); return ZE_RESULT_SUCCESS; }
ze_result_t zeCommandListDestroy(ze_command_list_handle_t handle) {
  Object *list = (Object *)handle;
  if (known(list, LIST) && list->immediate && list->first && !lost) fault(__func__, "commands wait in it");
  return destroy(__func__, list, LIST);
}
static Command *append(ze_command_list_handle_t handle, int what, ze_event_handle_t event) {
  Object *list = (Object *)handle;
  Command *command = calloc(1, sizeof *command);
  command->what = what;
  command->event = (Object *)event;
  if (list->last) list->last->next = command; else list->first = command;
  list->last = command;
  return command;
}
#define EVENT_IS_FREE(event) do { if (event) { LIVE(event, EVENT); \
  IS(!((Object *)(event))->signalled && !waited_for((Object *)(event), NULL), "an event that was not reset"); } } while (0)
ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t list, ze_kernel_handle_t handle, const ze_group_count_t *groups, ze_event_handle_t event, uint32_t waits, ze_event_handle_t *events) {
  ENTER(); LIVE(list, LIST); LIVE(handle, KERNEL); EVENT_IS_FREE(event); IS(waits == 0, "it waits for events");
  Object *kernel = (Object *)handle;
  Command *command = append(list, LAUNCH, event);
  command->kernel = kernel;
  command->set = kernel->set;
  memcpy(command->arguments, kernel->arguments, sizeof kernel->arguments);
  for (int i = 0; i < 3; i++) command->group[i] = kernel->group[i];
  memcpy(command->groups, (size_t[]){ groups->groupCountX, groups->groupCountY, groups->groupCountZ }, sizeof command->groups);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to, const void *from, size_t bytes, ze_event_handle_t event, uint32_t waits, ze_event_handle_t *events) {
  ENTER(); LIVE(list, LIST); EVENT_IS_FREE(event); IS(waits == 0, "it waits for events");
  for (int i = 0; i < 2; i++) {
    const char *at = i ? from : to;
    Block **block = find(at);
    IS(block && at + bytes <= (*block)->start + (*block)->bytes, "a copy beyond an allocation");
  }
  Command *command = append(list, COPY, event);
  command->to = to;
  command->from = from;
  command->bytes = bytes;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t list, ze_event_handle_t event, uint32_t waits, ze_event_handle_t *events) {
  ENTER(); LIVE(list, LIST); EVENT_IS_FREE(event); IS(waits == 0, "it waits for events");
  append(list, BARRIER, event);
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *desc, uint32_t devices, ze_device_handle_t *list, ze_event_pool_handle_t *out) {
  ENTER(); LIVE(context, CONTEXT); TYPED(desc, EVENT_POOL_DESC);
  IS(desc->count > 0 && desc->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE, "the host does not see its events");
  Object *pool = make(POOL, (Object *)context);
  pool->size = desc->count;
  pool->timed = (desc->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP) != 0;
  *out = (void *)pool;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t pool) { return destroy(__func__, (Object *)pool, POOL); }
ze_result_t zeEventCreate(ze_event_pool_handle_t pool, const ze_event_desc_t *desc, ze_event_handle_t *out) {
  ENTER(); LIVE(pool, POOL); TYPED(desc, EVENT_DESC); IS(desc->index < ((Object *)pool)->size, "no such event in the pool");
  IS(desc->signal & ZE_EVENT_SCOPE_FLAG_HOST, "the host does not see what was written before it");
  Object *event = make(EVENT, (Object *)pool);
  event->timed = ((Object *)pool)->timed;
  *out = (void *)event;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventDestroy(ze_event_handle_t event) { return destroy(__func__, (Object *)event, EVENT); }
/* Every other question is answered before anything has run. */
ze_result_t zeEventQueryStatus(ze_event_handle_t event) {
  static int asked;
  ENTER(); LIVE(event, EVENT);
  if (!((Object *)event)->signalled && ++asked % 2) return ZE_RESULT_NOT_READY;
  run_immediate();
  return ((Object *)event)->signalled ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}
ze_result_t zeEventHostSynchronize(ze_event_handle_t event, uint64_t nanoseconds) {
  ENTER(); LIVE(event, EVENT);
  run_immediate();
  IS(((Object *)event)->signalled, "waits for what will not happen");
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventHostReset(ze_event_handle_t event) {
  ENTER(); LIVE(event, EVENT); IS(!waited_for((Object *)event, NULL), "resets what has not happened yet");
  ((Object *)event)->signalled = 0;
  return ZE_RESULT_SUCCESS;
}
ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t handle, ze_kernel_timestamp_result_t *out) {
  Object *event = (Object *)handle;
  ENTER(); LIVE(event, EVENT); IS(event->signalled && event->timed, "no times");
  memset(out, 0, sizeof *out);
  out->global.kernelStart = out->global.kernelEnd = event->time;
  return ZE_RESULT_SUCCESS;
}
