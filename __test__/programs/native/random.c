// Makes heaps by a seed, and logs all that it does: blocks, what is written into them, and pointers of all kinds. A heap is
// made by one call of `run`, which asks for several dumps. The program itself finds its blocks by the complements of their
// addresses, which look like no addresses: so only the pointers in the log keep a block.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define IMPORT(name) __attribute__((import_module("log"), import_name(#name)))
#define EXPORT(name) __attribute__((export_name(name)))

/** How a pointer is kept. Only PLAIN ones can be found in a dump, and LOCAL ones if the compiler keeps them in memory. */
enum how { PLAIN, UNALIGNED, COMPLEMENT, LOCAL, HOST };

IMPORT(allocated) void log_allocated(const void *block, size_t size, int is_cleared);
IMPORT(freed) void log_freed(const void *block);
IMPORT(moved) void log_moved(uintptr_t from, const void *to, size_t size);
/** These bytes were written. They are no pointers, and what pointers were there are no more. */
IMPORT(written) void log_written(const volatile void *at, size_t size);
/** A pointer was written. LOCAL and HOST pointers have a number in place of an address. */
IMPORT(pointer) void log_pointer(uintptr_t at, uintptr_t target, enum how how);
/** This memory is the program's own, outside of the heap: all of its static data, or slots on the stack. */
IMPORT(owned) void log_owned(const volatile void *at, size_t size);
/** These slots on the stack are no more. */
IMPORT(left) void log_left(const volatile void *at, size_t size);
IMPORT(dump) void log_dump(void);

#define MOST_BLOCKS 2000
#define TABLE 24
#define EDGE 4
#define SLOTS 6

/** Static data of `random_behind.c`. The linker puts it after the allocator's state. */
extern struct { void *table[TABLE]; } behind;

static struct {
  void *table[TABLE];
  uint32_t complements[MOST_BLOCKS];
  uint32_t sizes[MOST_BLOCKS];
  uint32_t count;
  uint32_t random;
  /** How many of 16 steps free a block, how many fill one, and the kind of what is filled in. */
  uint32_t freeing, filling, filler;
  /** Whether objects are made that leave room in their blocks. */
  uint32_t has_slack;
  /** The last words before the allocator's state. */
  void *edge[EDGE];
} own;

static uint32_t random_number(uint32_t below) {
  own.random ^= own.random << 13;
  own.random ^= own.random >> 17;
  own.random ^= own.random << 5;
  return own.random % below;
}

static char *block_at(uint32_t nth) { return (char *)(uintptr_t)~own.complements[nth]; }

NOINLINE static size_t random_size(void) {
  switch (random_number(24)) {
    case 0: return 0;
    case 1: case 2: case 3: return random_number(2000);
    case 4: return random_number(12000);
    case 5: return random_number(20) == 0 ? 300000 + random_number(100000) : 8;
    default: return random_number(96);
  }
}

/** Numbers, texts and the like, which may look like addresses. */
NOINLINE static void fill(uint32_t nth) {
  static const char text[] = "the quick customer of the name and a session id of 4711 ";
  char *block = block_at(nth);
  size_t size = own.sizes[nth] & ~3u;
  if (size > 4000) size = 4000;
  for (size_t at = 0; at < size; at += 4) {
    uint32_t word = 0;
    switch (own.filler) {
      case 0: break;
      case 1: word = random_number(1u << 20); break;
      case 2: word = random_number(0xffffffff); break;
      case 3: memcpy(&word, text + at % 52, 4); break;
      default: { float number = (float)random_number(100000) / 100; memcpy(&word, &number, 4); }
    }
    memcpy(block + at, &word, 4);
  }
  log_written(block, size);
}

NOINLINE static void allocate(void) {
  if (own.count == MOST_BLOCKS) return;
  size_t size = random_size(), alignment = (size_t)16 << random_number(5);
  void *block = NULL;
  uint32_t kind = random_number(8);
  if (kind == 0) {
    size_t count = 1 + random_number(8);
    block = calloc(count, size / count);
    size = size / count * count;
  } else if (kind == 1) {
    size = (size + alignment - 1) / alignment * alignment;
    block = aligned_alloc(alignment, size);
  } else if (kind == 2) {
    if (posix_memalign(&block, alignment, size) != 0) block = NULL;
  } else {
    block = malloc(size);
  }
  if (block == NULL) return;
  log_allocated(block, size, kind == 0);
  own.complements[own.count] = ~(uint32_t)(uintptr_t)block;
  own.sizes[own.count] = (uint32_t)size;
  if (random_number(16) < own.filling) fill(own.count);
  own.count++;
}

