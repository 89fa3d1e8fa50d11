// A side module: its static data lies in a block of the main module that loads it.
#include <stdlib.h>

struct item {
  struct item *next;
  int number;
};
struct item *items;

void add_items(int count) {
  for (int number = 0; number < count; number++) {
    struct item *item = malloc(sizeof *item);
    item->next = items;
    item->number = number;
    items = item;
  }
}

// The address is kept as another number.
int lose_item(void) {
  struct item *item = malloc(sizeof *item);
  item->next = NULL;
  item->number = -1;
  return ~(int)item;
}
