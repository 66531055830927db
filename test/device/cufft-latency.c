/*
 * One cuFFT transform at a time, called from C, and what that takes from the call to its result: what `run.mjs bench`
 * prints for omnifft. It needs no header of CUDA, and on the GPU host no more than cuFFT's library and the driver:
 *
 *   cc -O2 -o cufft-latency test/device/cufft-latency.c -ldl && ./cufft-latency [libcufft.so.12]
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WARM 50
#define CALLS 200
/* cufft.h: CUFFT_C2C and CUFFT_FORWARD. */
#define C2C 0x29
#define FORWARD (-1)

typedef unsigned long long Pointer;

static void *driver, *cufft;

static void *find(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  if (!symbol) {
    fprintf(stderr, "there is no %s\n", name);
    exit(1);
  }
  return symbol;
}
#define DRIVER(name, ...) ((int (*)(__VA_ARGS__))find(driver, #name))
#define CUFFT(name, ...) ((int (*)(__VA_ARGS__))find(cufft, #name))

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * now.tv_sec + 1e-3 * now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int measure(const char *name, int plan, size_t points) {
  int (*execute)(int, Pointer, Pointer, int) = CUFFT(cufftExecC2C, int, Pointer, Pointer, int);
  int (*synchronize)(void *) = DRIVER(cuStreamSynchronize, void *);
  int (*allocate)(Pointer *, size_t) = DRIVER(cuMemAlloc_v2, Pointer *, size_t);
  Pointer in, out;
  double each[CALLS];
  if (allocate(&in, 8 * points) || allocate(&out, 8 * points)) return 1;
  for (int n = -WARM; n < CALLS; n++) {
    const double start = microseconds();
    if (execute(plan, in, out, FORWARD) || synchronize(NULL)) return 1;
    if (n >= 0) each[n] = microseconds() - start;
  }
  qsort(each, CALLS, sizeof *each, ascending);
  printf("cuFFT from C, one %s single: %.1f µs call to result\n", name, each[CALLS / 2]);
  return 0;
}

int main(int count, char **arguments) {
  const char *library = count > 1 ? arguments[1] : "libcufft.so.12";
  driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  cufft = dlopen(library, RTLD_NOW);
  if (!driver || !cufft) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void *context;
  int line, image;
  if (DRIVER(cuInit, unsigned)(0) || DRIVER(cuDevicePrimaryCtxRetain, void **, int)(&context, 0)) return 1;
  if (DRIVER(cuCtxSetCurrent, void *)(context)) return 1;
  if (CUFFT(cufftPlan1d, int *, int, int, int)(&line, 1024, C2C, 1)) return 1;
  if (CUFFT(cufftPlan2d, int *, int, int, int)(&image, 256, 256, C2C)) return 1;
  return measure("1024", line, 1024) || measure("256x256", image, 256 * 256);
}
