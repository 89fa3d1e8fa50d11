// Files that another process truncates, replaces, or puts behind a link while they are read.

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBeneath, openHeapFile, openHeapFileAsync } from "../dist/index.js";
import { connect } from "./mcp/client.ts";
import { runScript } from "./support/child.ts";
import { type LeakyServer, leakyServer } from "./support/leaky_server.ts";

const ROOT = join(__dirname, "..");
let files: LeakyServer;
let folder: string;

beforeAll(async () => {
  files = await leakyServer();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "heap-analyzer-changing-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** The code of an error, as the system has it if it is from the system; "answered" if there is none. */
function codeOf(work: () => unknown): string {
  try {
    work();
    return "answered";
  } catch (error) {
    const { code, cause } = error as { code: string; cause?: { code: string } };
    return cause?.code ?? code;
  }
}

describe("a file that is truncated", () => {
  test("while it is read is an error that says so, and does not end the process", () => {
    // The memory that was added is a hole in the file. The time at which the file is truncated differs, until one of
    // these lies within the reading.
    const script = `
      const { copyFileSync, truncateSync, statSync } = require("node:fs");
      const dump = ${JSON.stringify(join(folder, "large.dump"))};
      copyFileSync(after, dump);
      const size = statSync(after).size;
      (async () => {
        for (let nth = 0; nth < 300; nth++) {
          truncateSync(dump, size + 2 ** 28);
          const work = analyzeFileAsync(dump, wasm).then(() => "", ({ message }) => message);
          await new Promise((resolve) => setTimeout(resolve, nth % 60));
          truncateSync(dump, size);
          const message = await work;
          if (message !== "") return console.log(message);
        }
      })();`;
    const { stdout, signal } = runScript(files, script);
    expect(signal).toBe(null);
    expect(stdout).toContain("large.dump: the dump was changed or replaced after it was opened");
  });

  test.skipIf(process.platform !== "linux")(
    "ends the command line with SIGBUS if it is mapped there, and only then",
    async () => {
      // The negative control of the other tests: the same change, to a file that is mapped.
      const dump = join(folder, "mapped.dump");
      const size = statSync(files.after).size;
      const args = [join(ROOT, "dist/heap_analyzer/cli.js"), "analyze", dump, "--wasm", files.wasm];
      /** Runs the command, truncates its file when it is mapped, and returns whether it was and what ended the command. */
      const truncated = async (length: number) => {
        copyFileSync(files.after, dump);
        truncateSync(dump, length);
        const child = spawn(process.execPath, args, { stdio: "ignore" });
        const end = once(child, "exit");
        let isMapped = false;
        while (!isMapped && child.exitCode === null && child.signalCode === null) {
          isMapped = readFileSync(`/proc/${child.pid}/maps`, "utf8").includes(dump);
          await new Promise((resolve) => setImmediate(resolve));
        }
        if (isMapped) truncateSync(dump, 0);
        const [status, signal] = await end;
        return [isMapped, status, signal];
      };
      // A busy machine may not run this process while the file is mapped.
      let last: unknown;
      for (let nth = 0; nth < 20 && !String(last).endsWith("SIGBUS"); nth++) {
        last = await truncated(size + 2 ** 30);
      }
      expect(last).toEqual([true, null, "SIGBUS"]);
      expect(await truncated(size + 2 ** 20)).toEqual([false, 0, null]);
    },
  );

  test("while a server reads it is an answer of the server", async () => {
    const script = `
      const { copyFileSync, truncateSync, statSync } = require("node:fs");
      const dump = process.argv[2];
      copyFileSync(process.argv[1], dump);
      const size = statSync(dump).size;
      setInterval(() => {
        truncateSync(dump, size + 2 ** 27);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * 50);
        truncateSync(dump, size);
      });
      process.stdout.write("truncating");`;
    copyFileSync(files.wasm, join(folder, "server.wasm"));
    const dump = join(folder, "large.dump");
    const other = spawn(process.execPath, ["--eval", script, files.after, dump]);
    await once(other.stdout, "data");
    const session = await connect(["--root", folder]);
    try {
      const ends = new Set<string>();
      for (let nth = 0; nth < 20; nth++) {
        const answer = await session.client.callTool({
          name: "open_heaps",
          arguments: { dumps: ["large.dump"] },
        });
        const [first] = answer.content as unknown as [{ text: string }];
        ends.add(answer.isError ? (first.text.split(":")[0] as string) : "answered");
      }
      const known = ["answered", "ERR_DUMP_CHANGED", "ERR_FILE_CHANGED"];
      expect([...ends].filter((end) => !known.includes(end))).toEqual([]);
      other.kill();
      await once(other, "exit");
      copyFileSync(files.after, dump);
      expect((await session.call("open_heaps", { dumps: ["large.dump"] })).heaps).toHaveLength(1);
    } finally {
      other.kill();
      await session.close();
    }
  });
});

describe.skipIf(process.platform === "win32")("openBeneath", () => {
  let root: string;
  let outside: string;

  beforeEach(() => {
    root = join(folder, "root");
    outside = join(folder, "outside");
    for (const place of [root, outside]) mkdirSync(join(place, "a"), { recursive: true });
    copyFileSync(files.after, join(root, "a/x.dump"));
    copyFileSync(files.before, join(outside, "a/x.dump"));
  });

  /** The first bytes of a file below the root. */
  function start(path: string): string {
    const descriptor = openBeneath(root, path);
    const bytes = Buffer.alloc(6);
    const length = readSync(descriptor, bytes, 0, 6, 0);
    closeSync(descriptor);
    return bytes.toString("utf8", 0, length);
  }

  test("opens what lies below the folder", () => {
    writeFileSync(join(root, "a/inside"), "inside");
    writeFileSync(join(root, "a:b"), "colon");
    expect(start("a/inside")).toBe("inside");
    expect(start("a:b")).toBe("colon");
    expect(codeOf(() => openBeneath(root, "a/nothing"))).toBe("ENOENT");
  });

  test("follows no link, wherever it is and leads", () => {
    symlinkSync(outside, join(root, "folder"));
    symlinkSync("a", join(root, "inner"));
    symlinkSync(join(outside, "a/x.dump"), join(root, "a/link"));
    symlinkSync("x.dump", join(root, "a/beside"));
    for (const path of ["folder/a/x.dump", "inner/x.dump", "a/link", "a/beside"]) {
      expect(codeOf(() => openBeneath(root, path))).toMatch(/^(ELOOP|ENOTDIR)$/);
    }
    for (const path of ["../outside/a/x.dump", "a/../../outside/a/x.dump", "/etc/passwd", "a//x"]) {
      expect(codeOf(() => openBeneath(root, path))).toBe("ERR_INVALID_ARG_VALUE");
    }
    const link = join(folder, "link to the root");
    symlinkSync(root, link);
    expect(codeOf(() => openBeneath(link, "a/x.dump"))).toMatch(/^(ELOOP|ENOTDIR)$/);
  });

  test("gives a descriptor that is read instead of the file at the path", async () => {
    const dump = join(root, "a/x.dump");
    const expected = openHeapFile(files.after, files.wasm).summary();
    const descriptors = { dump: openBeneath(root, "a/x.dump") };
    const held = readFileSync(descriptors.dump);
    renameSync(join(outside, "a/x.dump"), dump);
    const heaps = [
      openHeapFile(dump, files.wasm, { descriptors }),
      await openHeapFileAsync(dump, files.wasm, { descriptors }),
    ];
    closeSync(descriptors.dump);
    expect(held.equals(readFileSync(files.after))).toBe(true);
    for (const heap of heaps) {
      expect(heap.summary()).toEqual(expected);
      // Texts are read at the path, where there is another file now.
      expect(codeOf(() => heap.find({ contains: "a" }))).toBe("ERR_DUMP_CHANGED");
      heap.close();
    }
    expect(codeOf(() => openHeapFile(dump, files.wasm, { descriptors: { dump: 2 ** 30 } }))).toBe(
      "ENOENT",
    );
  });

  test("never opens what is outside, however often a folder is swapped for a link", async () => {
    writeFileSync(join(root, "a/file"), "inside");
    writeFileSync(join(outside, "a/file"), "secret");
    const swapper = swap(root, join(outside, "a"));
    await once(swapper.stdout, "data");
    try {
      const ends = new Set<string>();
      const isRace = () => ends.has("inside") && (ends.has("ENOTDIR") || ends.has("ELOOP"));
      for (let nth = 0; nth < 20_000 || (!isRace() && nth < 200_000); nth++) {
        const code = codeOf(() => ends.add(start("a/file")));
        if (code !== "answered") ends.add(code);
      }
      expect(ends).not.toContain("secret");
      expect(isRace()).toBe(true);
    } finally {
      swapper.kill();
      await once(swapper, "exit");
    }
  });

  test("a server reads no dump outside, however often a folder is swapped for a link", async () => {
    copyFileSync(files.wasm, join(root, "server.wasm"));
    writeFileSync(join(outside, "a/secret.dump"), readFileSync(files.before));
    const session = await connect(["--root", root, "--wasm", "server.wasm"]);
    const [inside] = (await session.call("open_heaps", { dumps: ["a/x.dump"] })).heaps;
    const swapper = swap(root, join(outside, "a"));
    await once(swapper.stdout, "data");
    try {
      const ends = new Set<string>();
      for (let nth = 0; nth < 300; nth++) {
        const asked = { name: "open_heaps", arguments: { dumps: ["a/x.dump"] } };
        const answer = await session.client.callTool(asked);
        const [first] = answer.content as unknown as [{ text: string }];
        ends.add(answer.isError ? (first.text.split(":")[0] as string) : "answered");
        if (!answer.isError) {
          const { heaps } = answer.structuredContent as { heaps: object[] };
          expect(heaps[0]).toEqual(inside);
        }
        const { dumps } = await session.call("list_dumps", {});
        const paths = dumps.map(({ path }: { path: string }) => path);
        expect(paths.filter((path: string) => path.includes("secret"))).toEqual([]);
      }
      const refusals = ["ERR_OUTSIDE_ROOTS", "ERR_NO_FILE", "ERR_FILE_CHANGED", "ERR_DUMP_CHANGED"];
      expect([...ends].filter((end) => ![...refusals, "answered"].includes(end))).toEqual([]);
      expect(ends).toContain("answered");
      expect(ends.size).toBeGreaterThan(1);
    } finally {
      swapper.kill();
      await once(swapper, "exit");
      await session.close();
    }
  });
});

/** A process that swaps the folder `a` for a link, and back, as fast as it can. */
function swap(root: string, target: string) {
  const script = `
    const { renameSync, symlinkSync } = require("node:fs");
    process.chdir(process.argv[1]);
    symlinkSync(process.argv[2], "link");
    process.stdout.write("swapping");
    for (;;) {
      renameSync("a", "folder");
      renameSync("link", "a");
      renameSync("a", "link");
      renameSync("folder", "a");
    }`;
  return spawn(process.execPath, ["--eval", script, root, target]);
}
