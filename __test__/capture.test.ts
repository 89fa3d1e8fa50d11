// Dump capture, on programs that the real compiler makes: the program itself says what a dump of it
// must hold.

import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { writeAtomically } from "../dist/capture/dump_file.js";
import { findPlace } from "../dist/capture/guest_path.js";
import { captureDump, exposeGlobals, memoryDump, writeDump } from "../dist/capture.js";
import { type AscProgram, compileProgram, mutableI32Globals } from "./support/asc_program.js";
import { WINDOWS } from "./support/system.js";

interface Guest {
  add(howMany: number): void;
  getHead(): number;
  getCount(): number;
  getNegative(): number;
  getHostCounter(): number;
  dataEnd(): number;
  heapBase(): number;
  stackPointer(): number;
  stackPointerInLastCall(): number;
  grow(pages: number): void;
  reserve(size: number): number;
  dump(address: number, size: number, depth: number): number;
  _start?(): void;
}

const BUILDS: Record<string, string[]> = {
  "a debug build": ["--debug"],
  "an optimised build with names": ["-O3", "--debug"],
  "an optimised build without names": ["-O3"],
  "a build for size with names": ["-Oz", "--debug"],
  "a build with another stack and memory base": [
    "-O3",
    "--stackSize",
    "1000",
    "--memoryBase",
    "5000",
  ],
  "a build with an imported memory": ["--debug", "--importMemory", "--noExportMemory"],
  "an optimised build with an imported memory": ["-O3", "--importMemory", "--noExportMemory"],
  "a build with an exported start function": ["--debug", "--exportStart", "_start"],
  "a build with a shared memory": [
    ...["--debug", "--importMemory", "--sharedMemory", "--maximumMemory", "200"],
    ...["--enable", "threads"],
  ],
};

