/*
 * A GPU that is not there: the part of the CUDA driver API that omnifft uses, on the processor, for tests. Its compiler
 * is simulator-nvrtc.c.
 *
 * It is as lazy as the rules allow. Work in a stream runs when somebody waits for it, or a little at each question about
 * an event, and streams wait for one another only where they were told to: what relies on more than that fails here.
 * Memory holds NaNs until it is written and lies between guards. Kernels are shared libraries; threads of a block are
 * fibers that take turns at barriers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef int Status;
enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, INVALID_IMAGE = 200, INVALID_HANDLE = 400,
       NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, NOT_SUPPORTED = 801, CAPTURE_UNMATCHED = 903,
       CAPTURE_UNJOINED = 904, CAPTURE_ISOLATION = 905 };

#define GUARD 256
#define MOST_PARAMETERS 16
/* Contexts are numbers, one for each device. */
#define FIRST_CONTEXT 0xC0DE

/* ---- What tests can see and change. ---- */

static struct { int64_t memory, host, streams, events, modules, graphs, contexts; } live;
/* Programs of the compiler. */
extern int64_t sim_programs;
static int64_t most_memory = (int64_t)4 << 30, memory_used;
static int64_t launches, graph_launches, faults;
static Status lost, next_status;
static const char *next_name;
static char next_buffer[64];

void sim_counts(int64_t *out) {
  memcpy(out, &live, sizeof live);
  out[7] = sim_programs;
  out[8] = memory_used;
  out[9] = launches;
  out[10] = graph_launches;
  out[11] = faults;
}
void sim_memory(int64_t bytes) { most_memory = bytes; }
/* The next call of a function ends with a status. */
void sim_fail(const char *name, Status status) {
  snprintf(next_buffer, sizeof next_buffer, "%s", name);
  next_name = next_buffer;
  next_status = status;
}
void sim_lose(Status status) { lost = status; }
/* How many devices there are, and whether they reach one another's memory. */
static int devices = 1, peers = 1;
void sim_devices(int count, int reach) { devices = count; peers = reach; }

static __thread uint64_t current;

static Status enter(const char *name) {
  if (next_name && strcmp(next_name, name) == 0) { next_name = NULL; return next_status; }
  return lost;
}
#define ENTER() do { Status s_ = enter(__func__); if (s_) return s_; } while (0)
#define IN_CONTEXT() do { ENTER(); if (!current) return INVALID_CONTEXT; } while (0)

/* ---- Devices and contexts. ---- */

Status cuInit(unsigned flags) { ENTER(); return OK; }
Status cuDriverGetVersion(int *out) { *out = 13000; return OK; }
Status cuDeviceGetCount(int *out) { ENTER(); *out = devices; return OK; }
Status cuDeviceGet(int *out, int ordinal) { *out = ordinal; return ordinal < devices ? OK : 101; }
Status cuDeviceCanAccessPeer(int *out, int device, int other) { ENTER(); *out = peers && device != other; return OK; }
Status cuDeviceGetName(char *out, int length, int device) { snprintf(out, length, "Simulated GPU"); return OK; }
Status cuDeviceTotalMem_v2(size_t *out, int device) { *out = most_memory; return OK; }
Status cuDeviceGetAttribute(int *out, int attribute, int device) {
  switch (attribute) {
    case 1: *out = 1024; return OK;
    case 8: *out = 48 * 1024; return OK;
    case 97: *out = 227 * 1024; return OK;
    case 81: *out = 228 * 1024; return OK;
    case 10: *out = 32; return OK;
    case 16: *out = 4; return OK;
    case 75: *out = 9; return OK;
    case 76: *out = 0; return OK;
    case 120: *out = 1; return OK;
    default: return INVALID_VALUE;
  }
}
#define MOST_DEVICES 8
static int retained[MOST_DEVICES];
Status cuDevicePrimaryCtxRetain(uint64_t *out, int device) { ENTER(); live.contexts++; retained[device]++; *out = FIRST_CONTEXT + device; return OK; }
/* Whether a context reaches the memory of another one. */
static int reaches[MOST_DEVICES][MOST_DEVICES];
Status cuCtxEnablePeerAccess(uint64_t context, unsigned flags) {
  IN_CONTEXT();
  const int own = current - FIRST_CONTEXT, other = context - FIRST_CONTEXT;
  if (!peers || own == other || other < 0 || other >= devices || !retained[other]) return INVALID_VALUE;
  if (reaches[own][other]) return 704;
  reaches[own][other] = 1;
  return OK;
}
static void forget_all(void);
/* What is left of a context that was lost goes with it. */
Status cuDevicePrimaryCtxRelease_v2(int device) {
  live.contexts--;
  if (--retained[device] == 0) for (int other = 0; other < MOST_DEVICES; other++) reaches[device][other] = reaches[other][device] = 0;
  if (lost && live.contexts == 0) forget_all();
  return OK;
}
Status cuCtxSetCurrent(uint64_t context) {
  if (context >= FIRST_CONTEXT && context < FIRST_CONTEXT + MOST_DEVICES && !retained[context - FIRST_CONTEXT]) return INVALID_CONTEXT;
  current = context;
  return OK;
}
Status cuCtxGetDevice(int *out) { IN_CONTEXT(); *out = current - FIRST_CONTEXT; return OK; }

