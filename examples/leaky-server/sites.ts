/** The end of the demo about lines of source: which of them allocated what the server retains. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";
import { createProfiler, instrument } from "@warpo/heap-analyzer/profile";

/** Runs the server with a profiler, and prints the lines with what they retain. */
export async function showSites(
  cli: string,
  parent: string,
  compile: (wasm: string) => void,
): Promise<void> {
  const folder = join(parent, "profiled");
  mkdirSync(folder, { recursive: true });
  const file = (name: string) => join(folder, name);
  compile(file("server.wasm"));
  const program = instrument(readFileSync(file("server.wasm")), {
    sourceMap: readFileSync(file("server.wasm.map"), "utf8"),
    contexts: true,
  });
  const profiler = createProfiler(program, { interval: 1, name: "server.wasm" });
  const env = {
    abort: () => {
      throw new Error("the server aborted");
    },
  };
  const imports = { env, ...profiler.imports };
  const { instance } = await WebAssembly.instantiate(exposeGlobals(program.wasm), imports);
  profiler.attach(instance.exports);
  const server = instance.exports as unknown as { serve(count: number): void; __collect(): void };
  server.serve(2400);
  server.__collect();
  writeDump(instance.exports, file("server.dump"));
  writeFileSync(file("heap.pb.gz"), profiler.heapProfile());

  console.log("\nWhich line of source allocated it (sites):\n");
  const dump = [file("server.dump"), "--wasm", file("server.wasm")];
  const args = [cli, "sites", ...dump, "--profile", file("heap.pb.gz"), "--limit", "4"];
  execFileSync(process.execPath, args, { stdio: "inherit" });
}
