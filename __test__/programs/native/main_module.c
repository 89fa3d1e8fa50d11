// The main module of a program that can load side modules: a list that it keeps, and blocks that it loses.
#include <emscripten.h>
#include <stdlib.h>
struct node { struct node *next; const char *name; int value; };
static const char *names[] = {"the first of two names", "the second name"};
static struct node *list;
EMSCRIPTEN_KEEPALIVE void add(int value) {
  struct node *node = malloc(sizeof *node);
  node->next = list;
  node->name = names[value & 1];
  node->value = value;
  list = node;
}
EMSCRIPTEN_KEEPALIVE void lose(void) { *(volatile int *)malloc(100) = 1; }
