// Allocates until the milliseconds of its argument are over; without an argument, it computes and calls nothing.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void *volatile kept;
static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}
__attribute__((noinline)) static void leak(void) { kept = malloc(10000); }
__attribute__((noinline)) static void passing(void) {
  for (int i = 0; i < 20000; i++) {
    kept = malloc(500);
    free(kept);
  }
}
int main(int argc, char **argv) {
  if (argc > 1) {
    long end = now() + atol(argv[1]);
    while (now() < end) {
      leak();
      passing();
    }
  } else {
    leak();
    for (volatile long i = 0; i < 500000000; i++) {
    }
  }
  puts("done");
  return 0;
}
