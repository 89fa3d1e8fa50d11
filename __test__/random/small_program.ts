/**
 * Small random AssemblyScript programs: one to nine classes, some globals, some dumps. Optimisers
 * inline more of the collector the smaller a program is.
 */

import { type Random, randomFrom } from "./stream.ts";
import { beginning, shapesOf, type Unusual } from "./unusual.ts";
import type { Maker, Shape, Variable } from "./variable.ts";

const SHAPES: Shape[] = [
  (name, { type, object }) => ({
    declaration: `let ${name}: ${type} | null = null;`,
    fill: `${name} = ${object};`,
    shrink: `${name} = null;`,
  }),
  (name, { type, object }, random) => ({
    declaration: `const ${name}: ${type}[] = ${random(2) ? "[]" : `new Array<${type}>()`};`,
    fill: `${name}.push(${object});`,
    shrink: `${name}.length = ${random(3)};`,
  }),
  (name, { type, object }) => ({
    declaration: `let ${name}: ${type}[] = [];`,
    fill: `${name}.push(${object});`,
    shrink: `${name} = [];`,
  }),
  (name) => ({
    declaration: `const ${name}: string[] = ["a", "b"];`,
    fill: `${name}.push("n" + i.toString());`,
    shrink: `${name}.length = 1;`,
  }),
  (name) => ({
    declaration: `let ${name}: string = "start";`,
    fill: `${name} = "s" + i.toString();`,
    shrink: `${name} = "end";`,
  }),
  (name, { type, object }) => ({
    declaration: `const ${name}: Map<i32, ${type}> = new Map();`,
    fill: `${name}.set(i & 7, ${object});`,
    shrink: `${name}.delete(1);`,
  }),
  (name, { type, object }) => ({
    declaration: `let ${name}: Map<string, ${type}[]> = new Map();`,
    fill: `{ const key = "k" + (i & 3).toString(); if (!${name}.has(key)) ${name}.set(key, []); ${name}.get(key).push(${object}); }`,
    shrink: `${name}.delete("k1");`,
  }),
  (name, { type, object }) => ({
    declaration: `const ${name}: Map<${type}, i64> = new Map();`,
    fill: `${name}.set(${object}, i);`,
    shrink: `${name}.clear();`,
  }),
  (name) => ({
    declaration: `const ${name}: Map<u8, string> = new Map();`,
    fill: `${name}.set(<u8>i, "v" + i.toString());`,
    shrink: `${name}.delete(2);`,
  }),
  (name, { type, object }) => ({
    declaration: `let ${name}: Map<string, Map<i64, ${type}>> = new Map();`,
    fill: `{ const key = "m" + (i & 1).toString(); if (!${name}.has(key)) ${name}.set(key, new Map()); ${name}.get(key).set(i, ${object}); }`,
    shrink: `${name}.delete("m0");`,
  }),
  (name, { type, object }) => ({
    declaration: `const ${name}: Set<${type}> = new Set();`,
    fill: `${name}.add(${object});`,
    shrink: `${name}.clear();`,
  }),
  (name) => ({
    declaration: `let ${name}: Set<string> = new Set();`,
    fill: `${name}.add("e" + (i % 5).toString());`,
    shrink: `${name}.delete("e1");`,
  }),
  (name, { type, object }) => ({
    declaration: `const ${name}: StaticArray<${type} | null> = new StaticArray<${type} | null>(8);`,
    fill: `${name}[i & 7] = ${object};`,
    shrink: `${name}[3] = null;`,
  }),
  (name) => ({
    declaration: `const ${name}: StaticArray<string> = ["x", "y", "z"];`,
    fill: `${name}[i % 3] = "z" + i.toString();`,
    shrink: `${name}[1] = "";`,
  }),
  (name, { type, object }) => ({
    declaration: `const ${name}: ${type}[][] = [[], []];`,
    fill: `${name}[i & 1].push(${object});`,
    shrink: `${name}[0] = [];`,
  }),
  (name, { type, object }) => ({
    declaration: `const ${name}: Set<${type}>[] = [];`,
    fill: `{ const added = new Set<${type}>(); added.add(${object}); ${name}.push(added); }`,
    shrink: `${name}.shift();`,
  }),
  (name) => ({
    declaration: `let ${name}: Uint8Array[] = [];`,
    fill: `${name}.push(new Uint8Array(i + 1));`,
    shrink: `${name}.length = 2;`,
  }),
  (name) => ({
    declaration: `let ${name}: ArrayBuffer | null = null;`,
    fill: `${name} = new ArrayBuffer(i);`,
    shrink: `${name} = null;`,
  }),
  (name) => ({
    declaration: `const ${name}: Float64Array = new Float64Array(4);`,
    fill: `${name}[i & 3] = i;`,
    shrink: "",
  }),
  (name) => ({
    declaration: `const ${name}: ((x: i32) => i32)[] = [(x: i32): i32 => x + 1];`,
    fill: `${name}.push((x: i32): i32 => x * 3);`,
    shrink: `${name}.length = 1;`,
  }),
  (name, { object }) => ({
    declaration: `let ${name}: Object | null = null;`,
    fill: `${name} = changetype<Object>(changetype<usize>(${object}));`,
    shrink: `${name} = null;`,
  }),
  (name, { object }) => ({
    declaration: `let ${name}: usize = 0;`,
    fill: `if (${name}) __unpin(${name}); ${name} = __pin(changetype<usize>(${object}));`,
    shrink: `if (${name}) { __unpin(${name}); ${name} = 0; }`,
  }),
  (name, { type, object }) => ({
    declaration:
      `class Of${name} { static readonly all: ${type}[] = []; static named: Map<string, ${type}> = new Map(); inner: ${type}[] = []; }\n` +
      `let ${name}: Of${name} = new Of${name}();`,
    fill: `Of${name}.all.push(${object}); Of${name}.named.set("c" + (i & 3).toString(), ${object}); ${name}.inner.push(${object});`,
    shrink: `Of${name}.all.length = 1; ${name} = new Of${name}();`,
  }),
  (name, { type, object }) => ({
    declaration: `class List${name} extends Array<${type}> { title: string = "list"; }\nconst ${name}: List${name} = new List${name}();`,
    fill: `${name}.push(${object}); ${name}.title = "t" + i.toString();`,
    shrink: `${name}.pop(); ${name}.title = "";`,
  }),
  // A function value with an environment. The compiler has no closures, but the runtime marks them.
  (name, { type, object }) => ({
    declaration: `let ${name}: ((x: i32) => i32) | null = null;
function close${name}(environment: ${type}): (x: i32) => i32 {
  const template: (x: i32) => i32 = (x: i32): i32 => x + 5;
  const made = __new(8, load<u32>(changetype<usize>(template) - 8));
  store<u32>(made, load<u32>(changetype<usize>(template)));
  store<usize>(made, changetype<usize>(environment), 4);
  __link(made, changetype<usize>(environment), false);
  return changetype<(x: i32) => i32>(made);
}`,
    fill: `${name} = close${name}(${object});`,
    shrink: `${name} = null;`,
  }),
];