/* ---- Memory. ---- */

/* Memory of windows has no guards. */
typedef struct Block { struct Block *next; char *start; size_t bytes; uint64_t context; int in_window; } Block;
static Block *blocks;

static void guard(char *at) { memset(at, 0xA5, GUARD); }
static int guarded(const char *at) {
  for (int i = 0; i < GUARD; i++) if ((unsigned char)at[i] != 0xA5) return 0;
  return 1;
}

Status cuMemGetInfo_v2(size_t *free_, size_t *total) { IN_CONTEXT(); *free_ = most_memory - memory_used; *total = most_memory; return OK; }
Status cuMemAlloc_v2(uint64_t *out, size_t bytes) {
  IN_CONTEXT();
  if (bytes == 0) return INVALID_VALUE;
  if (memory_used + (int64_t)bytes > most_memory) return OUT_OF_MEMORY;
  char *all = aligned_alloc(256, (bytes + 255) / 256 * 256 + 2 * GUARD);
  if (!all) return OUT_OF_MEMORY;
  Block *block = malloc(sizeof *block);
  *block = (Block){ blocks, all + GUARD, bytes, current, 0 };
  blocks = block;
  guard(all);
  memset(all + GUARD, 0xFF, bytes);
  guard(all + GUARD + bytes);
  live.memory++;
  memory_used += bytes;
  *out = (uint64_t)block->start;
  return OK;
}

static Block **find(uint64_t pointer) {
  for (Block **at = &blocks; *at; at = &(*at)->next)
    if (pointer >= (uint64_t)(*at)->start && pointer < (uint64_t)(*at)->start + (*at)->bytes) return at;
  return NULL;
}
static void finish_all(void);

/* As the real one does, it waits for everything first. */
Status cuMemFree_v2(uint64_t pointer) {
  IN_CONTEXT();
  finish_all();
  Block **at = find(pointer);
  if (!at || (uint64_t)(*at)->start != pointer || (*at)->in_window || (*at)->context != current) { faults++; return INVALID_VALUE; }
  Block *block = *at;
  if (!guarded(block->start - GUARD) || !guarded(block->start + block->bytes)) faults++;
  *at = block->next;
  memory_used -= block->bytes;
  live.memory--;
  free(block->start - GUARD);
  free(block);
  return OK;
}
Status cuMemGetAddressRange_v2(uint64_t *start, size_t *bytes, uint64_t pointer) {
  IN_CONTEXT();
  Block **at = find(pointer);
  if (!at) return NOT_FOUND;
  *start = (uint64_t)(*at)->start;
  *bytes = (*at)->bytes;
  return OK;
}

/* ---- Windows: ranges of addresses that memory of several devices is mapped to. ---- */

#define GRANULARITY 4096
typedef struct { size_t bytes; int device, mapped; } Physical;

