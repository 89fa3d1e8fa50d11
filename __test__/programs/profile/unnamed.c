#include <stdio.h>
#include <stdlib.h>
// Called through variables, so that no optimiser copies them into this function.
static void *(*volatile resize)(void *, size_t) = realloc;
static int (*volatile aligned)(void **, size_t, size_t) = posix_memalign;
static void *volatile kept;
static void *volatile all[1000];
int main(int argc, char **argv) {
  for (int i = 0; i < 1000; i++) {
    all[i] = malloc(56);
    kept = calloc(i % 100 + 1, 3);
    kept = resize(kept, 500);
    free(kept);
  }
  void *block;
  if (aligned(&block, 64, 1000)) return 1;
  kept = block;
  printf("done %s\n", argc > 1 ? argv[1] : "");
  return 0;
}
