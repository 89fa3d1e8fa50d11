/** A heap with classes and strings that a reader of heap snapshots could misread. */
import { captureDump, exposeGlobals } from "../../dist/capture.js";
import { compileSource, UNOPTIMISED } from "./compile.ts";
import { withDebugInformation } from "./debug_information.ts";

/** Classes that a tool would rename, hide, or name by what they contain; and the name that it shows instead. */
export const SHOWN_CLASSES = new Map([
  ["Object", "class Object"],
  ["<x y", "class <x y"],
  ["(string)", "class (string)"],
  ["{a, b}", "class {a, b}"],
  ["class Object", "class class Object"],
  ['a "quoted\\" name\n', 'a "quoted\\" name\n'],
  ["größe 名前 😀", "größe 名前 😀"],
]);

/** Characters of a string that is longer than what exports show. */
export const LONG = 100_000;

/** Strings that are hard to write as JSON, and one that is there twice. */
export const STRINGS = [
  '"quoted\\"',
  "line\nbreak\ttab\0zero\u007f\u2028",
  "naïve 😀 名前",
  "\ud800 half",
  "twice",
  "__proto__",
  "(string)",
];

const HOLDERS = [...SHOWN_CLASSES.keys()].map((_, nth) => `Holder${nth}`);

const literal = (text: string) =>
  `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;

const SOURCE = `
class Node { next: Node | null = null; other: Holder0 | null = null; }
${HOLDERS.map((name) => `class ${name} { a: i32 = 0; b: Node = new Node(); }`).join("\n")}
const holders: Object[] = [${HOLDERS.map((name) => `new ${name}()`).join(", ")}];
const strings: string[] = [];
const byName = new Map<string, Node>();
const byNumber = new Map<i32, Node>();
const byFraction = new Map<f64, Node>();
const names = new Set<string>();
// What lies on the heap: a literal is static.
function copy(text: string): string { return (text + "!").slice(0, text.length); }
export function fill(): void {
  const texts: StaticArray<string> = [${[...STRINGS, "twice"].map(literal).join(", ")}];
  for (let i = 0; i < texts.length; i++) {
    strings.push(copy(texts[i]));
    byName.set(copy(texts[i]), new Node());
    names.add(copy(texts[i]));
  }
  strings.push("x".repeat(${LONG}));
  // A character of two halves, across the end of what is shown.
  strings.push("y".repeat(${(1 << 15) - 1}) + "😀 and more");
  byName.set("k".repeat(${LONG}), new Node());
  for (let i = -1; i < 3; i++) byNumber.set(i, new Node());
  byFraction.set(0.5, new Node());
}
/** A cycle, a chain that leads to it, objects that refer to themselves and to live ones. */
export function drop(): void {
  const one = new Node();
  const other = new Node();
  one.next = other;
  other.next = one;
  const chain = new Node();
  chain.next = new Node();
  chain.next!.next = one;
  const self = new Node();
  self.next = self;
  self.other = changetype<Holder0>(changetype<usize>(holders[0]));
  new Holder1();
}
`;

/** The module, and dumps before and after the program drops some objects. */
export async function hostileHeap() {
  const { wasm: named, description } = await compileSource("app", SOURCE, UNOPTIMISED);
  const names = new Map([...SHOWN_CLASSES.keys()].map((name, nth) => [`app/Holder${nth}`, name]));
  const classes = description.classes.map((described) => ({
    ...described,
    name: names.get(described.name) ?? described.name,
  }));
  const wasm = withDebugInformation(named, { ...description, classes }, "transform");
  const module = await WebAssembly.compile(exposeGlobals(wasm));
  const { exports } = await WebAssembly.instantiate(module, { env: { abort() {} } });
  const program = exports as WebAssembly.Exports &
    Record<"fill" | "drop" | "__collect", () => void>;
  program.fill();
  program.__collect();
  const whole = captureDump(exports);
  program.drop();
  return { wasm, whole, withGarbage: captureDump(exports) };
}
