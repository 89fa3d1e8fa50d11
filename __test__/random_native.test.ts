/**
 * A few random heaps of a program of C, judged by its log; `npm run judge -- native` judges as many as asked. And whether the
 * judge notices what is wrong.
 */
import { describe, expect, test } from "vitest";
import { BUILD_KINDS, type Build, makeBuild } from "./random_native/builds.ts";
import { judgeHeap, type Lies, stepsOf } from "./random_native/heap.ts";
import { How } from "./random_native/log.ts";

const HEAPS = 10;

/** Emscripten takes some seconds for each build: `npm run test:full -- native`. */
const KINDS = BUILD_KINDS.filter(({ name }) => {
  return process.env.TEST_NATIVE !== undefined || /^clang-O[02]($|-segment)/.test(name);
});
const builds = KINDS.map((kind) => ({
  name: kind.name,
  build: makeBuild(kind),
}));
for (const { name, build } of builds) {
  if (typeof build === "string") console.warn(`${name}: not judged: ${build}`);
}
const made = builds.filter((one): one is { name: string; build: Build } => {
  return typeof one.build !== "string";
});

describe.each(made)("$name", ({ build }) => {
  test("blocks, sizes, unreferenced blocks and retained sizes are those of the log", () => {
    const hidden = new Set<string>();
    const elsewhere = new Set<How>();
    const slack = { slack: 0, fields: 0, withoutSlack: 0 };
    for (let seed = 1; seed <= HEAPS; seed++) {
      const { judged, failure } = judgeHeap(build, seed, stepsOf(seed));
      expect({ seed, failure }).toEqual({ seed, failure: undefined });
      for (const one of judged) {
        for (const word of one.hidden.keys()) hidden.add(word);
        for (const how of one.elsewhere.keys()) elsewhere.add(how);
        slack.slack += one.slack;
        slack.fields += one.fields;
        slack.withoutSlack += Number(one.isWithoutSlack);
      }
    }
    // What docs/native.md says of both directions occurs.
    expect(hidden).toContain("dangling pointer");
    expect(hidden).toContain("old word");
    // Fields at the offsets of old words are never weak. Only emcc's allocators give one class blocks of two sizes.
    expect(slack.fields).toBeGreaterThan(0);
    expect(slack.slack > 0).toBe(build.name.startsWith("emcc"));
    expect(slack.withoutSlack > 0).toBe(build.name.startsWith("emcc"));
    for (const how of [How.Unaligned, How.Complement, How.Host]) expect(elsewhere).toContain(how);
  });
});

test.skipIf(made.length === 0)(
  "the state of clang's allocator is between static data of the program, with a word of libc's",
  () => {
    const { build } = made[0] as { build: Build };
    const gaps: number[] = [];
    const answers: Lies["answers"] = (_, log) => {
      const [before, behind] = [...log.owned.values()].slice(0, 2);
      gaps.push((behind?.start ?? 0) - (before?.end ?? 0));
    };
    judgeHeap(build, 1, stepsOf(1), { answers });
    const STATE = 472 + 24;
    expect(gaps.length).toBeGreaterThan(0);
    for (const gap of gaps) expect(gap - STATE).toBeLessThanOrEqual(8);
    for (const gap of gaps) expect(gap - STATE).toBeGreaterThanOrEqual(4);
  },
);

describe.skipIf(made.length === 0)("the judge notices", () => {
  /** The first message of a heap about which something is not true. */
  const failure = (lies: Lies) => {
    const { build } = made[0] as { build: Build };
    for (let seed = 1; seed <= HEAPS; seed++) {
      const { failure } = judgeHeap(build, seed, stepsOf(seed), lies);
      if (failure !== undefined) return failure;
    }
  };

  test("a block that is not found", () => {
    const answers: Lies["answers"] = ({ blocks }) => {
      const [first] = blocks.keys();
      if (first !== undefined) blocks.delete(first);
    };
    expect(failure({ answers })).toMatch(/^the block at 0x[0-9a-f]+ is not found$/);
  });

  test("a wrong size", () => {
    const answers: Lies["answers"] = ({ blocks }) => {
      for (const block of blocks.values()) block.size -= 16;
    };
    expect(failure({ answers })).toMatch(/^the block of \d+ bytes at 0x[0-9a-f]+ has -?\d+$/);
  });

  test("a block that is wrongly called unreferenced, and one that wrongly is not", () => {
    for (const [from, to] of [
      ["global", "unreferenced"],
      ["unreferenced", "global"],
    ]) {
      const answers: Lies["answers"] = ({ blocks }) => {
        const block = [...blocks.values()].find(({ pathFrom }) => pathFrom === from);
        if (block !== undefined) block.pathFrom = to;
      };
      expect(failure({ answers })).toMatch(new RegExp(`^the path to 0x[0-9a-f]+ begins at ${to}`));
    }
  });

  test("a wrong retained size", () => {
    const answers: Lies["answers"] = ({ blocks }) => {
      for (const block of blocks.values()) block.retainedSize += 16;
    };
    expect(failure({ answers })).toMatch(/ retains \d+ bytes, not \d+$/);
  });

  test("an entry too many", () => {
    const answers: Lies["answers"] = ({ blocks }) => {
      for (const block of blocks.values()) block.rootKinds.push("unreferenced");
    };
    expect(failure({ answers })).toMatch(/^the entry 0x[0-9a-f]+ (is referred to|reaches)/);
  });

  test("a missing line of the log", () => {
    for (const missing of ["allocated", "freed", "moved", "written", "pointer"]) {
      let count = 0;
      const log = (name: string) => name === missing && ++count % 3 === 0;
      expect(failure({ log }), missing).toBeDefined();
    }
  });

  test("a chunk that has another size in the dump", () => {
    const dump: Lies["dump"] = (bytes, log) => {
      const [block] = [...log.blocks.values()].filter(({ size }) => size > 64);
      if (block === undefined) return;
      const words = new DataView(bytes.buffer);
      const header = bytes.byteLength % 65536;
      const at = header + block.address - 4;
      words.setUint32(at, words.getUint32(at, true) + 16, true);
    };
    expect(failure({ dump })).toMatch(/HeapAnalyzerError|is not found|there is no block|has \d+/);
  });
});
