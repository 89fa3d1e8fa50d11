// Objects of C++ that JavaScript holds by the handles of embind.
#include <emscripten/bind.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

struct Page {
  int number;
  char text[60];
};

struct Author {
  explicit Author(std::string name) : name(std::move(name)) {}
  std::string name;
};

class Book {
 public:
  Book(std::string title, int count) : title(std::move(title)) {
    for (int number = 0; number < count; number++) {
      pages.push_back(std::make_unique<Page>());
      pages.back()->number = number;
    }
  }
  void set_author(std::shared_ptr<Author> written_by) { author = std::move(written_by); }
  // Each of two books refers to the other one.
  void pair(Book &other) {
    sequel = &other;
    other.sequel = this;
  }
  // The address, for the test.
  unsigned address() const { return reinterpret_cast<unsigned>(this); }

 private:
  std::string title;
  std::vector<std::unique_ptr<Page>> pages;
  std::shared_ptr<Author> author;
  Book *sequel = nullptr;
};

// The program itself refers to this one.
Book *window_display = nullptr;

static void display(Book &book) { window_display = &book; }

static unsigned address_of_author(const Author &author) {
  return reinterpret_cast<unsigned>(&author);
}

EMSCRIPTEN_BINDINGS(shelf) {
  using namespace emscripten;
  class_<Author>("Author").smart_ptr_constructor("Author", &std::make_shared<Author, std::string>);
  class_<Book>("Book")
      .constructor<std::string, int>()
      .function("setAuthor", &Book::set_author)
      .function("pair", &Book::pair)
      .function("address", &Book::address);
  function("display", &display);
  function("addressOfAuthor", &address_of_author);
}