const HOST = `@external("host", "before") declare function before(): void;
@external("host", "after") declare function after(): void;
@external("host", "beforeAndAfter") declare function beforeAndAfter(): void;`;

const MOST_CLASSES = 9;
const MOST_VARIABLES = 5;

/** How a program lets the collector judge the heap. */
export type Collection = "called" | "exported" | "by allocation";

const JUDGES: Record<Collection, string> = {
  called: "function judge(): void { before(); __collect(); after(); }",
  exported: "function judge(): void { beforeAndAfter(); }",
  // Never calls the collector: allocates until the collector, in its own steps, has been through
  // all objects.
  "by allocation":
    `@external("host", "isCollecting") declare function isCollecting(): bool;\n` +
    "class Filler { first: i64 = 1; second: i64 = 2; }\n" +
    "function judge(): void { before(); while (isCollecting()) new Filler(); after(); }",
};

/** The only class whose objects a program makes while the collector judges. */
export const FILLER = "small/Filler";

const UNMANAGED = "@unmanaged class Plain { first: i32 = 1; second: i64 = 2; }";

/**
 * The source of a program, the same for the same seed. Its functions hold objects in local
 * variables.
 */
export function smallProgram(seed: number, collection: Collection, unusual?: Unusual): string {
  const random = randomFrom(seed);
  const classCount = 1 + random(MOST_CLASSES);
  const classes = Array.from({ length: classCount }, (_, at) =>
    classSource(at, classCount, random),
  );
  const variables = randomVariables(1 + random(MOST_VARIABLES), unusual, random, () => {
    const which = random(classCount);
    return { type: `K${which}`, object: `make${which}(i)` };
  });
  const [first, second] = [random(classCount), random(classCount)];
  const fill = variables.map(({ fill }) => `    ${fill}`).join("\n");
  const shrink = variables.map(({ shrink }) => `  ${shrink}`).join("\n");
  return `${heading(unusual)}
${UNMANAGED}
${classes.join("\n")}
${variables.map(({ declaration }) => declaration).join("\n")}
${JUDGES[collection]}
function fill(from: i32, to: i32): void {
  for (let i = from; i < to; i++) {
${fill}
    make${random(classCount)}(i);
  }
}
function nested(object: K${first}, depth: i32): void {
  const other = make${second}(depth);
  const text = "d" + depth.toString();
  if (depth > 0) nested(make${first}(depth), depth - 1);
  else judge();
  ${random(2) ? "touch(other, text);" : ""}
  object.touched++;
}
function touch(object: K${second}, text: string): void { object.touched += text.length; }
export function main(): void {
  for (let round = 0; round < ${roundsOf(unusual)}; round++) once();
}
function once(): void {
  ${random(2) ? "judge();" : ""}
  fill(0, ${5 + random(20)});
  judge();
  nested(make${first}(3), ${random(4)});
${shrink}
  judge();
  fill(${random(3)}, ${5 + random(10)});
  const kept = make${second}(4);
  judge();
  kept.touched++;
}
`;
}