Status cuMemGetAllocationGranularity(size_t *out, const int *properties, int option) { ENTER(); *out = GRANULARITY; return OK; }
Status cuMemAddressReserve(uint64_t *out, size_t bytes, size_t alignment, uint64_t wish, uint64_t flags) {
  IN_CONTEXT();
  if (bytes == 0 || bytes % GRANULARITY) return INVALID_VALUE;
  *out = (uint64_t)aligned_alloc(GRANULARITY, bytes);
  live.memory++;
  return OK;
}
Status cuMemAddressFree(uint64_t start, size_t bytes) {
  ENTER();
  if (find(start)) faults++;
  free((void *)start);
  live.memory--;
  return OK;
}
Status cuMemCreate(Physical **out, size_t bytes, const int *properties, uint64_t flags) {
  IN_CONTEXT();
  if (bytes % GRANULARITY || properties[0] != 1 || properties[2] != 1 || properties[3] >= devices) return INVALID_VALUE;
  if (memory_used + (int64_t)bytes > most_memory) return OUT_OF_MEMORY;
  memory_used += bytes;
  live.memory++;
  *out = malloc(sizeof **out);
  **out = (Physical){ bytes, properties[3], 0 };
  return OK;
}
Status cuMemMap(uint64_t start, size_t bytes, size_t offset, Physical *memory, uint64_t flags) {
  ENTER();
  if (bytes != memory->bytes || offset || memory->mapped || find(start)) return INVALID_VALUE;
  Block *block = malloc(sizeof *block);
  *block = (Block){ blocks, (char *)start, bytes, FIRST_CONTEXT + memory->device, 1 };
  blocks = block;
  memset((void *)start, 0xFF, bytes);
  memory->mapped = 1;
  return OK;
}
Status cuMemSetAccess(uint64_t start, size_t bytes, const int *allowed, size_t count) {
  ENTER();
  if (!find(start) || !find(start + bytes - 1)) return INVALID_VALUE;
  for (size_t n = 0; n < count; n++) if (allowed[3 * n] != 1 || allowed[3 * n + 1] >= devices || allowed[3 * n + 2] != 3) return INVALID_VALUE;
  return OK;
}
Status cuMemUnmap(uint64_t start, size_t bytes) {
  ENTER();
  finish_all();
  Block **at = find(start);
  if (!at || !(*at)->in_window || (*at)->bytes != bytes) { faults++; return INVALID_VALUE; }
  Block *block = *at;
  *at = block->next;
  free(block);
  return OK;
}
Status cuMemRelease(Physical *memory) {
  ENTER();
  memory_used -= memory->bytes;
  live.memory--;
  free(memory);
  return OK;
}
Status cuMemHostAlloc(void **out, size_t bytes, unsigned flags) { IN_CONTEXT(); live.host++; *out = malloc(bytes); return OK; }
Status cuMemFreeHost(void *pointer) { IN_CONTEXT(); live.host--; free(pointer); return OK; }

/* ---- Kernels. ---- */

typedef struct { unsigned x, y, z; } Triple;
typedef struct Hooks {
  void (*barrier)(void), (*cluster_barrier)(void);
  void *(*block_copy)(void *own, int block);
  Triple *thread, *block;
  unsigned char **shared;
  int parameters, cluster;
} Hooks;
typedef struct { void *library; Hooks *hooks; uint64_t context; } Module;
typedef struct { Module *module; void (*code)(); int shared_allowed, clusters_allowed; } Entry;
typedef struct { Entry *entry; Triple grid; unsigned threads, shared; uint64_t parameters[MOST_PARAMETERS]; } Launch;

#define STACK (64 * 1024)
#define MOST_THREADS 1024
#define MOST_CLUSTER 16
#define SHARED_ROOM (256 * 1024)
enum { READY, AT_BARRIER, AT_CLUSTER_BARRIER, ENDED };
static ucontext_t scheduler, *fibers;
static char *stacks, *states;
static unsigned char *shared_memory;
static unsigned running;
static const Launch *launching;

static unsigned char *shared_of(unsigned rank) { return shared_memory + (size_t)rank * SHARED_ROOM; }
static void pause_at(int state) { states[running] = state; swapcontext(&fibers[running], &scheduler); }
static void at_barrier(void) { pause_at(AT_BARRIER); }
static void at_cluster_barrier(void) { pause_at(AT_CLUSTER_BARRIER); }
static void *block_copy(void *own, int block) {
  return shared_of(block) + ((unsigned char *)own - shared_memory) % SHARED_ROOM;
}
static void call(void) {
  const uint64_t *p = launching->parameters;
  ((void (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
             uint64_t, uint64_t, uint64_t, uint64_t, uint64_t))launching->entry->code)(
      p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15]);
  states[running] = ENDED;
}

