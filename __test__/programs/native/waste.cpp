// Containers with more room than they need, and a call that gives it back.
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>
struct Order { int id; double price; };
struct Holder { std::vector<int> numbers; std::string name; std::vector<int> seen; int *first_seen; };
static std::vector<Order> orders;
static std::string text;
static std::unordered_map<int, int> table;
static std::deque<int> queue;
static Holder *holder;
#define EXPORT(name) extern "C" __attribute__((export_name(#name))) void name()
EXPORT(fill) {
  orders.reserve(500);
  for (int i = 0; i < 40; i++) orders.push_back({i, 1.5});
  text.reserve(5000);
  text.append(300, 'x');
  table.reserve(3000);
  for (int i = 0; i < 50; i++) table[i] = i;
  holder = new Holder();
  holder->numbers.reserve(1000);
  holder->numbers.assign(30, 7);
  holder->name.reserve(700);
  holder->name.append(100, 'y');
  // Something else refers to these.
  holder->seen.reserve(2000);
  holder->seen.push_back(1);
  holder->first_seen = holder->seen.data();
}
EXPORT(shrink) {
  orders.shrink_to_fit();
  text.shrink_to_fit();
  table.rehash(0);
  holder->numbers.shrink_to_fit();
  holder->name.shrink_to_fit();
}
// One element takes a block.
EXPORT(fill_queue) { queue.push_back(1); }