const heading = (unusual?: Unusual) =>
  unusual === undefined ? HOST : `${beginning(unusual)}\n${HOST}`;

/** Compilers take most of the time, so that more heaps of a program cost little. */
const roundsOf = (unusual?: Unusual) => (unusual === undefined ? 1 : 4);

/** Global variables; those of a library of the program are more. */
function randomVariables(
  count: number,
  unusual: Unusual | undefined,
  random: Random,
  maker: () => Maker,
): Variable[] {
  const make = (name: string, shapes: Shape[]) => {
    const made = maker();
    const shape = shapes[random(shapes.length)] as Shape;
    return shape(name, made, random);
  };
  const variables = Array.from({ length: count }, (_, at) => make(`g${at}`, SHAPES));
  const shapes = unusual === undefined ? [] : shapesOf(unusual);
  const more = shapes.length === 0 ? 0 : 1 + random(3);
  return [...variables, ...Array.from({ length: more }, (_, at) => make(`library${at}`, shapes))];
}

const MOST_TINY_CLASSES = 3;

/**
 * The source of a program that is hardly larger than the runtime needs, so that optimisers inline
 * even `__visit_members`. It holds objects in global variables only.
 */
export function tinyProgram(seed: number, collection: Collection, unusual?: Unusual): string {
  const random = randomFrom(seed);
  const classCount = 1 + random(MOST_TINY_CLASSES);
  const classes = Array.from({ length: classCount }, (_, at) => tinyClass(at, classCount, random));
  const variables = randomVariables(1 + random(2), unusual, random, () => {
    const which = random(classCount);
    return { type: `K${which}`, object: `new K${which}()` };
  });
  const garbage = random(2) ? `new K${random(classCount)}();` : "";
  return `${heading(unusual)}
${classes.some((source) => source.includes("Plain")) ? UNMANAGED : ""}
${classes.join("\n")}
${variables.map(({ declaration }) => declaration).join("\n")}
${JUDGES[collection]}
export function main(): void {
  for (let round = 0; round < ${roundsOf(unusual)}; round++) once();
}
function once(): void {
  for (let i = 0; i < ${1 + random(20)}; i++) {
${variables.map(({ fill }) => `    ${fill}`).join("\n")}
    ${garbage}
  }
  judge();
${variables.map(({ shrink }) => `  ${shrink}`).join("\n")}
  judge();
}
`;
}

