// A main module, whose variables have addresses that its loader chooses.
#include <emscripten.h>
#include <stdlib.h>

struct session {
  struct session *next;
  int number;
};
static struct session *sessions;

EMSCRIPTEN_KEEPALIVE void open_sessions(int count) {
  for (int number = 0; number < count; number++) {
    struct session *session = malloc(sizeof *session);
    session->next = sessions;
    session->number = number;
    sessions = session;
  }
}

// The address is kept as another number.
EMSCRIPTEN_KEEPALIVE int lose_session(void) {
  struct session *session = malloc(sizeof *session);
  session->next = NULL;
  session->number = -1;
  return ~(int)session;
}
