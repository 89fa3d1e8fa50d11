#include <stdlib.h>
#include <string.h>
#include <stdio.h>
struct node { struct node *next; char text[52]; };
static struct node *all;
static void remember(int i) {
  struct node *n = malloc(sizeof(struct node)); // leak
  snprintf(n->text, sizeof n->text, "node %d", i);
  n->next = all;
  all = n;
}
static char *volatile kept; // An optimiser removes blocks that no other code can see.
static int churn(int i) {
  char *p = kept = calloc(i % 100 + 1, 3);
  p = kept = realloc(p, 500);
  int r = p[0];
  free(p);
  return r;
}
int main(int argc, char **argv) {
  int sum = 0;
  for (int i = 0; i < 10000; i++) { remember(i); sum += churn(i); }
  void *q; if (posix_memalign(&q, 64, 1000)) return 1;
  printf("done %d %s\n", sum, argc > 1 ? argv[1] : "");
  return 0;
}
