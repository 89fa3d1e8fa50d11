// Has the constants of emmalloc in functions of the same types, but nothing that searches a mask of lists.
static unsigned table[64];
__attribute__((export_name("make"))) unsigned make(unsigned first, unsigned size) {
  if (size > 0xFFFFFFC7u) return 0;
  int zeros = __builtin_clz(size);
  int at = zeros > 19 ? 110 - (zeros << 2) + first : 71 - (zeros << 1);
  return table[at & 63];
}
__attribute__((export_name("drop"))) void drop(unsigned size) {
  int zeros = __builtin_clz(size);
  table[(zeros > 19 ? 110 - (zeros << 2) : 71 - (zeros << 1)) & 63] = 0;
}