/** A class whose objects are created without arguments. */
function tinyClass(at: number, classCount: number, random: Random): string {
  const fields = Array.from({ length: random(4) }, (_, field) => {
    const name = `k${at}f${field}`;
    switch (random(6)) {
      case 0:
        return `${name}: i32 = 7;`;
      case 1:
        return `${name}: bool = false;`;
      case 2:
        return `${name}: f64 = 0.5;`;
      case 3:
        return `${name}: string = "s";`;
      case 4:
        return `${name}: K${random(classCount)} | null = null;`;
      default:
        return `${name}: Plain | null = new Plain();`;
    }
  });
  const link = random(4) > 0 ? `link${at}: K${at} | null = null;` : "";
  const base = at > 0 && random(4) === 0 ? ` extends K${random(at)}` : "";
  return `class K${at}${base} { ${fields.join(" ")} ${link} }`;
}

/** A class and a function that creates its objects. The class `i` has fields for classes with smaller numbers. */
function classSource(at: number, classCount: number, random: Random): string {
  const base = at > 0 && random(3) === 0 ? random(at) : undefined;
  const fields: string[] = base === undefined ? ["touched: i32 = 0;"] : [];
  const assignments: string[] = [];
  const add = (type: string, initial: string, assigned?: string) => {
    const name = `k${at}f${fields.length}`;
    fields.push(`${name}: ${type} = ${initial};`);
    if (assigned) assignments.push(assigned.replaceAll("$", `made.${name}`));
  };
  for (let left = random(5); left > 0; left--) {
    const other = random(classCount);
    const made = `i > 0 ? make${other}((i - 1) >> 2) : null`;
    switch (random(14)) {
      case 0:
        add("i32", "7", "$ = i;");
        break;
      case 1:
        add("i64", "7", "$ = i;");
        break;
      case 2:
        add("bool", "false");
        break;
      case 3:
        add("f64", "0.5", "$ = i;");
        break;
      case 4:
        add("string", '"s"', '$ = "f" + i.toString();');
        break;
      case 5:
      case 6:
      case 7:
        add(`K${other} | null`, "null", `$ = ${made};`);
        break;
      case 8:
        add(`K${other}[]`, "[]", `if (i > 0) $.push(make${other}((i - 1) >> 2));`);
        break;
      case 9:
        add(`K${at} | null`, "null", "$ = made;");
        break;
      case 10:
        add(`Map<i32, K${other}> | null`, "null");
        break;
      case 11:
        add("Uint8Array | null", "null", "if (i & 1) $ = new Uint8Array(i);");
        break;
      case 12:
        add("Plain | null", "null", "if (i & 1) $ = new Plain();");
        break;
      case 13:
        // The address of an object that nothing else holds.
        add(
          "Plain | null",
          "null",
          `if (i > 0) $ = changetype<Plain>(changetype<usize>(make${other}((i - 1) >> 2)));`,
        );
        break;
    }
  }
  const heading = base === undefined ? `class K${at}` : `class K${at} extends K${base}`;
  return `${heading} { ${fields.join(" ")} }
function make${at}(i: i32): K${at} { const made = new K${at}(); ${assignments.join(" ")} return made; }`;
}