NOINLINE static void release(void) {
  if (own.count == 0) return;
  uint32_t nth = random_number(own.count);
  char *block = block_at(nth);
  log_freed(block);
  free(block);
  own.count--;
  own.complements[nth] = own.complements[own.count];
  own.sizes[nth] = own.sizes[own.count];
}

/** Objects of two classes, which begin with the addresses of these, as those of C++ do with a table of functions. */
static const uint32_t small_class[2] = {1, 12}, large_class[2] = {2, 20};

/** What objects of the small class begin with. */
EXPORT("small_class") const void *address_of_small_class(void) { return small_class; }
/** What objects of the large class begin with. */
EXPORT("large_class") const void *address_of_large_class(void) { return large_class; }

static int is_object(uint32_t nth) {
  if (own.sizes[nth] < 4) return 0;
  uint32_t word;
  memcpy(&word, block_at(nth), 4);
  return word == (uint32_t)(uintptr_t)small_class || word == (uint32_t)(uintptr_t)large_class;
}

NOINLINE static void resize(void) {
  if (own.count == 0) return;
  uint32_t nth = random_number(own.count);
  // Objects have the size of their class.
  if (is_object(nth)) return;
  // At 0 bytes, realloc may free.
  size_t size = 1 + random_size();
  uintptr_t before = (uintptr_t)block_at(nth);
  char *block = realloc((void *)before, size);
  if (block == NULL) return;
  log_moved(before, block, size);
  own.complements[nth] = ~(uint32_t)(uintptr_t)block;
  own.sizes[nth] = (uint32_t)size;
}

/** A pointer to a block; one in four into it. */
NOINLINE static char *random_target(void) {
  uint32_t nth = random_number(own.count);
  char *block = block_at(nth);
  return own.sizes[nth] > 0 && random_number(4) == 0 ? block + random_number(own.sizes[nth]) : block;
}

static void point(char *from, size_t size, char *to) {
  if (size < 4) return;
  size_t at = random_number((uint32_t)(size / 4)) * 4;
  memcpy(from + at, &to, 4);
  log_pointer((uintptr_t)from + at, (uintptr_t)to, PLAIN);
}

NOINLINE static void point_from_block(void) {
  uint32_t nth = random_number(own.count);
  point(block_at(nth), own.sizes[nth], random_number(8) == 0 ? NULL : random_target());
}

NOINLINE static void make_cycle(void) {
  uint32_t one = random_number(own.count), other = random_number(own.count);
  point(block_at(one), own.sizes[one], block_at(other));
  point(block_at(other), own.sizes[other], block_at(one));
}

/** A pointer to any block, or a small number, as the word of a union. */
static void choose(char *block, size_t at) {
  if (random_number(2) == 0) {
    char *to = random_target();
    memcpy(block + at, &to, 4);
    log_pointer((uintptr_t)block + at, (uintptr_t)to, PLAIN);
  } else {
    uint32_t number = 1 + random_number(900);
    memcpy(block + at, &number, 4);
    log_written(block + at, 4);
  }
}

/** Allocates an object of a class, and one in four times lets it refer to another block. */
NOINLINE static void make_object(const uint32_t class[2]) {
  if (own.count == MOST_BLOCKS) return;
  char *block = malloc(class[1]);
  if (block == NULL) return;
  log_allocated(block, class[1], 0);
  uint32_t head[3] = {(uint32_t)(uintptr_t)class, 0, class[0]};
  memcpy(block, head, sizeof head);
  log_written(block, sizeof head);
  own.complements[own.count] = ~(uint32_t)(uintptr_t)block;
  own.sizes[own.count] = class[1];
  own.count++;
  if (class[1] > sizeof head) {
    choose(block, 12);
    memset(block + 16, 0, 4);
    log_written(block + 16, 4);
  }
  if (random_number(4) == 0) {
    char *to = random_target();
    memcpy(block + 4, &to, 4);
    log_pointer((uintptr_t)block + 4, (uintptr_t)to, PLAIN);
  }
}

#define DIRTY 12

