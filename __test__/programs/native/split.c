// A variable of which an optimiser makes several, because only its members are used.
#include "truth.h"
#include <stdlib.h>
struct session { int id; struct session *next; };
struct message { double length; struct message *next; };
static struct { int count; struct session *first; struct message *last; } state;
__attribute__((noinline)) static void add(int id) {
  struct session *session = malloc(sizeof *session);
  session->id = id, session->next = state.first, state.first = session;
  struct message *message = malloc(sizeof *message);
  message->length = id, message->next = state.last, state.last = message;
  state.count++;
}
int main(int argc, char **argv) {
  for (int i = 0; i < 30 * argc; i++) add(i);
  truth_dump();
  return state.count == 0 || !state.first || !state.last;
}
