// A program without an allocator.
__attribute__((import_module("truth"), import_name("dump"))) void truth_dump(void);
static int table[100];
void run(void) {
  for (int i = 0; i < 100; i++) table[i] += i;
  truth_dump();
}
