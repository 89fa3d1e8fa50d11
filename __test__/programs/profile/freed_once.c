// Each function of the allocator is called in one place, so that an optimiser copies it there.
#include <stdlib.h>
static void *volatile kept;
int main(void) {
  kept = malloc(100);
  free(kept);
  return 0;
}