const programs = new Map<string, AscProgram>();
let folder: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-capture-")));
  for (const [build, options] of Object.entries(BUILDS)) {
    programs.set(build, await compileProgram("capture", ...options));
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function program(build: string): AscProgram {
  const found = programs.get(build);
  if (!found) throw new Error(`no such build: ${build}`);
  return found;
}

/** A separate folder for one test. */
function freshFolder(): string {
  return mkdtempSync(join(folder, "test-"));
}

interface Running {
  exports: WebAssembly.Exports;
  guest: Guest;
  memory: WebAssembly.Memory;
}

/** Instantiates a build, exposed or not, with everything that it may import. */
function run(build: string, options: { expose?: boolean; imports?: object } = {}): Running {
  const { wasm } = program(build);
  const module = new WebAssembly.Module(options.expose === false ? wasm : exposeGlobals(wasm));
  const shared = build.includes("shared");
  const imported = new WebAssembly.Memory({
    initial: 4,
    ...(shared ? { maximum: 200, shared } : {}),
  });
  const { exports } = new WebAssembly.Instance(module, {
    env: {
      memory: imported,
      hostCounter: new WebAssembly.Global({ value: "i32", mutable: true }, 1000),
      abort() {
        throw new Error("abort");
      },
    },
    MemoryDump: { dumpMemoryRegion() {} },
    ...options.imports,
  });
  const guest = exports as unknown as Guest;
  guest._start?.();
  const memory =
    build.includes("imported") || shared ? imported : (exports.memory as WebAssembly.Memory);
  return { exports, guest, memory };
}

/** The default build, able to dump below `directory`, and a way to have it do so. */
function runWithDumps(directory: string) {
  const dumps = memoryDump({ directory });
  const running = run("a debug build", { imports: dumps });
  dumps.attach(running.exports);
  const dumpBytes = (path: Uint8Array, depth = 0) => {
    const address = running.guest.reserve(path.length + 1);
    new Uint8Array(running.memory.buffer).set(path, address);
    running.guest.dump(address, path.length, depth);
  };
  const dumpTo = (path: string, depth = 0) => dumpBytes(new TextEncoder().encode(path), depth);
  return { ...running, dumpBytes, dumpTo };
}

/** A dump's header and the parts after it, by the format's description. */
function readDump(dump: Uint8Array) {
  const view = new DataView(dump.buffer, dump.byteOffset, dump.byteLength);
  const word = (nth: number) => view.getUint32(4 * nth, true);
  const count = word(5);
  return {
    magic: new TextDecoder().decode(dump.subarray(0, 4)),
    version: word(1),
    dataEnd: word(2),
    heapBase: word(3),
    stackPointer: word(4),
    globals: Array.from({ length: count }, (_, nth) => word(6 + nth)),
    memory: dump.subarray(24 + 4 * count),
  };
}

/** The error that `action` throws. */
function errorOf(action: () => unknown): Error & { code?: string } {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

describe.each(Object.keys(BUILDS))("a dump of %s", (build) => {
  test("starts with the magic and version 2", () => {
    const { magic, version } = readDump(captureDump(run(build).exports));
    expect([magic, version]).toEqual(["ASHD", 2]);
  });

  test("has the boundaries that the program itself sees", () => {
    const { exports, guest } = run(build);
    guest.add(100);
    const { dataEnd, heapBase, stackPointer } = readDump(captureDump(exports));
    expect([dataEnd, heapBase, stackPointer]).toEqual([
      guest.dataEnd(),
      guest.heapBase(),
      guest.stackPointer(),
    ]);
  });

  test("has a value for every mutable i32 global and for no other", () => {
    const { globals } = readDump(captureDump(run(build).exports));
    expect(globals).toHaveLength(mutableI32Globals(program(build).wat).length);
  });

  test("has the values of the globals in module order", () => {
    const { exports, guest } = run(build);
    guest.add(100);
    const names = mutableI32Globals(program(build).wat);
    const { globals } = readDump(captureDump(exports));
    const values = Object.fromEntries(names.map((name, nth) => [name, globals[nth]]));
    expect(values).toMatchObject({
      "capture/hostCounter": guest.getHostCounter(),
      "capture/head": guest.getHead(),
      "capture/count": 100,
      "capture/negative": 2 ** 32 - 100,
      "~lib/memory/__stack_pointer": guest.stackPointer(),
    });
  });

  test("ends with the whole memory", () => {
    const { exports, guest, memory } = run(build);
    guest.add(100);
    const dumped = readDump(captureDump(exports)).memory;
    expect(Buffer.compare(dumped, new Uint8Array(memory.buffer))).toBe(0);
  });

  test("has the stack pointer of the moment when it is taken inside a call", () => {
    let dump = new Uint8Array();
    const running = run(build, {
      imports: {
        MemoryDump: {
          dumpMemoryRegion() {
            dump = captureDump(running.exports);
          },
        },
      },
    });
    running.guest.dump(0, 0, 5);
    expect(readDump(dump).stackPointer).toBe(running.guest.stackPointerInLastCall());
  });

  test("is the same after the module was exposed twice", () => {
    const once = exposeGlobals(program(build).wasm);
    expect(Buffer.compare(exposeGlobals(once), once)).toBe(0);
  });
});

describe("captureDump", () => {
  test("copies memories of more than 70 pages completely", () => {
    const { exports, guest, memory } = run("a debug build");
    guest.grow(80);
    new Uint8Array(memory.buffer)[80 * 65536 - 1] = 42;
    const dumped = readDump(captureDump(exports)).memory;
    expect([dumped.length, dumped.at(-1)]).toEqual([80 * 65536, 42]);
  });

  test("accepts an instance in place of its exports", () => {
    const { wasm } = program("a build with an exported start function");
    const imports = {
      env: { hostCounter: new WebAssembly.Global({ value: "i32", mutable: true }, 0), abort() {} },
      MemoryDump: { dumpMemoryRegion() {} },
    };
    const module = new WebAssembly.Module(exposeGlobals(wasm));
    const instance = new WebAssembly.Instance(module, imports);
    const expected = captureDump(instance.exports);
    expect(Buffer.compare(captureDump(instance), expected)).toBe(0);
    expect(Buffer.compare(captureDump({ module, instance }), expected)).toBe(0);
  });

  test("says what to pass instead of a memory", () => {
    const error = errorOf(() => captureDump(run("a debug build").memory));
    expect(error.code).toBe("ERR_GLOBALS_NOT_EXPOSED");
    expect(error.message).toContain("pass instance.exports");
  });

  test("uses the memory of the option", () => {
    const { exports } = run("a debug build");
    const memory = new WebAssembly.Memory({ initial: 2 });
    expect(readDump(captureDump(exports, { memory })).memory).toHaveLength(2 * 65536);
  });

  test("refuses an instance that was not exposed, with advice", () => {
    const error = errorOf(() => captureDump(run("a debug build", { expose: false }).exports));
    expect(error).toMatchObject({ name: "HeapAnalyzerError", code: "ERR_GLOBALS_NOT_EXPOSED" });
    expect(error.message).toContain("compile the bytes that exposeGlobals(wasm) returns");
  });

  test("writes no global values for an instance that exports boundaries only, if that is allowed", () => {
    const exports = {
      __data_end: new WebAssembly.Global({ value: "i32" }, 1000),
      __heap_base: new WebAssembly.Global({ value: "i32" }, 2000),
      __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, 1900),
      memory: new WebAssembly.Memory({ initial: 1 }),
    };
    const dump = readDump(captureDump(exports, { allowMissingGlobals: true }));
    expect(dump).toMatchObject({ dataEnd: 1000, heapBase: 2000, stackPointer: 1900, globals: [] });
  });

  test("names the boundary that is missing even where global values may be", () => {
    const { exports } = run("a debug build", { expose: false });
    const error = errorOf(() => captureDump(exports, { allowMissingGlobals: true }));
    expect(error.message).toContain("exports no global __data_end");
  });

  test("refuses exports without a memory", () => {
    const { exports } = run("a debug build");
    const others = Object.entries(exports).filter(([name]) => !name.endsWith("memory"));
    const error = errorOf(() => captureDump(Object.fromEntries(others)));
    expect(error.code).toBe("ERR_MEMORY_MISSING");
  });

  test("works with the raw bindings that asc generates", async () => {
    const { wasm, bindings } = await compileProgram("capture", "--debug", "--bindings", "raw");
    const file = join(freshFolder(), "bindings.mjs");
    writeFileSync(file, bindings ?? "");
    const { instantiate } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
      instantiate(module: WebAssembly.Module, imports: object): Promise<Guest>;
    };
    const directory = freshFolder();
    const dumps = memoryDump({ directory });
    const hostCounter = new WebAssembly.Global({ value: "i32", mutable: true }, 5);
    const guest = await instantiate(new WebAssembly.Module(exposeGlobals(wasm)), {
      ...dumps,
      env: { hostCounter },
    });
    dumps.attach(guest);
    guest.add(3);
    const { globals } = readDump(captureDump(guest));
    expect(globals[0]).toBe(11);
  });
});

