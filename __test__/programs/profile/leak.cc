#include <cstdio>
#include <memory>
#include <string>
#include <vector>
struct Node {
  std::unique_ptr<Node> next;
  char text[52];
};
static std::unique_ptr<Node> all;
static std::vector<std::string> *volatile names;
static void remember() {
  std::unique_ptr<Node> node(new Node); // leak
  node->next = std::move(all);
  all = std::move(node);
}
int main() {
  for (int i = 0; i < 1000; i++) remember();
  names = new std::vector<std::string>; // vector
  for (int i = 0; i < 100; i++) {
    names->push_back(std::string(100, 'x')); // string
  }
  std::puts("done");
  return 0;
}