/* One block at a time, or one cluster of neighbouring blocks. */
static void run_cluster(const Launch *launch, Triple first, unsigned blocks) {
  const Hooks *hooks = launch->entry->module->hooks;
  const unsigned threads = launch->threads;
  for (unsigned rank = 0; rank < blocks; rank++) {
    memset(shared_of(rank), 0xFF, launch->shared);
    guard((char *)shared_of(rank) + launch->shared);
  }
  for (unsigned f = 0; f < blocks * threads; f++) {
    getcontext(&fibers[f]);
    fibers[f].uc_stack.ss_sp = stacks + (size_t)f * STACK;
    fibers[f].uc_stack.ss_size = STACK;
    fibers[f].uc_link = &scheduler;
    makecontext(&fibers[f], call, 0);
    states[f] = READY;
  }
  unsigned ended = 0, at_cluster = 0;
  while (ended < blocks * threads) {
    if (at_cluster == blocks * threads) {
      memset(states, READY, at_cluster);
      at_cluster = 0;
    }
    unsigned progress = 0;
    for (unsigned rank = 0; rank < blocks; rank++) {
      unsigned waiting = 0;
      /* Backwards: threads do not take their turns in the order of their numbers. */
      for (unsigned t = threads; t-- > 0;) {
        unsigned f = rank * threads + t;
        if (states[f] == AT_BARRIER) waiting++;
        if (states[f] != READY) continue;
        running = f;
        *hooks->thread = (Triple){ t, 0, 0 };
        *hooks->block = (Triple){ first.x + rank, first.y, first.z };
        *hooks->shared = shared_of(rank);
        swapcontext(&scheduler, &fibers[f]);
        progress++;
        waiting += states[f] == AT_BARRIER;
        ended += states[f] == ENDED;
        at_cluster += states[f] == AT_CLUSTER_BARRIER;
      }
      if (waiting == threads) {
        memset(states + rank * threads, READY, threads);
        progress++;
      }
    }
    /* A barrier that only some threads reach. */
    if (progress == 0 && at_cluster < blocks * threads) { faults++; break; }
  }
  for (unsigned rank = 0; rank < blocks; rank++) if (!guarded((char *)shared_of(rank) + launch->shared)) faults++;
}

static void run_launch(const Launch *launch) {
  Hooks *hooks = launch->entry->module->hooks;
  if (!fibers) {
    const size_t most = MOST_THREADS * MOST_CLUSTER;
    fibers = malloc(most * sizeof *fibers);
    stacks = malloc(most * STACK);
    states = malloc(most);
    shared_memory = aligned_alloc(256, (size_t)MOST_CLUSTER * SHARED_ROOM);
  }
  launching = launch;
  hooks->barrier = at_barrier;
  hooks->cluster_barrier = at_cluster_barrier;
  hooks->block_copy = block_copy;
  for (unsigned z = 0; z < launch->grid.z; z++)
    for (unsigned y = 0; y < launch->grid.y; y++)
      for (unsigned x = 0; x < launch->grid.x; x += hooks->cluster) run_cluster(launch, (Triple){ x, y, z }, hooks->cluster);
}

/* ---- Streams, events and graphs. ---- */

typedef struct Event Event;
typedef struct Op {
  struct Op *next;
  enum { COPY, SET, LAUNCH, RECORD, WAIT } kind;
  void *to;
  const void *from;
  /* So many rows, at these distances. */
  size_t bytes, rows, to_pitch, from_pitch;
  Launch launch;
  Event *event;
  struct Stream *of;
  uint64_t number;
} Op;
/* `ended`: nothing is captured into it any more. */
typedef struct Graph { Op *first, **last; struct Stream *origin; int ended; } Graph;
/* `apart`: it branched off a capture, or did something in one, and its origin has not waited for that yet. */
typedef struct Stream { struct Stream *next; Op *first, **last; Graph *capture; int apart, name; uint64_t context; } Stream;
struct Event { Stream *stream; uint64_t number, passed; int timed; Graph *capture; uint64_t context; };

static Stream legacy = { NULL, NULL, &legacy.first, NULL };
static Stream *streams;
static uint64_t numbers;

