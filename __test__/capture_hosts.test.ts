// Dump capture on a hostile host: another process swaps folders for links while a dump is written, the disk
// is full, folders are closed, and the program passes what no program should.

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeAtomically } from "../dist/capture/dump_file.js";
import { findPlace } from "../dist/capture/guest_path.js";
import { captureDump, exposeGlobals, memoryDump, writeDump } from "../dist/capture.js";
import {
  noPathsOfOpenFiles,
  noPermissions,
  noSmallDisk,
  runOnSmallDisk,
  runUnprivileged,
  shellQuoted,
} from "./support/hosts.ts";

const captureUrl = new URL("../dist/capture.js", import.meta.url).href;

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "heap-analyzer-hosts-")));
  // Readable for others: some tests run as another user.
  chmodSync(folder, 0o755);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A separate folder for one test. */
function freshFolder(): string {
  return mkdtempSync(join(folder, "test-"));
}

/** An instance as the host sees it. Its source is for child processes too. */
const instance = (pages: number) => {
  const global = (value: number) => new WebAssembly.Global({ value: "i32" }, value);
  return {
    __data_end: global(1000),
    __heap_base: global(2000),
    __stack_pointer: global(1900),
    memory: new WebAssembly.Memory({ initial: pages }),
  };
};

/** An instance that dumps below `directory`. */
function guest(directory: string, onDump?: (path: string) => void) {
  const exports = instance(1);
  const dumps = memoryDump({ directory, allowMissingGlobals: true, ...(onDump && { onDump }) });
  dumps.attach(exports);
  const { dumpMemoryRegion } = dumps.MemoryDump;
  const dumpTo = (path: string) => {
    const { length } = Buffer.from(path);
    new Uint8Array(exports.memory.buffer).set(Buffer.from(path), 16);
    dumpMemoryRegion(16, length);
  };
  return { dumpTo, dumpMemoryRegion: dumpMemoryRegion as (...args: unknown[]) => void };
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

/** Prepares a folder so that a later check notices any file created, renamed or removed in it. */
function seal(path: string): void {
  utimesSync(path, 0, 0);
}

function expectSealed(path: string): void {
  expect(readdirSync(path)).toEqual([]);
  expect(statSync(path).mtimeMs).toBe(0);
}

const noHold = noPathsOfOpenFiles();
if (noHold) console.warn(`tests of folders that are held open are skipped: ${noHold}`);

describe.skipIf(noHold)("a process that swaps folders for links", () => {
  const snapshot = {
    header: new Uint8Array(24),
    memory: new ArrayBuffer(65536),
    memorySize: 65536,
  };

  test("cannot have even a temporary file created outside", () => {
    const [directory, outside] = [freshFolder(), freshFolder()];
    const place = findPlace(directory, ["sub", "x.dump"]);
    renameSync(join(directory, "sub"), join(directory, "moved"));
    symlinkSync(outside, join(directory, "sub"));
    seal(outside);
    const error = errorOf(() => writeAtomically(snapshot, place.target, place.checkFolder));
    place.leave();
    expect(error.message).toContain("its folder was replaced while the dump was written");
    expectSealed(outside);
    expect(readdirSync(join(directory, "moved"))).toEqual([]);
  });

  test("cannot replace the folder of a dump by another one", () => {
    const directory = freshFolder();
    const place = findPlace(directory, ["sub", "x.dump"]);
    renameSync(join(directory, "sub"), join(directory, "moved"));
    mkdirSync(join(directory, "sub"));
    const error = errorOf(() => writeAtomically(snapshot, place.target, place.checkFolder));
    place.leave();
    expect(error.message).toContain("its folder was replaced while the dump was written");
    expect(readdirSync(join(directory, "sub"))).toEqual([]);
    expect(readdirSync(join(directory, "moved"))).toEqual([]);
  });

  test("cannot keep the temporary file in a folder that was moved away", () => {
    const [directory, outside] = [freshFolder(), freshFolder()];
    const place = findPlace(directory, ["sub", "x.dump"]);
    let checks = 0;
    errorOf(() =>
      writeAtomically(snapshot, place.target, () => {
        if (++checks < 2) return;
        renameSync(join(directory, "sub"), join(outside, "stolen"));
        place.checkFolder();
      }),
    );
    place.leave();
    expect(readdirSync(join(outside, "stolen"))).toEqual([]);
  });

  test("leads no dump outside, however often and fast", async () => {
    const [directory, outside] = [freshFolder(), freshFolder()];
    seal(outside);
    const swapper = spawn(process.execPath, [
      "--eval",
      `const { lstatSync, mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync } = require("node:fs");
       process.chdir(process.argv[1]);
       const attempt = (work) => { try { work(); } catch {} };
       const pause = () => { for (let i = 0; i < 10; i++) lstatSync("."); };
       process.stdout.write("swapping");
       for (let nth = 0; ; nth++) {
         attempt(() => rmdirSync("a"));
         attempt(() => renameSync("a", "moved-" + nth));
         attempt(() => symlinkSync(process.argv[2], "a"));
         pause();
         attempt(() => unlinkSync("a"));
         attempt(() => mkdirSync("a"));
         pause();
       }`,
      directory,
      outside,
    ]);
    await once(swapper.stdout, "data");
    const { dumpTo } = guest(directory);
    const ends = new Set<string>();
    // On a busy machine, the folder may be swapped during every one of the first attempts.
    const isRace = () => ends.has("written") && ends.has("ERR_DUMP_PATH");
    for (let nth = 0; nth < 2000 || (!isRace() && nth < 100_000); nth++) {
      try {
        dumpTo("a/x.dump");
        ends.add("written");
      } catch (error) {
        ends.add((error as { code: string }).code);
      }
    }
    swapper.kill();
    await once(swapper, "exit");
    expectSealed(outside);
    expect(isRace()).toBe(true);
  });

  test("costs no open file, whether the dump succeeds or not", () => {
    const directory = freshFolder();
    symlinkSync(".", join(directory, "here"));
    writeFileSync(join(directory, "file"), "");
    const { dumpTo } = guest(directory);
    const before = readdirSync("/proc/self/fd").length;
    dumpTo("a/b/c/x.dump");
    dumpTo("here/a/x.dump");
    errorOf(() => dumpTo("a/b/c"));
    errorOf(() => dumpTo("a/../x"));
    errorOf(() => dumpTo("file/b/x.dump"));
    expect(readdirSync("/proc/self/fd")).toHaveLength(before);
  });
});

/** A command that writes a dump of 2 MiB to a path, and prints the result. */
function dumping(path: string): string[] {
  const code = `import { writeDump } from ${JSON.stringify(captureUrl)};
    const instance = ${instance};
    try {
      writeDump(instance(32), ${JSON.stringify(path)}, { allowMissingGlobals: true });
      console.log("written");
    } catch (error) {
      console.log(error.cause?.code, error.message);
    }`;
  return [process.execPath, "--input-type=module", "--eval", code];
}

const cannotMount = noSmallDisk();
if (cannotMount) console.warn(`tests on a full disk are skipped: ${cannotMount}`);

describe.skipIf(cannotMount)("on a full disk", () => {
  test("an older dump stays, and no other file remains", () => {
    const disk = freshFolder();
    const path = join(disk, "x.dump");
    const script = `echo older > ${path}; ${shellQuoted(...dumping(path))}; ls -A ${disk}; cat ${path}`;
    const { stdout } = runOnSmallDisk(disk, 1 << 20, script);
    expect(stdout).toBe(
      `ENOSPC cannot write the dump "${path}": ENOSPC: no space left on device\nx.dump\nolder\n`,
    );
  });
});

const noRights = noPermissions();
if (noRights) console.warn(`tests of permissions are skipped: ${noRights}`);

describe.skipIf(noRights)("permissions", () => {
  test("that forbid to write to the folder are an error that names the dump alone", () => {
    const directory = freshFolder();
    chmodSync(directory, 0o555);
    const path = join(directory, "x.dump");
    const { stdout } = runUnprivileged(dumping(path), directory);
    expect(stdout).toBe(`EACCES cannot write the dump "${path}": EACCES: permission denied\n`);
  });

  test("that protect an older dump are respected", () => {
    const directory = freshFolder();
    chmodSync(directory, 0o777);
    const path = join(directory, "x.dump");
    writeFileSync(path, "older");
    chmodSync(path, 0o444);
    const { stdout } = runUnprivileged(dumping(path), directory);
    expect(stdout).toContain("EACCES");
    expect(readFileSync(path, "utf8")).toBe("older");
    expect(readdirSync(directory)).toEqual(["x.dump"]);
  });

  test("that forbid to list a folder do not forbid to dump into it", () => {
    const directory = freshFolder();
    chmodSync(directory, 0o333);
    const { stdout } = runUnprivileged(dumping(join(directory, "x.dump")), folder);
    chmodSync(directory, 0o700);
    expect(stdout).toBe("written\n");
  });

  test("of a new dump are for its owner only, because it contains the program's secrets", () => {
    const directory = freshFolder();
    guest(directory).dumpTo("x.dump");
    expect(lstatSync(join(directory, "x.dump")).mode & 0o777).toBe(0o600);
  });

  test("of an older dump stay", () => {
    const directory = freshFolder();
    const path = join(directory, "x.dump");
    writeFileSync(path, "older");
    chmodSync(path, 0o666);
    guest(directory).dumpTo("x.dump");
    expect(lstatSync(path).mode & 0o777).toBe(0o666);
  });
});

describe("the program", () => {
  test.each([
    ["64-bit numbers", 16n, 1n],
    ["fractions", 16.5, 1],
    ["no numbers", Number.NaN, 1],
    ["too large numbers", 2 ** 32, 1],
    ["too small numbers", -(2 ** 31) - 1, 1],
    ["objects", {}, 1],
    ["one argument", 16, undefined],
  ])("that passes %s for the place of its path is refused", (_, address, size) => {
    const directory = freshFolder();
    const error = errorOf(() => guest(directory).dumpMemoryRegion(address, size));
    expect(error).toMatchObject({ name: "HeapAnalyzerError", code: "ERR_INVALID_ARG_TYPE" });
    expect(error.message).toContain("two numbers of type i32");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("can use names of 255 bytes", () => {
    const directory = freshFolder();
    guest(directory).dumpTo("x".repeat(255));
    expect(readdirSync(directory)).toEqual(["x".repeat(255)]);
  });

  test("cannot use a path too long to be opened, and creates nothing for it", () => {
    const directory = freshFolder();
    const error = errorOf(() => guest(directory).dumpTo(`${"a/".repeat(2040)}x.dump`));
    expect(error.code).toBe("ERR_DUMP_PATH");
    expect(error.message).toContain("with the dump folder, it has more than 4095 bytes");
    expect(readdirSync(directory)).toEqual([]);
  });

  test("can use letters that only look like a slash", () => {
    const directory = freshFolder();
    guest(directory).dumpTo("..\u2044x.dump");
    guest(directory).dumpTo("..\uff0fx.dump");
    expect(readdirSync(directory).sort()).toEqual(["..\u2044x.dump", "..\uff0fx.dump"]);
  });

  test("is stopped by an exception of onDump, after the dump was written", () => {
    const directory = freshFolder();
    const enough = new Error("enough");
    const { dumpTo } = guest(directory, () => {
      throw enough;
    });
    expect(errorOf(() => dumpTo("x.dump"))).toBe(enough);
    expect(readdirSync(directory)).toEqual(["x.dump"]);
  });
});

test("a memory that another thread grows is dumped with its first size", () => {
  // Newer than the declarations that the tests are checked with.
  const Growable = SharedArrayBuffer as unknown as new (
    size: number,
    options: { maxByteLength: number },
  ) => SharedArrayBuffer & { grow(size: number): void };
  const memory = new Growable(65536, { maxByteLength: 2 * 65536 });
  const target = join(freshFolder(), "x.dump");
  writeAtomically({ header: new Uint8Array(24), memory, memorySize: 65536 }, target, () => {
    memory.grow(2 * 65536);
  });
  expect(statSync(target).size).toBe(24 + 65536);
});

describe("an instance is captured as it is now", () => {
  const options = { allowMissingGlobals: true };

  test("if a getter grows the memory", () => {
    const exports = instance(1);
    const growing = Object.defineProperty({ ...exports }, "__heap_base", {
      get() {
        exports.memory.grow(1);
        return exports.__heap_base;
      },
    });
    const path = join(freshFolder(), "x.dump");
    writeDump(growing, path, options);
    expect(statSync(path).size).toBe(24 + exports.memory.buffer.byteLength);
    expect(captureDump(growing, options)).toHaveLength(24 + exports.memory.buffer.byteLength);
  });

  test("if Object.prototype has the names of parts of property descriptors", () => {
    const path = join(freshFolder(), "x.dump");
    const names = ["get", "set", "value", "apply", "construct"];
    for (const name of names) Object.assign(Object.prototype, { [name]: () => 1 });
    try {
      writeDump(instance(1), path, options);
    } finally {
      for (const name of names) Reflect.deleteProperty(Object.prototype, name);
    }
    expect(statSync(path).size).toBe(24 + 65536);
  });

  test("if its path is a URL", () => {
    const path = join(freshFolder(), "a b.dump");
    writeDump(instance(1), pathToFileURL(path), options);
    expect(statSync(path).size).toBe(24 + 65536);
  });
});

describe("an empty path is refused", () => {
  test("for a dump", () => {
    const error = errorOf(() => writeDump(instance(1), "", { allowMissingGlobals: true }));
    expect(error.code).toBe("ERR_INVALID_ARG_VALUE");
    expect(error.message).toContain('"path" is an empty path');
  });

  test("for the folder of a program's dumps", () => {
    const error = errorOf(() => memoryDump({ directory: "" }));
    expect(error.code).toBe("ERR_INVALID_ARG_VALUE");
    expect(error.message).toContain('"options.directory" is an empty path');
  });
});

/** Magic and version. */
const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

describe("arguments of other types are refused:", () => {
  const exports = instance(1);
  const options = { allowMissingGlobals: true };
  test.each<[string, () => unknown, string]>([
    [
      "no exports",
      () => captureDump(null as never),
      '"exports" must be the exports of an instance',
    ],
    ["exports that are a number", () => captureDump(5 as never), '"exports" must be'],
    [
      "no path",
      () => writeDump(exports, undefined as never),
      '"path" must be a path (string, URL or Buffer)',
    ],
    ["a path that is a number", () => writeDump(exports, 5 as never, options), "found number"],
    ["no options", () => memoryDump(undefined as never), '"options.directory" must be a path'],
    ["no directory", () => memoryDump({} as never), '"options.directory" must be a path'],
    [
      "an onDump that is no function",
      () => memoryDump({ directory: "x", onDump: true as never }),
      '"options.onDump" must be a function',
    ],
    [
      "a memory that is none",
      () => captureDump(exports, { ...options, memory: {} as never }),
      '"options.memory" must be a WebAssembly.Memory',
    ],
    [
      "no memory where one is given",
      () => captureDump(exports, { ...options, memory: null as never }),
      '"options.memory" must be a WebAssembly.Memory',
    ],
    [
      "a module that is a string",
      () => exposeGlobals("x" as never),
      '"wasm" must be a Uint8Array, Buffer or ArrayBuffer, found string; read the file first',
    ],
    [
      "a module that is a response",
      () => exposeGlobals(new Response() as never),
      "found a Response; pass new Uint8Array(await response.arrayBuffer())",
    ],
    [
      "a module that is a promise",
      () => exposeGlobals(Promise.resolve() as never),
      "found a Promise; await it first",
    ],
    [
      "a module that is compiled already",
      () => exposeGlobals(new WebAssembly.Module(EMPTY_MODULE) as never),
      "found a WebAssembly.Module; pass the bytes that it was compiled from",
    ],
    [
      "exports that are a promise",
      () => captureDump(Promise.resolve()),
      "found a Promise; await it first",
    ],
    [
      "exports that are a module",
      () => captureDump(new WebAssembly.Module(EMPTY_MODULE)),
      "found a WebAssembly.Module; instantiate it and pass the exports of the instance",
    ],
    [
      "exports that are the bytes of a module",
      () => captureDump(EMPTY_MODULE),
      "found a Uint8Array; pass the exports of a running instance, not its bytes",
    ],
  ])("%s", (_, action, message) => {
    const error = errorOf(action);
    expect(error).toMatchObject({ name: "HeapAnalyzerError", code: "ERR_INVALID_ARG_TYPE" });
    expect(error.message).toContain(message);
  });
});