describe("exposeGlobals", () => {
  test("refuses bytes that are not a module", () => {
    expect(errorOf(() => exposeGlobals(new Uint8Array([1, 2, 3]))).code).toBe("ERR_MODULE");
  });

  test("refuses a program without the incremental runtime", async () => {
    const { wasm } = await compileProgram("no_runtime", "--runtime", "stub", "--debug");
    const error = errorOf(() => exposeGlobals(wasm));
    expect(error.code).toBe("ERR_GLOBAL_MISSING");
    expect(error.message).toContain("__stack_pointer");
  });

  test("refuses what is no bytes", () => {
    expect(errorOf(() => exposeGlobals("app.wasm" as never)).code).toBe("ERR_INVALID_ARG_TYPE");
  });

  test("accepts a view into a larger buffer", () => {
    const { wasm } = program("a debug build");
    const larger = new Uint8Array(wasm.length + 20);
    larger.set(wasm, 10);
    const exposed = exposeGlobals(larger.subarray(10, 10 + wasm.length));
    expect(Buffer.compare(exposed, exposeGlobals(wasm))).toBe(0);
  });

  test("leaves the names and all other custom sections as they are", () => {
    const { wasm } = program("an optimised build with names");
    const sections = (bytes: Uint8Array<ArrayBuffer>) =>
      WebAssembly.Module.customSections(new WebAssembly.Module(bytes), "name").map((section) =>
        Buffer.from(section).toString("hex"),
      );
    expect(sections(exposeGlobals(wasm))).toEqual(sections(wasm));
  });
});

