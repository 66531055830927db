/*
 * The compiler of the simulated GPU: the part of NVRTC that omnifft uses. Kernels become shared libraries by the system's
 * C++ compiler; simulator.c runs them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int Status;
enum { OK = 0 };

/* Programs that there are. */
int64_t sim_programs;

typedef struct { char *source, *log, *image; } Program;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static int compiled;
/* The same text is compiled once. */
static struct Known { struct Known *next; char *source, image[600]; } *known;

static const char prelude[] =
  /* Without overloads for each type, which take longer to read than a kernel to compile. */
  "#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS\n#include <math.h>\n"
  "static struct sim_triple { unsigned x, y, z; } threadIdx, blockIdx;\n"
  "static unsigned char *shared_bytes;\n"
  "extern \"C\" { struct { void (*barrier)(void), (*cluster_barrier)(void); void *(*block_copy)(void *, int);\n"
  "  sim_triple *thread, *block; unsigned char **shared; int parameters, cluster; } sim_hooks =\n"
  "  { nullptr, nullptr, nullptr, &threadIdx, &blockIdx, &shared_bytes, %d, %d }; }\n"
  "struct alignas(8) float2 { float x, y; }; struct alignas(16) double2 { double x, y; };\n"
  "static inline void sincospif(float x, float *s, float *c) { *s = (float)sin(M_PI * x); *c = (float)cos(M_PI * x); }\n"
  "static inline void sincospi(double x, double *s, double *c) { *s = (double)sinl(M_PIl * x); *c = (double)cosl(M_PIl * x); }\n"
  "static inline float2 make_float2(float x, float y) { return { x, y }; }\n"
  "static inline double2 make_double2(double x, double y) { return { x, y }; }\n"
  "template <typename T> static inline T __ldcs(const T *at) { return *at; }\n"
  "template <typename T> static inline void __stcs(T *at, T value) { *at = value; }\n"
  "template <typename T> static inline void __stwb(T *at, T value) { *at = value; }\n"
  "static inline unsigned long __cvta_generic_to_shared(const void *at) { return (unsigned char *)at - ::shared_bytes; }\n"
  "static inline unsigned atomicAdd(unsigned *at, unsigned more) { unsigned old = *at; *at += more; return old; }\n"
  "static inline float __fadd_rn(float a, float b) { return a + b; }\n"
  "static inline float __fsub_rn(float a, float b) { return a - b; }\n"
  "static inline float __fmul_rn(float a, float b) { return a * b; }\n"
  "static inline double __dadd_rn(double a, double b) { return a + b; }\n"
  "static inline double __dsub_rn(double a, double b) { return a - b; }\n"
  "static inline double __dmul_rn(double a, double b) { return a * b; }\n"
  "static inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }\n"
  "static inline float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }\n"
  "static inline int __double2hiint(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 32); }\n"
  "static inline double __hiloint2double(int high, int low) { return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low); }\n"
  "#define __threadfence()\n#define __trap() __builtin_trap()\n"
  "#define __global__\n#define __device__\n#define __forceinline__ inline\n"
  "#define __launch_bounds__(...)\n#define __cluster_dims__(...)\n"
  "#define __syncthreads() sim_hooks.barrier()\n#define __syncwarp() sim_hooks.barrier()\n"
  "#line 1 \"kernel.cu\"\n";

/* What C++ for processors has no words for, in ours: shared memory, and the assembly of clusters. */
static void translate(FILE *file, const char *source) {
  for (const char *at = source; *at;) {
    if (strncmp(at, "extern __shared__", 17) == 0) {
      at = strchr(at, ';') + 1;
      fprintf(file, "unsigned char *const shared_bytes = ::shared_bytes;");
    } else if (strncmp(at, "asm", 3) == 0 && (at[3] == '(' || strncmp(at + 3, " volatile(", 10) == 0)) {
      const char *end = strstr(at, ");");
      char text[512];
      snprintf(text, sizeof text, "%.*s", (int)(end - at), at);
      at = end + 2;
      if (strstr(text, "mapa.u64")) fprintf(file, "address = (unsigned long long)sim_hooks.block_copy((void *)own, block);");
      else if (strstr(text, "ld.shared")) {
        /* Its one operand is the number of a byte. */
        char *address = strstr(text, "\"r\"(") + 4;
        *strstr(address, ") :") = 0;
        fprintf(file, "value = *(decltype(value) *)(::shared_bytes + %s);", address);
      } else if (strstr(text, "cvt.rn.f16")) fprintf(file, "*(_Float16 *)&bits = (_Float16)value;");
      else if (strstr(text, "cvt.")) fprintf(file, "value = *(const _Float16 *)&bits;");
      else if (strstr(text, "cluster.wait")) fprintf(file, "sim_hooks.cluster_barrier();");
      /* An arrival alone holds nobody up. */
      else fprintf(file, ";");
    } else fputc(*at++, file);
  }
}

