/* The child process behind peers/fftw.ts; the requests are described in peers/native.ts. FFTW is opened at run time, so
   that its run-time packages are enough. FFTW_MEASURE, one thread, out of place, input preserved, own aligned buffers. */
#define _POSIX_C_SOURCE 199309L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FFTW_FORWARD = -1, FFTW_MEASURE = 0, MAX_RANK = 8, MAX_PLANS = 1024 };

typedef struct {
  void *(*alloc)(size_t);
  void (*release)(void *);
  void *(*plan)(int rank, const int *n, int howmany, void *in, const int *inembed, int istride, int idist, void *out,
                const int *onembed, int ostride, int odist, int sign, unsigned flags);
  void (*execute)(void *);
  void (*destroy)(void *);
} Library;

static void *symbol(void *handle, const char *prefix, const char *name) {
  char full[64];
  snprintf(full, sizeof full, "%s_%s", prefix, name);
  void *found = dlsym(handle, full);
  if (!found) fprintf(stderr, "no %s\n", full), exit(1);
  return found;
}

static Library open_library(const char *file, const char *prefix) {
  void *handle = dlopen(file, RTLD_NOW);
  if (!handle) fprintf(stderr, "%s\n", dlerror()), exit(1);
  Library library;
  *(void **)&library.alloc = symbol(handle, prefix, "malloc");
  *(void **)&library.release = symbol(handle, prefix, "free");
  *(void **)&library.plan = symbol(handle, prefix, "plan_many_dft");
  *(void **)&library.execute = symbol(handle, prefix, "execute");
  *(void **)&library.destroy = symbol(handle, prefix, "destroy_plan");
  return library;
}

typedef struct {
  const Library *library;
  void *plan, *in, *out;
  enum { SINGLE, DOUBLE, QUAD } precision;
  size_t total;
} Plan;

/* As `sample` in data.ts. */
static double sample(uint32_t seed, uint32_t index) {
  uint32_t h = index * 0x9e3779b9u + seed;
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return (h ^ (h >> 16)) / 2147483648.0 - 1;
}

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

/* With an argument in quadruple precision only, which is a library of its own. */
int main(int count, char **arguments) {
  Library libraries[3];
  (void)arguments;
  if (count > 1) {
    libraries[QUAD] = open_library("libfftw3q.so.3", "fftwq");
  } else {
    libraries[SINGLE] = open_library("libfftw3f.so.3", "fftwf");
    libraries[DOUBLE] = open_library("libfftw3.so.3", "fftw");
  }
  static Plan plans[MAX_PLANS];
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    char *request = strtok(line, " \n"), *word = strtok(NULL, " \n");
    if (!word) continue;
    int number = atoi(word);
    if (number < 0 || number >= MAX_PLANS) return fprintf(stderr, "no plan %d\n", number), 1;
    Plan *p = &plans[number];
    if (!strcmp(request, "plan")) {
      p->precision = count > 1 ? QUAD : strcmp(strtok(NULL, " \n"), "double") ? SINGLE : DOUBLE;
      if (count > 1) strtok(NULL, " \n");
      p->library = &libraries[p->precision];
      int batches = atoi(strtok(NULL, " \n")), n[MAX_RANK], rank = 0, length = 1;
      while (rank < MAX_RANK && (word = strtok(NULL, " \n"))) length *= n[rank++] = atoi(word);
      p->total = (size_t)length * batches;
      size_t bytes = p->total * (p->precision == QUAD ? 32 : p->precision == DOUBLE ? 16 : 8);
      p->in = p->library->alloc(bytes), p->out = p->library->alloc(bytes);
      p->plan = p->library->plan(rank, n, batches, p->in, NULL, 1, length, p->out, NULL, 1, length, FFTW_FORWARD, FFTW_MEASURE);
      if (!p->plan) return fprintf(stderr, "no plan\n"), 1;
      printf("ok\n");
    } else if (!p->plan) {
      return fprintf(stderr, "no plan %d\n", number), 1;
    } else if (!strcmp(request, "close")) {
      p->library->destroy(p->plan), p->library->release(p->in), p->library->release(p->out);
      p->plan = NULL;
      printf("ok\n");
    } else if (!strcmp(request, "load")) {
      uint32_t seed = strtoul(strtok(NULL, " \n"), NULL, 10);
      for (size_t j = 0; j < 2 * p->total; j++) {
        if (p->precision == QUAD) ((__float128 *)p->in)[j] = sample(seed, j);
        else if (p->precision == DOUBLE) ((double *)p->in)[j] = sample(seed, j);
        else ((float *)p->in)[j] = sample(seed, j);
      }
      printf("ok\n");
    } else if (!strcmp(request, "bins")) {
      p->library->execute(p->plan);
      while ((word = strtok(NULL, " \n"))) {
        size_t k = strtoul(word, NULL, 10);
        if (p->precision == QUAD) {
          __float128 *bin = (__float128 *)p->out + 2 * k;
          printf("%.17g %.17g ", (double)bin[0], (double)bin[1]);
        } else if (p->precision == DOUBLE) printf("%.17g %.17g ", ((double *)p->out)[2 * k], ((double *)p->out)[2 * k + 1]);
        else printf("%.9g %.9g ", ((float *)p->out)[2 * k], ((float *)p->out)[2 * k + 1]);
      }
      printf("\n");
    } else if (!strcmp(request, "time")) {
      long calls = atol(strtok(NULL, " \n"));
      double start = microseconds();
      for (long i = 0; i < calls; i++) p->library->execute(p->plan);
      printf("%.6f\n", (microseconds() - start) / calls);
    }
    fflush(stdout);
  }
  return 0;
}