describe("writeDump", () => {
  test("refuses what has no exports, and does not say that it was instantiated too early", () => {
    for (const none of [() => 1, 1, null, undefined, "exports", class {}]) {
      const error = errorOf(() => writeDump(none as never, join(folder, "none.dump")));
      expect(error.code).toBe("ERR_INVALID_ARG_TYPE");
      expect(error.message).toContain("must be the exports of an instance");
    }
  });

  test("writes what captureDump captures, and creates folders for it", () => {
    const { exports } = run("a debug build");
    const path = join(freshFolder(), "a/b/program.dump");
    writeDump(exports, path);
    expect(Buffer.compare(readFileSync(path), captureDump(exports))).toBe(0);
  });

  test("writes a shared memory", () => {
    const { exports } = run("a build with a shared memory");
    const path = join(freshFolder(), "shared.dump");
    writeDump(exports, path);
    expect(Buffer.compare(readFileSync(path), captureDump(exports))).toBe(0);
  });

  test("replaces an older dump and leaves nothing else in the folder", () => {
    const { exports } = run("a debug build");
    const directory = freshFolder();
    const path = join(directory, "program.dump");
    writeFileSync(path, "older");
    writeDump(exports, path);
    expect(readFileSync(path).subarray(0, 4).toString()).toBe("ASHD");
    expect(readdirSync(directory)).toEqual(["program.dump"]);
  });

  test("follows a link of the host's to the file that it names", () => {
    const { exports } = run("a debug build");
    const directory = freshFolder();
    writeFileSync(join(directory, "real.dump"), "");
    symlinkSync("real.dump", join(directory, "link.dump"));
    writeDump(exports, join(directory, "link.dump"));
    expect(readFileSync(join(directory, "real.dump")).subarray(0, 4).toString()).toBe("ASHD");
  });

  test("does not replace a folder", () => {
    const { exports } = run("a debug build");
    const directory = freshFolder();
    const error = errorOf(() => writeDump(exports, directory));
    expect(error.code).toBe("ERR_DUMP_PATH");
    expect(error.message).toContain("is not a regular file");
  });

  test("does not replace a device", () => {
    const { exports } = run("a debug build");
    expect(errorOf(() => writeDump(exports, devNull)).code).toBe("ERR_DUMP_PATH");
  });

  test("names the path and the system's code if a file is in place of a folder", () => {
    const { exports } = run("a debug build");
    const file = join(freshFolder(), "file");
    writeFileSync(file, "");
    const error = errorOf(() => writeDump(exports, join(file, "program.dump")));
    expect(error.code).toBe("ERR_DUMP_WRITE");
    expect((error.cause as { code?: string }).code).toMatch(/^(ENOTDIR|EEXIST)$/);
    expect(error.message).toContain(JSON.stringify(join(file, "program.dump")));
    expect(error.cause).toBeInstanceOf(Error);
  });

  test.skipIf(WINDOWS)(
    "leaves the older dump and no half-written file when the disk takes no more",
    () => {
      const directory = freshFolder();
      writeFileSync(join(directory, "program.wasm"), program("a debug build").wasm);
      writeFileSync(join(directory, "program.dump"), "older");
      const script = join(directory, "write.mjs");
      writeFileSync(
        script,
        `import { readFileSync } from "node:fs";
       import { exposeGlobals, writeDump } from ${JSON.stringify(captureUrl)};
       const module = new WebAssembly.Module(exposeGlobals(readFileSync("program.wasm")));
       const hostCounter = new WebAssembly.Global({ value: "i32", mutable: true }, 0);
       const { exports } = new WebAssembly.Instance(module, {
         env: { hostCounter, abort() {} }, MemoryDump: { dumpMemoryRegion() {} },
       });
       exports.grow(80);
       try { writeDump(exports, "program.dump"); } catch (error) { console.log(error.cause.code); }`,
      );
      // A limit on the size of a file (64 blocks, of 512 or 1024 bytes) has the effect of a full disk.
      const shell = `trap "" XFSZ; ulimit -f 64; exec "${process.execPath}" write.mjs`;
      const child = spawnSync("sh", ["-c", shell], { cwd: directory, encoding: "utf8" });
      expect(child.stdout).toBe("EFBIG\n");
      expect(readFileSync(join(directory, "program.dump"), "utf8")).toBe("older");
      expect(readdirSync(directory).sort()).toEqual(["program.dump", "program.wasm", "write.mjs"]);
    },
  );
});

