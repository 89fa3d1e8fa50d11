// Random programs of C whose log says the type of every block: structs that refer to each other, arrays of structs and of
// pointers, texts, nested structs, unions, pointers that were cast, and blocks that nothing types.

/** A generator of random numbers with a known sequence: mulberry32. */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** What a field holds, and the code that fills it. */
interface RandomField {
  declaration: string;
  fill: string;
}

/** The source of a program. Its last call is `truth_dump`. */
export function randomCProgram(seed: number): string {
  const below = random(seed);
  const count = 3 + below(5);
  const structs = Array.from({ length: count }, (_, nth) => struct(nth, count, below));
  const roots = Array.from({ length: count }, (_, nth) => `struct S${nth} *root${nth};`);
  const made = Array.from({ length: count }, (_, nth) => `  root${nth} = make${nth}(4);`);
  return `#include "truth.h"
#include <stdlib.h>
#include <string.h>
__attribute__((import_module("truth"), import_name("type"))) void truth_type(const void *, const char *);
static unsigned seed = ${1 + below(1 << 30)};
static unsigned rnd(unsigned n) { seed = seed * 1664525u + 1013904223u; return (seed >> 8) % n; }
static void *typed(size_t n, const char *name) { void *p = calloc(1, n); truth_type(p, name); return p; }
static char *text(void) { unsigned n = 1 + rnd(40); char *p = typed(n + 1, "char[]"); memset(p, 'a' + rnd(26), n); return p; }
${structs.map(({ declaration }) => declaration).join("\n")}
${roots.join("\n")}
struct S0 *table[8];
${structs.map(({ maker }) => maker).join("\n")}
int main(void) {
${made.join("\n")}
  for (int i = 0; i < 8; i++) table[i] = rnd(2) ? make0(2) : 0;
  for (int i = 0; i < 5; i++) { void *lost = typed(8 + rnd(90), "lost"); memset(lost, 1, 8); }
  truth_dump();
  return root0 == 0;
}
`;
}

function struct(nth: number, count: number, below: (below: number) => number) {
  const fields = Array.from({ length: 1 + below(6) }, (_, at) => field(nth, at, count, below));
  return {
    declaration: `struct S${nth}; struct S${nth} *make${nth}(int); void fill${nth}(struct S${nth} *, int);
struct S${nth} { int id; ${fields.map(({ declaration }) => declaration).join(" ")} };`,
    maker: `void fill${nth}(struct S${nth} *s, int depth) { s->id = rnd(1000); ${fields.map(({ fill }) => fill).join(" ")} }
struct S${nth} *make${nth}(int depth) { if (depth <= 0) return 0; struct S${nth} *s = typed(sizeof *s, "S${nth}"); fill${nth}(s, depth); return s; }`,
  };
}

function field(
  nth: number,
  at: number,
  count: number,
  below: (below: number) => number,
): RandomField {
  const name = `f${at}`;
  const other = below(count);
  switch (below(9)) {
    case 0:
      return { declaration: `double ${name};`, fill: `s->${name} = rnd(100) / 3.0;` };
    case 1:
      return { declaration: `char *${name};`, fill: `s->${name} = rnd(3) ? text() : 0;` };
    case 2:
      return {
        declaration: `struct S${other} *${name};`,
        fill: `s->${name} = rnd(4) ? make${other}(depth - 1) : 0;`,
      };
    case 3:
      return {
        declaration: `struct S${other} **${name}; unsigned n${at};`,
        fill: `s->n${at} = 1 + rnd(4); s->${name} = typed(s->n${at} * sizeof(void *), "S${other}*[]"); for (unsigned i = 0; i < s->n${at}; i++) s->${name}[i] = make${other}(depth - 2);`,
      };
    case 4:
      // An array of a struct whose members are known here.
      if (nth === 0) break;
      return {
        declaration: `struct S${nth - 1} *${name};`,
        fill: `{ unsigned n = 2 + rnd(4); s->${name} = typed(n * sizeof(struct S${nth - 1}), "S${nth - 1}[]"); if (depth > 2) for (unsigned i = 0; i < n; i++) fill${nth - 1}(s->${name} + i, depth - 2); }`,
      };
    case 5:
      if (nth === 0) break;
      return {
        declaration: `struct S${nth - 1} ${name};`,
        fill: `fill${nth - 1}(&s->${name}, depth - 1);`,
      };
    case 6:
      return {
        declaration: `union { struct S${other} *p; unsigned n; } ${name}; int k${at};`,
        fill: `s->k${at} = rnd(2); if (s->k${at}) s->${name}.p = make${other}(depth - 1); else s->${name}.n = rnd(1000);`,
      };
    case 7:
      return { declaration: `void *${name};`, fill: `s->${name} = typed(20, "hidden");` };
    default:
      break;
  }
  return {
    declaration: `unsigned *${name};`,
    fill: `s->${name} = typed(4 * (1 + rnd(20)), "unsigned int[]");`,
  };
}
