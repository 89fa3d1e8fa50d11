// Allocates, resizes and frees one block of some at each call.
#include <stdlib.h>
static void *all[64];
static unsigned seed = 1;
static unsigned rnd(unsigned n) { seed = seed * 1664525u + 1013904223u; return (seed >> 8) % n; }
__attribute__((export_name("step"))) void step(void) {
  unsigned at = rnd(64);
  if (!all[at]) all[at] = rnd(4) ? malloc(1 + rnd(rnd(8) ? 200 : 70000)) : calloc(1 + rnd(30), 8);
  else if (rnd(3)) { free(all[at]); all[at] = 0; }
  else { void *p = realloc(all[at], 1 + rnd(400)); if (p) all[at] = p; }
}
