// One block of malloc that an allocator of the program divides; with -DNUMBERS, blocks of numbers of the same size.
#include "truth.h"
#include <stdlib.h>
struct node { struct node *next; int value; };
static struct node *first;
static void *kept[1000];
static double *numbers;
int main(void) {
#ifdef NUMBERS
  uint32_t seed = 1;
  uint32_t *words = malloc(1 << 20);
  for (int i = 0; i < 1 << 18; i++) words[i] = seed = seed * 1664525u + 1013904223u;
  kept[0] = words;
  numbers = malloc(1 << 20);
  for (int i = 0; i < 1 << 17; i++) numbers[i] = i / 7.0;
#else
  struct node *arena = malloc(1 << 20);
  for (int i = 0; i < 1 << 16; i++) { arena[i].next = first; arena[i].value = i; first = &arena[i]; }
#endif
  for (int i = 1; i < 1000; i++) kept[i] = malloc(i % 50 + 1);
  truth_dump();
  return first != 0 && first->value == 0 && numbers != 0;
}
