#include <cstdio>
#include <memory>
#include <string>
#include <vector>
struct Node {
  Node *next;
  char text[52];
};
static Node *volatile all;
static std::vector<std::string> *volatile names;
static void remember() {
  auto node = std::make_unique<Node>(); // leak
  node->next = all;
  all = node.release();
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
