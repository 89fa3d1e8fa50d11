/**
 * Dumps of modules that are hard to read over an inspector: globals of one name, globals that hold a reference of the
 * host, memories that are imported or shared, no exports. The judge is `writeDump` of the exposed module in a process of
 * its own, byte for byte.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { analyzeFile } from "@warpo/heap-analyzer";
import { attach } from "@warpo/heap-analyzer/attach";
import binaryen from "binaryen";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileProgram } from "./support/asc_program.ts";
import { readWasmModule } from "./support/wasm_module.ts";

const PROGRAM = join(import.meta.dirname, "programs/attach/edges.cjs");
const VERSIONS = join(import.meta.dirname, "node_versions/node_modules");
const HOSTS = [
  { title: "this Node", path: process.execPath },
  { title: "Node 22", path: join(VERSIONS, "node-22/bin/node") },
  { title: "Node 24", path: join(VERSIONS, "node-24/bin/node") },
];
const SHARED_MEMORY = ["--importMemory", "--sharedMemory", "--maximumMemory", "4"];

/** The modules, by name. */
const MODULES: Record<string, () => Promise<Uint8Array<ArrayBuffer>>> = {
  references: async () => await compiled("edges", "--debug"),
  // No compiler gives two globals one name, and V8 lists only one of them by it.
  names: async () => withOneName(await compiled("edges", "--debug")),
  imported: async () => await compiled("edges", "--importMemory"),
  shared: async () => await compiled("edges", ...SHARED_MEMORY, "--enable", "threads"),
  closed: async () => await compiled("closed_edges", "--noExportMemory"),
};

let folder: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "attach-edges-"));
  for (const [name, make] of Object.entries(MODULES)) {
    writeFileSync(join(folder, `${name}.wasm`), await make());
  }
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function compiled(name: string, ...flags: string[]): Promise<Uint8Array<ArrayBuffer>> {
  const features = ["--enable", "reference-types"];
  return (await compileProgram(`attach/${name}`, ...features, ...flags)).wasm;
}

/** Gives the global `other` the name of `first`, in the name section. */
function withOneName(wasm: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(wasm);
  bytes.write("edges/first", bytes.lastIndexOf("edges/other"));
  return Uint8Array.from(bytes);
}

/** Starts the program for the modules of a folder, and returns the address of its inspector. */
async function started(path: string, modules: string): Promise<string> {
  const child = spawn(path, ["--inspect=127.0.0.1:0", PROGRAM, modules]);
  running.push(child);
  const [text] = await once(child.stderr, "data");
  await once(child.stdout, "data");
  return /ws:\/\/\S+/.exec(String(text))?.[0] as string;
}

test("two globals have one name, and two hold other values", () => {
  const { globals } = readWasmModule(readFileSync(join(folder, "names.wasm")));
  expect(globals.filter(({ name }) => name?.endsWith("edges/first"))).toHaveLength(2);
  expect(globals.filter(({ name }) => name?.endsWith("edges/other"))).toHaveLength(0);
  const { globals: unchanged } = readWasmModule(readFileSync(join(folder, "references.wasm")));
  expect(unchanged.filter(({ name }) => name?.endsWith("edges/first"))).toHaveLength(1);
});

describe.each(HOSTS)("$title", ({ path }) => {
  describe.skipIf(!existsSync(path))(
    "(skipped if npm run test:full -- hosts did not install it)",
    () => {
      test("every module gives the dump that writeDump gives", async () => {
        execFileSync(path, [PROGRAM, folder, "--expose"]);
        const target = await attach(await started(path, folder));
        const names = Object.keys(MODULES);
        expect(target.instances).toHaveLength(names.length);
        const found = new Set<string>();
        for (const nth of target.instances.keys()) {
          const [dump, module] = [join(folder, "attached.dump"), join(folder, "attached.module")];
          const warnings = await target.writeDump(dump, { instance: nth, wasmOutput: module });
          const bytes = readFileSync(module);
          const name = names.find((one) => readFileSync(join(folder, `${one}.wasm`)).equals(bytes));
          expect(name).toBeDefined();
          found.add(name as string);
          const expected = readFileSync(join(folder, `${name}.wasm.dump`));
          expect(readFileSync(dump).equals(expected), name).toBe(true);
          const isShared = warnings.some((warning) => warning.includes("the memory is shared"));
          expect([warnings.length, isShared], name).toEqual(
            name === "shared" ? [1, true] : [0, false],
          );
          const { constructors } = analyzeFile(dump, module);
          const largest = Math.max(...constructors.map(({ count }) => count));
          expect(largest, name).toBe(name === "closed" ? 40 : 20);
        }
        await target.close();
        expect([...found].sort()).toEqual([...names].sort());
      });
    },
  );
});

test("a module without a memory is no instance to dump; one that exports no memory and no global is", async () => {
  const others = join(folder, "others");
  mkdirSync(others);
  const [empty, foreign] = [new binaryen.Module(), new binaryen.Module()];
  for (const module of [empty, foreign]) {
    module.addFunction("f", binaryen.none, binaryen.none, [], module.nop());
    module.addFunctionExport("f", "f");
  }
  writeFileSync(join(others, "empty.wasm"), empty.emitBinary());
  const alone = await attach(await started(process.execPath, others));
  expect(alone.instances).toEqual([]);
  const dump = join(others, "x.dump");
  await expect(alone.writeDump(dump)).rejects.toMatchObject({ code: "ERR_MEMORY_MISSING" });
  await alone.close();
  foreign.setMemory(3, 3, null, [{ offset: foreign.i32.const(70_000), data: Uint8Array.of(7) }]);
  foreign.addGlobal("x", binaryen.i32, true, foreign.i32.const(42));
  writeFileSync(join(others, "foreign.wasm"), foreign.emitBinary());
  const both = await attach(await started(process.execPath, others));
  expect(both.instances.map(({ memorySize }) => memorySize)).toEqual([3 * 65_536]);
  expect(existsSync(dump)).toBe(false);
  await both.writeDump(dump);
  await both.close();
  // Its only global, and all of its memory, which has one byte that is not zero.
  const bytes = readFileSync(dump);
  expect([bytes.readUInt32LE(20), bytes.readUInt32LE(24)]).toEqual([1, 42]);
  expect(bytes).toHaveLength(28 + 3 * 65_536);
  expect(bytes.readUInt8(28 + 70_000)).toBe(7);
});
