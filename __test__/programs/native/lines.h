// Included before a source of C: the log has the line of each allocation.
#pragma once
#include <stdlib.h>
__attribute__((import_module("truth"), import_name("line"))) void truth_line(const void *block, int line);
static inline void *at_line(void *block, int line) {
  truth_line(block, line);
  return block;
}
#define malloc(size) at_line(malloc(size), __LINE__)
#define calloc(count, size) at_line(calloc(count, size), __LINE__)
#define realloc(block, size) at_line(realloc(block, size), __LINE__)