/**
 * Objects of 12 bytes. Some get a used block of 20 bytes from the allocator: its last words are old data, not the object's.
 * With objects of 20 bytes in use between them, the free blocks stay as they are.
 */
NOINLINE static void make_slack(void) {
  char *dirty[DIRTY];
  for (int i = 0; i < DIRTY; i++) {
    dirty[i] = malloc(20);
    if (dirty[i] == NULL) return;
    log_allocated(dirty[i], 20, 0);
    choose(dirty[i], 12);
    make_object(small_class);
    make_object(large_class);
  }
  for (int i = 0; i < DIRTY; i++) {
    log_freed(dirty[i]);
    free(dirty[i]);
  }
  for (int i = 0; i < DIRTY; i++) make_object(small_class);
}

/** Pointers that a dump does not show as such. */
NOINLINE static void hide(void) {
  uint32_t nth = random_number(own.count);
  char *from = block_at(nth), *to = random_target();
  size_t size = own.sizes[nth];
  uint32_t kind = random_number(3);
  if (kind == 2) {
    log_pointer(random_number(4), (uintptr_t)to, HOST);
    return;
  }
  if (size < 12) return;
  size_t at = random_number((uint32_t)(size / 4) - 2) * 4;
  uint8_t words[8] = {0};
  uint32_t word = kind == 0 ? (uint32_t)(uintptr_t)to : ~(uint32_t)(uintptr_t)to;
  memcpy(words + (kind == 0 ? 2 : 0), &word, 4);
  memcpy(from + at, words, 8);
  log_written(from + at, 8);
  log_pointer((uintptr_t)from + at + (kind == 0 ? 2 : 0), (uintptr_t)to, kind == 0 ? UNALIGNED : COMPLEMENT);
}

NOINLINE static void step(void *volatile *slots) {
  uint32_t kind = random_number(16);
  if (kind < own.freeing) {
    release();
  } else if (kind < 7 || own.count == 0) {
    allocate();
  } else if (kind == 7) {
    resize();
  } else if (kind == 8) {
    uint32_t nth = random_number(TABLE);
    uint32_t place = random_number(4);
    void **at = place == 0 ? &own.edge[nth % EDGE] : place == 1 ? &behind.table[nth] : &own.table[nth];
    *at = random_number(4) == 0 ? NULL : random_target();
    log_pointer((uintptr_t)at, (uintptr_t)*at, PLAIN);
  } else if (kind == 9) {
    uint32_t nth = random_number(SLOTS);
    slots[nth] = random_number(4) == 0 ? NULL : random_target();
    log_pointer((uintptr_t)&slots[nth], (uintptr_t)slots[nth], PLAIN);
  } else if (kind == 10) {
    make_cycle();
  } else if (kind == 11) {
    hide();
  } else if (kind == 13 && own.has_slack && random_number(16) == 0) {
    make_slack();
  } else if (kind == 12 && random_number(24) == 0) {
    // Another allocator takes these pages. The next ones of malloc follow them.
    __builtin_wasm_memory_grow(0, 1 + random_number(2));
  } else {
    point_from_block();
  }
}

NOINLINE static void clear_stack(void) {
  volatile char room[2048];
  memset((char *)room, 0, sizeof room);
}

/** Takes steps, then those of deeper frames. */
NOINLINE static void work(uint32_t depth, uint32_t steps) {
  void *volatile slots[SLOTS] = {0};
  log_owned(slots, sizeof slots);
  for (uint32_t i = 0; i < steps; i++) step(slots);
  if (depth > 0) work(depth - 1, steps / 2);
  if (random_number(2) == 0) clear_stack();
  char *local = own.count == 0 ? NULL : random_target();
  log_pointer(depth, (uintptr_t)local, LOCAL);
  log_dump();
  // Until here, a local variable keeps the block.
  __asm__ volatile("" ::"r"(local));
  log_pointer(depth, 0, LOCAL);
  log_left(slots, sizeof slots);
}

EXPORT("run") void run(uint32_t seed, uint32_t steps) {
  own.random = seed * 2654435761u | 1;
  for (int i = 0; i < 8; i++) random_number(2);
  own.freeing = random_number(5);
  own.filling = random_number(16);
  own.filler = random_number(5);
  own.has_slack = random_number(3) == 0;
  log_owned(&own, sizeof own);
  log_owned(&behind, sizeof behind);
  work(random_number(3), steps);
}