const captureUrl = new URL("../dist/capture.js", import.meta.url).href;

describe("memoryDump", () => {
  test("writes to the program's path, below the folder", () => {
    const directory = freshFolder();
    const { exports, dumpTo } = runWithDumps(directory);
    dumpTo("./build_work/example-before.dump");
    const written = readFileSync(join(directory, "build_work/example-before.dump"));
    expect(written).toHaveLength(captureDump(exports).length);
  });

  test("writes the stack as it is in the middle of the program's call", () => {
    const directory = freshFolder();
    const { guest, dumpTo } = runWithDumps(directory);
    dumpTo("deep.dump", 10);
    const { stackPointer } = readDump(readFileSync(join(directory, "deep.dump")));
    expect(stackPointer).toBe(guest.stackPointerInLastCall());
    expect(stackPointer).toBeLessThan(guest.stackPointer());
  });

  test("creates the dump folder", () => {
    const directory = join(freshFolder(), "not/there/yet");
    runWithDumps(directory).dumpTo("a.dump");
    expect(readdirSync(directory)).toEqual(["a.dump"]);
  });

  test("accepts names in any script", () => {
    const directory = freshFolder();
    runWithDumps(directory).dumpTo("größe/快照.dump");
    expect(existsSync(join(directory, "größe/快照.dump"))).toBe(true);
  });

  test("reports the written file to the host", () => {
    const directory = freshFolder();
    const written: string[] = [];
    const dumps = memoryDump({ directory, onDump: (path) => written.push(path) });
    const { exports, guest, memory } = run("a debug build", { imports: dumps });
    dumps.attach(exports);
    const address = guest.reserve(8);
    new Uint8Array(memory.buffer).set(Buffer.from("a/b.dump"), address);
    guest.dump(address, 8, 0);
    expect(written).toEqual([join(directory, "a/b.dump")]);
  });

  test("refuses at attach an instance that was not exposed", () => {
    const { exports } = run("a debug build", { expose: false });
    const dumps = memoryDump({ directory: folder });
    expect(errorOf(() => dumps.attach(exports)).code).toBe("ERR_GLOBALS_NOT_EXPOSED");
  });

  test("refuses a dump in the start function, with advice", async () => {
    const { wasm } = await compileProgram("dump_at_start", "--debug");
    const module = new WebAssembly.Module(exposeGlobals(wasm));
    const imports = { ...memoryDump({ directory: folder }), env: { abort() {} } };
    const error = errorOf(() => new WebAssembly.Instance(module, imports));
    expect(error.code).toBe("ERR_DUMP_NOT_ATTACHED");
    expect(error.message).toContain("--exportStart");
  });

  test("dumps in a start function that is called after attach", async () => {
    const { wasm } = await compileProgram("dump_at_start", "--debug", "--exportStart", "_start");
    const directory = freshFolder();
    const dumps = memoryDump({ directory });
    const module = new WebAssembly.Module(exposeGlobals(wasm));
    const { exports } = new WebAssembly.Instance(module, { ...dumps, env: { abort() {} } });
    dumps.attach(exports);
    (exports as unknown as Guest)._start?.();
    expect(readdirSync(directory)).toEqual(["start.dump"]);
  });

  test.each([
    ["", "it is empty"],
    [".", "it names the dump folder itself"],
    ["./", "it ends in a slash"],
    ["a/b/", "it ends in a slash"],
    ["/etc/passwd", "it is absolute"],
    ["//server/share/x", "it is absolute"],
    ["C:/x.dump", "it is absolute"],
    ["c:x.dump", "it is absolute"],
    ["..", "it contains .."],
    ["../x.dump", "it contains .."],
    ["a/../../x.dump", "it contains .."],
    ["a/../x.dump", "it contains .."],
    ["a\\..\\..\\x.dump", "it contains a backslash"],
    ["\\\\server\\share\\x", "it contains a backslash"],
    ["x.dump\0.txt", "it contains a control character"],
    ["x\n.dump", "it contains a control character"],
    ["x.dump:stream", "it contains a colon"],
    [".. /x.dump", "ends in a dot or a space"],
    ["x.dump.", "ends in a dot or a space"],
    ["...", "ends in a dot or a space"],
    ["NUL", "is the name of a device on Windows"],
    ["a/con.dump", "is the name of a device on Windows"],
    ["com1 .dump", "is the name of a device on Windows"],
    ["Clock$.dump", "is the name of a device on Windows"],
    ["a*.dump", "it contains *, which Windows does not allow in names"],
    ["a?.dump", "it contains ?"],
    ["a|b.dump", "it contains |"],
    ["<a>/b.dump", "it contains <"],
    ['"a".dump', 'it contains "'],
    ["a\u202egpj.dump", "it contains the invisible character U+202E"],
    ["a\u200b.dump", "it contains the invisible character U+200B"],
    ["\ufeffa.dump", "it contains the invisible character U+FEFF"],
    ["\u3164.dump", "it contains the invisible character U+3164"],
    ["\u2800/a.dump", "it contains the invisible character U+2800"],
    ["a\u{e0041}.dump", "it contains the invisible character U+E0041"],
    ["\u3000/a.dump", "ends in a dot or a space"],
    ["LPT¹", "is the name of a device on Windows"],
    [`${"x".repeat(256)}/x.dump`, "a name in it has more than 255 bytes"],
    ["ü".repeat(128), "a name in it has more than 255 bytes"],
  ])("refuses the path %j because %s", (path, reason) => {
    const directory = freshFolder();
    const error = errorOf(() => runWithDumps(directory).dumpTo(path));
    expect(error.code).toBe("ERR_DUMP_PATH");
    expect(error.message).toContain(reason);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("shows a refused path with everything invisible escaped", () => {
    const error = errorOf(() =>
      runWithDumps(freshFolder()).dumpTo("../\u001b[2J\u202egpj.exe\u007f"),
    );
    expect(error.message).toContain(String.raw`"../\u001b[2J\u{202e}gpj.exe\u{7f}"`);
  });

  test("refuses a path that is not UTF-8", () => {
    const error = errorOf(() =>
      runWithDumps(freshFolder()).dumpBytes(Uint8Array.of(0x61, 0xc0, 0xaf)),
    );
    expect(error.code).toBe("ERR_DUMP_PATH");
    expect(error.message).toContain("it is not valid UTF-8");
  });

  test("refuses a path of more than 4095 bytes", () => {
    const error = errorOf(() => runWithDumps(freshFolder()).dumpTo("a/".repeat(2049)));
    expect(error.message).toContain("a dump path of 4098 bytes");
  });

  test.each([
    ["begins outside", 100 * 65536, 1],
    ["ends outside", 65536 - 4, 100 * 65536],
    ["begins above 2 GiB", -16, 8],
    ["has a size above 2 GiB", 16, -1],
  ])("refuses a path that %s of the memory", (_, address, size) => {
    const error = errorOf(() => runWithDumps(freshFolder()).guest.dump(address, size, 0));
    expect(error.code).toBe("ERR_DUMP_PATH");
    expect(error.message).toContain("which is outside its memory");
  });

  test("refuses a folder that is a link out of the dump folder", () => {
    const [directory, outside] = [freshFolder(), freshFolder()];
    symlinkSync(outside, join(directory, "link"));
    const error = errorOf(() => runWithDumps(directory).dumpTo("link/x.dump"));
    expect(error.code).toBe("ERR_DUMP_PATH");
    expect(error.message).toContain('"link" is a symbolic link out of the dump folder');
    expect(readdirSync(outside)).toEqual([]);
  });

  test("refuses a link out of the dump folder that is reached by a link inside it", () => {
    const [directory, outside] = [freshFolder(), freshFolder()];
    mkdirSync(join(directory, "real"));
    symlinkSync(outside, join(directory, "real/out"));
    symlinkSync("real", join(directory, "in"));
    const error = errorOf(() => runWithDumps(directory).dumpTo("in/out/new/x.dump"));
    expect(error.message).toContain('"out" is a symbolic link out of the dump folder');
    expect(readdirSync(outside)).toEqual([]);
  });

  test("follows a link that stays in the dump folder", () => {
    const directory = freshFolder();
    mkdirSync(join(directory, "real"));
    symlinkSync("real", join(directory, "link"));
    runWithDumps(directory).dumpTo("link/x.dump");
    expect(readdirSync(join(directory, "real"))).toEqual(["x.dump"]);
  });

  test("accepts a dump folder that is itself a link", () => {
    const [directory, elsewhere] = [freshFolder(), freshFolder()];
    symlinkSync(elsewhere, join(directory, "dumps"));
    runWithDumps(join(directory, "dumps")).dumpTo("x.dump");
    expect(readdirSync(elsewhere)).toEqual(["x.dump"]);
  });

  test("refuses a file name that is a link", () => {
    const [directory, outside] = [freshFolder(), freshFolder()];
    writeFileSync(join(outside, "precious"), "precious");
    symlinkSync(join(outside, "precious"), join(directory, "x.dump"));
    const error = errorOf(() => runWithDumps(directory).dumpTo("x.dump"));
    expect(error.message).toContain("it is a symbolic link");
    expect(readFileSync(join(outside, "precious"), "utf8")).toBe("precious");
  });

  test("refuses a file name that is a folder", () => {
    const directory = freshFolder();
    mkdirSync(join(directory, "x.dump"));
    const error = errorOf(() => runWithDumps(directory).dumpTo("x.dump"));
    expect(error.message).toContain("it exists and is not a regular file");
  });

  test("refuses a path through a file", () => {
    const directory = freshFolder();
    writeFileSync(join(directory, "file"), "");
    const error = errorOf(() => runWithDumps(directory).dumpTo("file/x.dump"));
    expect(error.message).toContain('"file" is not a folder');
  });

  test.each([0, 1])(
    "notices a folder that is swapped for a link (at check %i) and writes nothing outside",
    (swapAt) => {
      const [directory, outside] = [freshFolder(), freshFolder()];
      const place = findPlace(directory, ["sub", "x.dump"]);
      let checks = 0;
      const memory = new ArrayBuffer(65536);
      const snapshot = { header: new Uint8Array(24), memory, memorySize: memory.byteLength };
      const error = errorOf(() =>
        writeAtomically(snapshot, place.target, () => {
          if (checks++ === swapAt) {
            renameSync(join(directory, "sub"), join(directory, "moved"));
            symlinkSync(outside, join(directory, "sub"));
          }
          place.checkFolder();
        }),
      );
      place.leave();
      expect(error.message).toContain("its folder was replaced while the dump was written");
      expect(readdirSync(outside)).toEqual([]);
    },
  );
});

test("the built file exports all functions by name to an ES module", () => {
  const code = `import { captureDump, exposeGlobals, memoryDump, writeDump, HeapAnalyzerError } from "@warpo/heap-analyzer/capture";
    console.log([captureDump, exposeGlobals, memoryDump, writeDump, HeapAnalyzerError].map((f) => f.name).join(" "));`;
  const child = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: new URL("..", import.meta.url),
    encoding: "utf8",
  });
  expect(child.stderr).toBe("");
  expect(child.stdout).toBe("captureDump exposeGlobals memoryDump writeDump HeapAnalyzerError\n");
});
