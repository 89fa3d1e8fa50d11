// A program whose memory is 0 but for what its allocator and its pointers write.
#include <stdlib.h>
__attribute__((import_module("truth"), import_name("dump"))) void truth_dump(void);
static void *kept[100];
int main(void) {
  for (int i = 0; i < 100; i++) kept[i] = calloc(1, 40);
  truth_dump();
  return 0;
}
