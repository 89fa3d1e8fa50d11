// Random programs of C++ whose log says the type of every block: containers of the standard library, classes with and
// without virtual functions, owners and observers of all kinds, and what is left in memory when values are destroyed. A
// type that begins with `/` is a regular expression.

import { random } from "./random_c_program.ts";

interface RandomField {
  declaration: string;
  fill: string;
}

/** The source of a program. Its last call is `truth_dump`. */
export function randomCppProgram(seed: number): string {
  const below = random(seed);
  const count = 3 + below(5);
  const structs = Array.from({ length: count }, (_, nth) => struct(nth, count, below));
  const all = Array.from({ length: count }, (_, nth) => nth);
  return `#include "truth.h"
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
extern "C" __attribute__((import_module("truth"), import_name("type"))) void truth_type(const void *, const char *);
static const char *current = "";
void *operator new(std::size_t n) { void *p = std::malloc(n); truth_alloc(p, n); if (*current) truth_type(p, current); return p; }
void operator delete(void *p) noexcept { truth_free(p); std::free(p); }
void operator delete(void *p, std::size_t) noexcept { truth_free(p); std::free(p); }
/* Everything that is allocated in it is of this type. */
template <class F> auto typed(const char *name, F make) { struct Type { const char *before = current; ~Type() { current = before; } } type; current = name; return make(); }
static unsigned seed = ${1 + below(1 << 30)};
static unsigned rnd(unsigned n) { seed = seed * 1664525u + 1013904223u; return (seed >> 8) % n; }
static std::string text() { return typed("char[]", [] { std::string t(rnd(40), char('a' + rnd(26))); if (rnd(3) == 0) t.reserve(60); return t; }); }
struct Base { int kind = 1; virtual ~Base() {} virtual int area() const { return kind; } };
struct Plain { int plain = 2; Plain *next = nullptr; };
${all.map((nth) => `struct S${nth}; S${nth} *make${nth}(int);`).join(" ")}
${structs.map(({ declaration }) => declaration).join("\n")}
${all.map((nth) => `S${nth} *root${nth};`).join(" ")}
std::vector<std::unique_ptr<Base>> bases; std::vector<S0 *> pointers; std::deque<S1 *> queue; std::map<std::string, S0 *> by_name;
${structs.map(({ maker }) => maker).join("\n")}
int main() {
${all.map((nth) => `  root${nth} = make${nth}(4);`).join("\n")}
  for (int i = 0; i < 9; i++) { Base *b = typed("Base", [] { return new Base; }); typed("/^std::unique_ptr<Base>\\\\[\\\\]$/", [&] { bases.emplace_back(b); return 0; }); }
  for (int i = 0; i < 9; i++) { S0 *s = make0(2); typed("S0*[]", [&] { pointers.push_back(s); return 0; }); }
  for (int i = 0; i < 9; i++) { S1 *s = make1(2); typed("S1*[]|S1**[]", [&] { queue.push_back(s); if (rnd(3) == 0) queue.pop_front(); return 0; }); }
  for (int i = 0; i < 9; i++) { S0 *s = make0(2); std::string key = text(); typed("/^std::__tree_node<.*std::string, S0 ?\\\\*>, void \\\\*>$/", [&] { by_name.emplace(std::move(key), s); return 0; }); }
  for (int i = 0; i < 5; i++) { typed("lost", [] { return std::memset(operator new(8 + rnd(90)), 1, 8); }); }
  truth_dump();
  std::_Exit(root0 == nullptr);
}
`;
}