Status nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return OK; }
const char *nvrtcGetErrorString(int status) { return status == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR"; }
Status nvrtcGetNumSupportedArchs(int *out) { *out = 2; return OK; }
Status nvrtcGetSupportedArchs(int *out) { out[0] = 80; out[1] = 90; return OK; }

Status nvrtcCreateProgram(Program **out, const char *source, const char *name, int n, void *headers, void *names) {
  Program *program = calloc(1, sizeof *program);
  program->source = strdup(source);
  program->log = strdup("");
  sim_programs++;
  *out = program;
  return OK;
}
Status nvrtcDestroyProgram(Program **program) {
  sim_programs--;
  free((*program)->source);
  free((*program)->log);
  free((*program)->image);
  free(*program);
  *program = NULL;
  return OK;
}
Status nvrtcCompileProgram(Program *program, int count, const char **options) {
  int sm90 = 0;
  for (int i = 0; i < count; i++) if (strcmp(options[i], "--gpu-architecture=sm_90") == 0) sm90 = 1;
  if (!sm90) return 5;
  pthread_mutex_lock(&counting);
  int number = compiled++;
  for (struct Known *at = known; at; at = at->next)
    if (strcmp(at->source, program->source) == 0) { program->image = strdup(at->image); break; }
  pthread_mutex_unlock(&counting);
  if (program->image) return OK;
  const char *folder = getenv("OMNIFFT_SIMULATOR_FOLDER");
  char base[512], path[600], command[2048];
  snprintf(base, sizeof base, "%s/kernel-%d-%d", folder, (int)getpid(), number);
  snprintf(path, sizeof path, "%s.cc", base);
  FILE *file = fopen(path, "w");
  if (!file) return 1;
  /* Every parameter is a pointer or a 64-bit integer: their commas count them. */
  const char *head = strstr(program->source, "extern \"C\" __global__");
  int parameters = 1, cluster = 1;
  const char *dims = strstr(program->source, "__cluster_dims__(");
  if (dims) cluster = atoi(dims + 17);
  head = head ? strstr(head, "__launch_bounds__") : NULL;
  head = head ? strchr(strchr(head, ')') + 1, '(') : NULL;
  for (const char *at = head; at && *at != '{'; at++) parameters += *at == ',';
  fprintf(file, prelude, parameters, cluster);
  translate(file, program->source);
  fclose(file);
  snprintf(command, sizeof command, "c++ -std=c++17 -w -O0 -shared -fPIC -Wl,-Bsymbolic -o %s.so %s 2>%s.log", base, path, base);
  int failed = system(command);
  snprintf(path, sizeof path, "%s.log", base);
  file = fopen(path, "r");
  if (file) {
    char text[4096];
    size_t read = fread(text, 1, sizeof text - 1, file);
    text[read] = 0;
    free(program->log);
    program->log = strdup(text);
    fclose(file);
  }
  if (failed) return 6;
  struct Known *entry = calloc(1, sizeof *entry);
  snprintf(entry->image, sizeof entry->image, "SIMGPU:%s.so", base);
  entry->source = strdup(program->source);
  program->image = strdup(entry->image);
  pthread_mutex_lock(&counting);
  entry->next = known;
  known = entry;
  pthread_mutex_unlock(&counting);
  return OK;
}
Status nvrtcGetProgramLogSize(Program *program, size_t *out) { *out = strlen(program->log) + 1; return OK; }
Status nvrtcGetProgramLog(Program *program, char *out) { strcpy(out, program->log); return OK; }
Status nvrtcGetCUBINSize(Program *program, size_t *out) { *out = strlen(program->image) + 1; return OK; }
Status nvrtcGetCUBIN(Program *program, char *out) { strcpy(out, program->image); return OK; }
