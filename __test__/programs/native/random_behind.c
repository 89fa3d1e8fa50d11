// Static data of the random program that is linked behind the allocator's state: nothing of it is the allocator's. An array
// outside of a structure would be aligned, with a gap before it.
struct {
  void *table[24];
} behind;
