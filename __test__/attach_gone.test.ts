/** Programs of which no dump can be taken, or only slowly. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attach } from "@warpo/heap-analyzer/attach";
import binaryen from "binaryen";
import { afterAll, beforeAll, expect, test } from "vitest";

const PROGRAMS = join(import.meta.dirname, "programs/attach");
const PAGE = 65_536;

let folder: string;
const running: ChildProcess[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attach-gone-"));
});
afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a module whose memory has this number of pages. It may have a function. */
function moduleOf(pages: number, hasFunction = true): string {
  const module = new binaryen.Module();
  const data = [{ offset: module.i32.const(PAGE + 1), data: Uint8Array.of(7) }];
  if (pages > 0) module.setMemory(pages, pages, "memory", pages > 1 ? data : []);
  if (hasFunction) {
    module.addFunction("f", binaryen.none, binaryen.none, [], module.nop());
    module.addFunctionExport("f", "f");
  }
  const path = join(folder, `${pages}-${hasFunction}.wasm`);
  writeFileSync(path, module.emitBinary());
  return path;
}

/** Starts a program, and returns the address of its inspector. */
async function start(program: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [
    "--inspect=127.0.0.1:0",
    join(PROGRAMS, program),
    ...args,
  ]);
  running.push(child);
  const [text] = await once(child.stderr, "data");
  await once(child.stdout, "data");
  return /ws:\/\/\S+/.exec(String(text))?.[0] as string;
}

test.each([
  ["none", 1, true, "no module is loaded"],
  ["not made", 1, true, "is loaded, and no instance of it is alive"],
  ["without memory", 0, true, "1 of its instances have no memory"],
  ["without function", 1, false, "no function that says what module they are of"],
  ["ended worker", 1, true, "a worker"],
])("that there is no instance has its reason: %s", async (kind, pages, hasFunction, reason) => {
  const target = await attach(await start("gone.cjs", kind, moduleOf(pages, hasFunction)));
  expect(target.instances).toEqual([]);
  expect(target.whyNone).toContain(reason);
  await expect(target.writeDump(join(folder, "x.dump"))).rejects.toMatchObject({
    code: "ERR_MEMORY_MISSING",
    message: target.whyNone,
  });
  await target.close();
});

test("a memory that takes longer to write than a program may take to rest is written once, and whole", async () => {
  const url = await start("slow.cjs", moduleOf(3));
  // It is not silent as long as the file grows.
  const target = await attach(url, { timeout: 4000 });
  const dump = join(folder, "slow.dump");
  expect(await target.writeDump(dump)).toEqual([]);
  await target.close();
  const bytes = readFileSync(dump);
  expect(bytes.length).toBe(24 + 3 * PAGE);
  expect(bytes[24 + PAGE + 1]).toBe(7);
});