/* What was submitted: l for a launch, r for a record, w for a wait, each with the number of its stream. */
static char history[4096];
static size_t history_length;
static int names;
static void note(char what, const Stream *stream) {
  if (history_length + 16 > sizeof history) history_length = 0;
  history_length += snprintf(history + history_length, 16, "%c%d ", what, stream->name);
}
/* What was noted since the last question. */
const char *sim_history(void) {
  static char told[sizeof history];
  memcpy(told, history, history_length);
  told[history_length] = 0;
  history_length = 0;
  return told;
}

/* Work goes to streams of the context that is current. */
static int elsewhere(const Stream *stream) { return stream->context && stream->context != current; }
static Stream *stream_of(uint64_t handle) { return handle == 0 ? &legacy : (Stream *)handle; }

static void run_until(Stream *stream, uint64_t number);

static void run_first(Stream *stream) {
  Op *op = stream->first;
  if (!op) return;
  if (op->kind == WAIT && op->event->passed < op->number) run_until(op->of, op->number);
  stream->first = op->next;
  if (!stream->first) stream->last = &stream->first;
  for (size_t row = 0; row < op->rows; row++) {
    char *to = (char *)op->to + row * op->to_pitch;
    if (op->kind == COPY) memcpy(to, (const char *)op->from + row * op->from_pitch, op->bytes);
    if (op->kind == SET) memset(to, 0, op->bytes);
  }
  if (op->kind == LAUNCH) run_launch(&op->launch);
  if (op->kind == RECORD && op->event->passed < op->number) op->event->passed = op->number;
  free(op);
}

static void run_until(Stream *stream, uint64_t number) {
  /* Numbers of waits are those of the records they wait for. */
  while (stream->first) {
    int last = stream->first->kind == RECORD && stream->first->number == number;
    if (stream->first->kind == RECORD && stream->first->number > number) return;
    run_first(stream);
    if (last) return;
  }
}
static void finish(Stream *stream) { while (stream->first) run_first(stream); }
static void finish_all(void) {
  finish(&legacy);
  for (Stream *stream = streams; stream; stream = stream->next) finish(stream);
}

static Op *append(Stream *stream, int kind) {
  Op *op = calloc(1, sizeof *op);
  op->kind = kind;
  stream->apart = stream->capture && stream->capture->origin != stream;
  Op ***last = stream->capture ? &stream->capture->last : &stream->last;
  **last = op;
  *last = &op->next;
  return op;
}

static Status copy_rows(int kind, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes, size_t rows, uint64_t handle) {
  if (elsewhere(stream_of(handle))) return INVALID_HANDLE;
  Op *op = append(stream_of(handle), kind);
  op->to = to;
  op->from = from;
  op->bytes = bytes;
  op->rows = rows;
  op->to_pitch = to_pitch;
  op->from_pitch = from_pitch;
  return OK;
}
static Status copy(void *to, const void *from, size_t bytes, uint64_t handle) {
  return copy_rows(COPY, to, 0, from, 0, bytes, 1, handle);
}
static int outside(uint64_t pointer, size_t bytes) {
  Block **at = find(pointer);
  return !at || pointer + bytes > (uint64_t)(*at)->start + (*at)->bytes;
}
/* Bytes that went between device and host so far. */
static int64_t host_bytes;
int64_t sim_host_bytes(void) { return host_bytes; }
Status cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, uint64_t stream) {
  IN_CONTEXT();
  host_bytes += bytes;
  return outside(to, bytes) ? INVALID_VALUE : copy((void *)to, from, bytes, stream);
}
Status cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, uint64_t stream) {
  IN_CONTEXT();
  host_bytes += bytes;
  return outside(from, bytes) ? INVALID_VALUE : copy(to, (void *)from, bytes, stream);
}
Status cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, uint64_t stream) {
  IN_CONTEXT();
  return outside(to, bytes) || outside(from, bytes) ? INVALID_VALUE : copy((void *)to, (void *)from, bytes, stream);
}
Status cuMemcpyPeerAsync(uint64_t to, uint64_t to_context, uint64_t from, uint64_t from_context, size_t bytes, uint64_t stream) {
  IN_CONTEXT();
  if (outside(to, bytes) || outside(from, bytes)) return INVALID_VALUE;
  if ((*find(to))->context != to_context || (*find(from))->context != from_context) return INVALID_CONTEXT;
  /* Such a copy would pass through the host. */
  if (peers && !reaches[current - FIRST_CONTEXT][to_context - FIRST_CONTEXT]) faults++;
  return copy((void *)to, (void *)from, bytes, stream);
}
/* Of `CUDA_MEMCPY2D` with device memory at both ends. */
Status cuMemcpy2DAsync_v2(const uint64_t *p, uint64_t stream) {
  IN_CONTEXT();
  const uint64_t from = p[4], from_pitch = p[6], to = p[11], to_pitch = p[13], bytes = p[14], rows = p[15];
  if ((int)p[2] != 2 || (int)p[9] != 2 || p[0] || p[1] || p[7] || p[8] || bytes > from_pitch || bytes > to_pitch) return INVALID_VALUE;
  if (outside(to, (rows - 1) * to_pitch + bytes) || outside(from, (rows - 1) * from_pitch + bytes)) return INVALID_VALUE;
  return copy_rows(COPY, (void *)to, to_pitch, (void *)from, from_pitch, bytes, rows, stream);
}
Status cuMemsetD2D8Async(uint64_t to, size_t pitch, unsigned char value, size_t bytes, size_t rows, uint64_t stream) {
  IN_CONTEXT();
  if (value || bytes > pitch || outside(to, (rows - 1) * pitch + bytes)) return INVALID_VALUE;
  return copy_rows(SET, (void *)to, pitch, NULL, 0, bytes, rows, stream);
}

