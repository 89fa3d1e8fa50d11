class Book { title: string; next: Book | null = null; constructor(t: string) { this.title = t; } }
class Novel extends Book { pages: i32 = 7; }
class Shelf { books: Book[] = []; byTitle: Map<string, Book> = new Map(); codes: Set<i64> = new Set(); sizes: StaticArray<f64> = new StaticArray<f64>(3); row: StaticArray<Book | null> = new StaticArray<Book | null>(2); bytes: Uint8Array = new Uint8Array(10); }
let shelf: Shelf = new Shelf();
let pinned: usize = 0;
export function setup(count: i32): void {
  const b = new Book("pinned one");
  pinned = __pin(changetype<usize>(b));
  for (let i = 0; i < count; i++) add(i);
  shelf.row[1] = shelf.books[2];
}
function add(i: i32): void {
  const book = i % 2 ? new Novel("novel " + i.toString()) : new Book("book " + i.toString());
  if (shelf.books.length > 0) book.next = shelf.books[shelf.books.length - 1];
  shelf.books.push(book);
  shelf.byTitle.set(book.title, book);
  shelf.codes.add(i as i64);
}
export function churn(n: i32): void { for (let i = 0; i < n; i++) { new Novel("gone " + i.toString()); } }
