// Static data of the random program. The linker puts it after the allocator's state. It is in a structure, because a bare
// array would be aligned, with a gap before it.
struct {
  void *table[24];
} behind;
