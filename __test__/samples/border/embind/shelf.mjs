// Holds books in the ways in which programs hold handles of embind, and says what it knows.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { capturePair } from "@warpo/heap-analyzer/capture";

const [prefix] = process.argv.slice(2);
const start = createRequire(import.meta.url)("./shelf.js");
const program = await start();
/** Addresses as texts: as numbers, the arrays would hold the books, too. */
const truth = {};

/** Books with this name, each with as many pages as is said. */
function books(name, count, pages = 3) {
  const made = Array.from({ length: count }, (_, nth) => new program.Book(`${name} ${nth}`, pages));
  truth[name] = [...(truth[name] ?? []), ...made.map((book) => `${book.address()}`)];
  return made;
}

globalThis.app = {
  shelf: books("kept", 30),
  authors: new Map(),
  pairs: [],
  decoys: [],
};

// The pointer of a shared object is not the start of its block.
truth.authors = [];
for (let nth = 0; nth < 10; nth++) {
  const author = new program.Author(`author ${nth}`);
  app.authors.set(`author ${nth}`, author);
  truth.authors.push(`${program.addressOfAuthor(author)}`);
}

// The memory refers to this one, too.
const [displayed] = books("displayed", 1);
program.display(displayed);
app.displayed = displayed;

// Handles that were deleted hold nothing.
app.sold = books("sold", 10);
for (const book of app.sold) book.delete();

// In a function, so that no register or stack slot has a handle afterwards.
function lose() {
  for (const one of books("paired", 4)) {
    const [other] = books("other of the pair", 1);
    one.pair(other);
    app.pairs.push(one);
  }
  books("lost", 12);
}
lose();

// Objects that look like what embind keeps, and are not its: most of their numbers are no addresses.
for (let nth = 0; nth < 60; nth++) {
  const ptr = nth % 5 === 0 ? Number(truth.lost[nth / 5]) : 70_000 + 1234 * nth;
  app.decoys.push({ ptrType: {}, ptr, count: { value: 1 } });
}

for (let round = 0; round < 3; round++) {
  await new Promise((resolve) => setTimeout(resolve, 10));
  gc();
}
capturePair(program, prefix);
writeFileSync(`${prefix}.truth.json`, JSON.stringify(truth));