Status cuStreamCreate(uint64_t *out, unsigned flags) {
  IN_CONTEXT();
  Stream *stream = calloc(1, sizeof *stream);
  stream->last = &stream->first;
  stream->name = ++names;
  stream->context = current;
  stream->next = streams;
  streams = stream;
  live.streams++;
  *out = (uint64_t)stream;
  return OK;
}
Status cuStreamDestroy_v2(uint64_t handle) {
  IN_CONTEXT();
  Stream *stream = stream_of(handle);
  finish(stream);
  for (Stream **at = &streams; *at; at = &(*at)->next)
    if (*at == stream) { *at = stream->next; live.streams--; return OK; }
  return INVALID_HANDLE;
}
Status cuStreamSynchronize(uint64_t handle) { IN_CONTEXT(); finish(stream_of(handle)); return OK; }
Status cuStreamIsCapturing(uint64_t handle, int *out) { IN_CONTEXT(); *out = stream_of(handle)->capture ? 1 : 0; return OK; }

Status cuEventCreate(uint64_t *out, unsigned flags) {
  IN_CONTEXT();
  Event *event = calloc(1, sizeof *event);
  event->timed = !(flags & 2);
  event->context = current;
  live.events++;
  *out = (uint64_t)event;
  return OK;
}
/* Events are small: what waits for one may outlive its handle. */
Status cuEventDestroy_v2(uint64_t event) { IN_CONTEXT(); live.events--; return OK; }
Status cuEventRecord(Event *event, uint64_t handle) {
  IN_CONTEXT();
  if (event->context != current || elsewhere(stream_of(handle))) return INVALID_HANDLE;
  event->stream = stream_of(handle);
  event->capture = event->stream->capture;
  event->number = ++numbers;
  note('r', event->stream);
  Op *op = append(event->stream, RECORD);
  op->event = event;
  op->number = event->number;
  return OK;
}
Status cuStreamWaitEvent(uint64_t handle, Event *event, unsigned flags) {
  IN_CONTEXT();
  Stream *stream = stream_of(handle);
  if (elsewhere(stream)) return INVALID_HANDLE;
  note('w', stream);
  if (event->capture) {
    /* Who waits for captured work is captured with it, by the same capture only. */
    if (event->capture->ended || (stream->capture && stream->capture != event->capture)) return CAPTURE_ISOLATION;
    if (!stream->capture) { stream->capture = event->capture; stream->apart = 1; }
    else if (stream == event->capture->origin) event->stream->apart = 0;
    return OK;
  }
  if (stream->capture && event->stream) return CAPTURE_ISOLATION;
  if (!event->stream || event->number == event->passed) return OK;
  Op *op = append(stream, WAIT);
  op->event = event;
  op->of = event->stream;
  op->number = event->number;
  return OK;
}
/* Asking moves the stream on by one step. */
Status cuEventQuery(Event *event) {
  IN_CONTEXT();
  if (event->passed >= event->number) return OK;
  run_first(event->stream);
  return event->passed >= event->number ? OK : NOT_READY;
}
Status cuEventElapsedTime(float *out, Event *start, Event *end) {
  IN_CONTEXT();
  if (!start->timed || !end->timed) return INVALID_HANDLE;
  if (start->passed < start->number || end->passed < end->number) return NOT_READY;
  *out = 1.5f;
  return OK;
}

