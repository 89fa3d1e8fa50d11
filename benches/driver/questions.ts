/**
 * Opens a heap with all indexes: `node build/bench/questions.js <dump> <wasm> [ask]` prints as JSON how many
 * seconds that took, and with `ask` also how many the first questions of each kind took.
 */
import { type Heap, openHeapFile } from "@warpo/heap-analyzer";

/** Seconds. */
export interface QuestionTimes {
  open: number;
  /** Of one page of dominators, and the slowest of as many objects and paths as that page has. */
  page: number;
  object: number;
  path: number;
  /** Of the class with the most objects: the first search, and the first merged paths. */
  find: number;
  merged: number;
  suspects: number;
  waste: number;
  unreachable: number;
  placeTable: number;
  /** The objects of a class by a condition over a field, in millions a second. */
  whereNumber: number;
  whereReference: number;
  whereText: number;
}

function seconds(work: () => void): number {
  const begin = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - begin) / 1e9;
}

/** How many millions of objects a condition examines in a second. */
function examined(heap: Heap, name: string, where: string): number {
  let count = 0;
  const taken = seconds(() => {
    count = heap.find({ class: name, where, count: true }).where?.examined ?? 0;
  });
  return count / 1e6 / taken;
}

function main([dump, wasm, ask]: string[]): Partial<QuestionTimes> {
  const begin = process.hrtime.bigint();
  const heap = openHeapFile(dump as string, wasm as string, { prepare: true });
  const open = Number(process.hrtime.bigint() - begin) / 1e9;
  if (ask === undefined) return { open };
  const className = heap.constructors({ sort: "count", top: 1 }).constructors[0]?.className ?? "";
  const find = seconds(() => heap.find({ class: className }));
  const addresses = heap.find({ class: className }).objects.map(({ address }) => address);
  const slowest = (work: (address: number) => void) =>
    Math.max(...addresses.map((address) => seconds(() => work(address))));
  return {
    open,
    find,
    page: seconds(() => heap.dominators({ address: addresses[0] })),
    object: slowest((address) => heap.object(address)),
    path: slowest((address) => heap.paths(address)),
    merged: seconds(() => heap.paths({ class: className })),
    suspects: seconds(() => heap.suspects()),
    waste: seconds(() => heap.waste()),
    unreachable: seconds(() => heap.unreachable()),
    placeTable: seconds(() => heap.placeTable()),
    whereNumber: examined(heap, "*/OrderLine", "quantity > 4"),
    whereReference: examined(heap, "*/OrderLine", "product == null"),
    whereText: examined(heap, "*/Customer", 'email.endsWith("example.org")'),
  };
}

console.log(JSON.stringify(main(process.argv.slice(2))));