function struct(nth: number, count: number, below: (below: number) => number) {
  const fields = Array.from({ length: 1 + below(6) }, (_, at) => field(nth, at, count, below));
  const parent = [" : Base", " : Plain", ""][below(3)];
  return {
    declaration: `struct S${nth}${parent} { int id = 0; ${fields.map(({ declaration }) => declaration).join(" ")} void fill(int depth); };`,
    maker: `void S${nth}::fill(int depth) { id = rnd(1000); (void)depth; ${fields.map(({ fill }) => fill).join(" ")} }
S${nth} *make${nth}(int depth) { if (depth <= 0) return nullptr; S${nth} *s = typed("S${nth}", [] { return new S${nth}(); }); s->fill(depth); return s; }`,
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
  const make = (less: number) => `make${other}(depth - ${less})`;
  const times = (most: number, body: string) =>
    `for (int i = rnd(${most}); i > 0; i--) { ${body} }`;
  const add = (type: string, call: string) => `typed("${type}", [&] { ${call}; return 0; });`;
  const simple = { declaration: `double ${name} = 0;`, fill: `${name} = rnd(100) / 3.0;` };
  switch (below(20)) {
    case 0:
      return { declaration: `std::string ${name};`, fill: `${name} = text();` };
    case 1:
      return { declaration: `S${other} *${name} = nullptr;`, fill: `${name} = ${make(1)};` };
    case 2:
      return {
        declaration: `std::unique_ptr<S${other}> ${name};`,
        fill: `${name}.reset(${make(1)});`,
      };
    case 3:
      // A complete type.
      if (nth === 0) return simple;
      return {
        declaration: `std::vector<S${nth - 1}> ${name};`,
        fill: times(
          4,
          `S${nth - 1} s; s.fill(depth - 3); ${add(`S${nth - 1}[]`, `${name}.push_back(std::move(s))`)}`,
        ),
      };
    case 4:
      return {
        declaration: `std::vector<S${other} *> ${name};`,
        fill: `${times(6, `auto *s = ${make(2)}; ${add(`S${other}*[]`, `${name}.push_back(s)`)}`)} if (!${name}.empty()) ${name}.pop_back();`,
      };
    case 5:
      if (nth === 0) return simple;
      return { declaration: `S${nth - 1} ${name};`, fill: `${name}.fill(depth - 1);` };
    case 6:
      return {
        declaration: `std::map<int, S${other} *> ${name};`,
        fill: times(
          8,
          `auto *s = ${make(2)}; ${add(`/^std::__tree_node<std::__value_type<int, S${other} ?\\\\*>, void \\\\*>$/`, `${name}[rnd(20)] = s`)}`,
        ),
      };
    case 7:
      return {
        declaration: `std::unordered_map<int, S${other} *> ${name};`,
        fill: times(
          8,
          `auto *s = ${make(2)}; ${add(`/^std::__hash_node(_base)?<.*S${other} ?\\\\*>, void \\\\*>( ?\\\\*>\\\\*\\\\[\\\\])?$/`, `${name}[rnd(20)] = s`)}`,
        ),
      };
    case 8:
      return {
        declaration: `std::list<S${other} *> ${name};`,
        fill: times(
          6,
          `auto *s = ${make(2)}; ${add(`/^std::__list_node<S${other} ?\\\\*, void \\\\*>$/`, `${name}.push_back(s)`)}`,
        ),
      };
    case 9:
      return {
        declaration: `std::deque<S${other} *> ${name};`,
        fill: times(
          9,
          `auto *s = ${make(2)}; ${add(`S${other}*[]|S${other}**[]`, `${name}.push_back(s); if (rnd(3) == 0) ${name}.pop_front()`)}`,
        ),
      };
    case 10:
      // Its type is complete where it is made.
      return {
        declaration: `std::shared_ptr<S${other}> ${name};`,
        fill: `if (depth > 1) { ${add(`/^std::__shared_ptr_emplace<S${other}>$/`, `${name} = std::make_shared<S${other}>()`)} ${name}->fill(depth - 1); }`,
      };
    case 11:
      // What it refers to is destroyed: the block stays, and what was in it.
      return {
        declaration: `std::weak_ptr<S${other}> ${name};`,
        fill: `if (depth > 1) { std::shared_ptr<S${other}> s; ${add(`/^std::__shared_ptr_emplace<S${other}>$/`, `s = std::make_shared<S${other}>()`)} s->fill(1); ${name} = s; }`,
      };
    case 12:
      if (nth === 0) return simple;
      return {
        declaration: `std::unique_ptr<S${nth - 1}[]> ${name};`,
        fill: `if (depth > 2) { unsigned n = 1 + rnd(4); ${name}.reset(typed("S${nth - 1}[]", [&] { return new S${nth - 1}[n]; })); for (unsigned i = 0; i < n; i++) ${name}[i].fill(depth - 3); }`,
      };
    case 13:
      return {
        declaration: `std::optional<S${other} *> ${name};`,
        fill: `if (auto *s = ${make(2)}) ${name} = s; if (rnd(3) == 0) ${name}.reset();`,
      };
    case 14:
      return {
        declaration: `std::variant<int, S${other} *, std::string> ${name};`,
        fill: `if (rnd(3)) ${name} = ${make(2)}; else if (rnd(2)) ${name} = text();`,
      };
    case 15:
      return {
        declaration: `std::function<int()> ${name};`,
        // In some versions, what it calls has no virtual functions, and only a void pointer refers to it.
        fill: add(
          "/^std::__function::__func<.*>$/",
          `${name} = [a = std::array<int, 5>{1, 2, 3}] { return a[0]; }`,
        ),
      };
    case 16:
      return {
        declaration: `union { S${other} *p${at}; unsigned n${at} = 0; }; int k${at} = 0;`,
        fill: `k${at} = rnd(2); if (k${at}) p${at} = ${make(1)}; else n${at} = rnd(1000);`,
      };
    case 17:
      return {
        declaration: `void *${name} = nullptr;`,
        fill: `${name} = typed("hidden", [] { return std::memset(operator new(20), 7, 20); });`,
      };
    case 18:
      return {
        declaration: `std::array<std::unique_ptr<S${other}>, 3> ${name};`,
        fill: `for (auto &s : ${name}) s.reset(${make(2)});`,
      };
    default:
      return {
        declaration: `std::set<std::string> ${name};`,
        fill: times(
          5,
          `std::string t = text(); ${add("/^std::__tree_node<std::string, void \\\\*>$/", `${name}.insert(std::move(t))`)}`,
        ),
      };
  }
}