Status cuStreamBeginCapture_v2(uint64_t handle, int mode) {
  IN_CONTEXT();
  Stream *stream = stream_of(handle);
  if (stream == &legacy || stream->capture) return CAPTURE_UNMATCHED;
  stream->capture = calloc(1, sizeof(Graph));
  stream->capture->last = &stream->capture->first;
  stream->capture->origin = stream;
  return OK;
}
Status cuStreamEndCapture(uint64_t handle, Graph **out) {
  Stream *stream = stream_of(handle);
  Graph *graph = stream->capture;
  if (!graph || graph->origin != stream) return CAPTURE_UNMATCHED;
  graph->ended = 1;
  int unjoined = 0;
  stream->capture = NULL;
  for (Stream *side = streams; side; side = side->next) {
    if (side->capture != graph) continue;
    unjoined += side->apart;
    side->capture = NULL;
    side->apart = 0;
  }
  if (unjoined) return CAPTURE_UNJOINED;
  ENTER();
  live.graphs++;
  *out = graph;
  return OK;
}
Status cuGraphInstantiateWithFlags(Graph **out, Graph *graph, unsigned long long flags) {
  IN_CONTEXT();
  *out = malloc(sizeof(Graph));
  **out = *graph;
  live.graphs++;
  return OK;
}
Status cuGraphDestroy(Graph *graph) { live.graphs--; return OK; }
Status cuGraphExecDestroy(Graph *graph) { live.graphs--; return OK; }
Status cuGraphLaunch(Graph *graph, uint64_t handle) {
  IN_CONTEXT();
  for (Op *op = graph->first; op; op = op->next)
    if (op->kind == LAUNCH) append(stream_of(handle), LAUNCH)->launch = op->launch;
  graph_launches++;
  return OK;
}

static void forget_all(void) {
  for (Stream *stream = streams; stream; stream = stream->next) stream->first = NULL;
  streams = NULL;
  while (blocks) {
    Block *block = blocks;
    blocks = block->next;
    if (!block->in_window) free(block->start - GUARD);
    free(block);
  }
  memory_used = 0;
  memset(&live, 0, sizeof live);
}

/* ---- Modules and launches. ---- */

Status cuModuleLoadData(Module **out, const char *image) {
  IN_CONTEXT();
  if (strncmp(image, "SIMGPU:", 7) != 0) return INVALID_IMAGE;
  void *library = dlopen(image + 7, RTLD_NOW | RTLD_LOCAL);
  if (!library) return INVALID_IMAGE;
  Module *module = malloc(sizeof *module);
  *module = (Module){ library, dlsym(library, "sim_hooks"), current };
  live.modules++;
  *out = module;
  return OK;
}
Status cuModuleUnload(Module *module) { IN_CONTEXT(); live.modules--; dlclose(module->library); return OK; }
Status cuModuleGetFunction(Entry **out, Module *module, const char *name) {
  IN_CONTEXT();
  void *code = dlsym(module->library, name);
  if (!code) return NOT_FOUND;
  *out = malloc(sizeof **out);
  **out = (Entry){ module, code, 48 * 1024, 8 };
  return OK;
}
Status cuFuncSetAttribute(Entry *entry, int attribute, int value) {
  IN_CONTEXT();
  if (attribute == 14 && value == 1) { entry->clusters_allowed = 16; return OK; }
  if (attribute != 8 || value > 227 * 1024) return INVALID_VALUE;
  entry->shared_allowed = value;
  return OK;
}
Status cuLaunchKernel(Entry *entry, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, uint64_t stream, void **parameters, void **extra) {
  IN_CONTEXT();
  if ((int)shared > entry->shared_allowed || bx * by * bz > 1024 || by != 1 || bz != 1 || gx == 0 || gy > 65535 || gz > 65535)
    return INVALID_VALUE;
  const Hooks *hooks = entry->module->hooks;
  if (hooks->cluster > entry->clusters_allowed || gx % hooks->cluster != 0) return INVALID_VALUE;
  if (entry->module->context != current || elsewhere(stream_of(stream))) return INVALID_HANDLE;
  Launch *launch = &append(stream_of(stream), LAUNCH)->launch;
  *launch = (Launch){ entry, { gx, gy, gz }, bx, shared, { 0 } };
  note('l', stream_of(stream));
  for (int p = 0; p < hooks->parameters; p++) launch->parameters[p] = *(uint64_t *)parameters[p];
  launches++;
  return OK;
}

