// A tree of as many nodes as asked for, of 40 bytes each, with free blocks between some of them.
#include <stdlib.h>
struct node { struct node *left, *right; int value, more[7]; };
static struct node *root;
__attribute__((export_name("make"))) void make(unsigned count) {
  struct node **all = malloc(count * sizeof *all);
  for (unsigned i = 0; i < count; i++) {
    void *between = i % 8 ? NULL : malloc(24);
    all[i] = calloc(1, sizeof **all);
    all[i]->value = (int)i;
    free(between);
  }
  for (unsigned i = 0; i < count; i++) {
    all[i]->left = 2 * i + 1 < count ? all[2 * i + 1] : NULL;
    all[i]->right = 2 * i + 2 < count ? all[2 * i + 2] : NULL;
  }
  root = all[0];
  free(all);
}