Status cuGetErrorName(Status status, const char **out) {
  *out = status == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
       : status == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
       : status == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_OF_SOME_KIND";
  return OK;
}

/* ---- NCCL: what of it omnifft uses. A message is a copy that both ends wait for. ---- */

typedef struct { int rank, size; } Communicator;
typedef struct { int send, from, to; void *memory; size_t bytes; Stream *stream; } Message;
#define MOST_MESSAGES 256
static Message group[MOST_MESSAGES];
static int grouped, grouping;
static int64_t nccl_messages;

int64_t sim_nccl(void) { return nccl_messages; }
Status ncclGetVersion(int *out) { *out = 22803; return OK; }
const char *ncclGetErrorString(Status status) { return "invalid usage"; }
Status ncclCommInitAll(Communicator **out, int size, const int *ordinals) {
  for (int rank = 0; rank < size; rank++) {
    if (ordinals[rank] >= devices) return 4;
    out[rank] = malloc(sizeof(Communicator));
    *out[rank] = (Communicator){ rank, size };
    live.contexts++;
  }
  return OK;
}
Status ncclCommDestroy(Communicator *own) { live.contexts--; free(own); return OK; }
Status ncclGroupStart(void) { grouping++; return OK; }
static Status note_message(int send, void *memory, size_t count, int type, int peer, const Communicator *own, uint64_t stream) {
  if (!grouping || grouped == MOST_MESSAGES || type != 0 || peer >= own->size || outside((uint64_t)memory, count)) return 5;
  group[grouped++] = (Message){ send, send ? own->rank : peer, send ? peer : own->rank, memory, count, stream_of(stream) };
  return OK;
}
Status ncclSend(void *memory, size_t count, int type, int peer, Communicator *own, uint64_t stream) {
  return note_message(1, memory, count, type, peer, own, stream);
}
Status ncclRecv(void *memory, size_t count, int type, int peer, Communicator *own, uint64_t stream) {
  return note_message(0, memory, count, type, peer, own, stream);
}
static uint64_t record_in(Stream *stream, Event *event) {
  Op *op = append(stream, RECORD);
  op->event = event;
  op->number = event->number = ++numbers;
  event->stream = stream;
  return event->number;
}
static void wait_in(Stream *stream, Event *event) {
  Op *op = append(stream, WAIT);
  op->event = event;
  op->of = event->stream;
  op->number = event->number;
}
/* Events of messages are small, and stay. */
Status ncclGroupEnd(void) {
  if (--grouping) return OK;
  Event *received[MOST_MESSAGES];
  int count = grouped;
  grouped = 0;
  Event *ready[MOST_MESSAGES];
  for (int n = 0; n < count; n++) {
    ready[n] = calloc(1, sizeof(Event));
    if (group[n].send) record_in(group[n].stream, ready[n]);
  }
  for (int n = 0; n < count; n++) {
    if (group[n].send) continue;
    int from = 0;
    while (from < count && !(group[from].send == 1 && group[from].from == group[n].from && group[from].to == group[n].to)) from++;
    if (from == count || group[from].bytes != group[n].bytes) return 5;
    group[from].send = 2;
    wait_in(group[n].stream, ready[from]);
    Op *op = append(group[n].stream, COPY);
    op->to = group[n].memory;
    op->from = group[from].memory;
    op->bytes = group[n].bytes;
    op->rows = 1;
    record_in(group[n].stream, ready[n]);
    received[from] = ready[n];
    nccl_messages++;
  }
  for (int n = 0; n < count; n++) {
    if (group[n].send == 1) return 5;
    if (group[n].send == 2) wait_in(group[n].stream, received[n]);
  }
  return OK;
}
