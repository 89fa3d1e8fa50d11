/**
 * Finds the leak in a small server: compiles it with stock AssemblyScript, runs it in this Node
 * process, takes a dump before and after some traffic, and prints both views and what grew. Then it
 * shows a gate that fails on the leaking server and passes on a fixed one, and attaches to the server while it runs.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";
import { showAttach } from "./attach.js";
import { showExports } from "./exports.js";
import { showGate } from "./gate.js";
import { showSites } from "./sites.js";

interface Server {
  serve(requests: number): void;
  __collect(): void;
}

async function main(): Promise<void> {
  const folder = resolve(__dirname, "..", "leaky-server");
  mkdirSync(folder, { recursive: true });
  const wasmFile = join(folder, "server.wasm");
  const before = join(folder, "before.dump");
  const after = join(folder, "after.dump");

  const example = resolve(__dirname, "../../examples/leaky-server");
  compile(example, wasmFile);

  // A dump needs the globals besides the memory. Exporting them does not change how the program runs.
  const exposed = exposeGlobals(readFileSync(wasmFile));
  const env = {
    abort: () => {
      throw new Error("the server aborted");
    },
  };
  const { instance } = await WebAssembly.instantiate(exposed, { env });
  const server = instance.exports as unknown as Server;

  server.serve(400);
  server.__collect();
  writeDump(instance.exports, before);

  server.serve(2000);
  server.__collect();
  writeDump(instance.exports, after);

  const cli = require.resolve("@warpo/heap-analyzer/dist/heap_analyzer/cli.js");
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [cli, ...args, "--wasm", wasmFile], { stdio: "inherit" });

  console.log("What uses memory after 2,400 requests (constructor view):\n");
  run("analyze", after, "--format", "table", "--top", "8");
  console.log(
    "\nThe shallow size is the size of the objects themselves. The retained size is what would be freed if\n" +
      "they went away. A class that retains much more than its shallow size is an owner.\n",
  );
  console.log("What changed during the last 2,000 requests (comparison view):\n");
  run("diff", before, after, "--format", "table", "--top", "8");
  console.log("\nWhat grew, and what to cut (suspects):\n");
  run("suspects", after, "--before", before);

  const here = relative(process.cwd(), folder) || ".";
  console.log(`\nThe dumps and the module are in ${here}. To compare them again:`);
  console.log(
    `  node dist/heap_analyzer/cli.js diff ${here}/before.dump ${here}/after.dump --wasm ${here}/server.wasm`,
  );

  showReport(run, { before, after }, join(folder, "report.html"));

  await showSites(cli, folder, (wasm) => compile(example, wasm, "--sourceMap"));

  showExports(cli, folder, here);

  showGate(example, join(folder, "gate"), compile);

  await showAttach(cli, example, wasmFile, join(folder, "attached"));

  console.log("\nTo look at every object of these dumps in the browser:");
  console.log(
    `  node dist/heap_analyzer/cli.js open ${here}/before.dump ${here}/after.dump --wasm ${here}/server.wasm`,
  );
}

/** Writes everything as a page. */
function showReport(
  run: (...args: string[]) => void,
  dumps: { before: string; after: string },
  output: string,
): void {
  run("report", dumps.after, "--before", dumps.before, "--output", output);
  console.log(`\nThe whole report as a page for the browser: ${relative(process.cwd(), output)}`);
}

/** Compiles in the server's folder, because class names contain the path of the source as the compiler sees it. */
function compile(folder: string, wasmFile: string, ...more: string[]): void {
  const asc = join(require.resolve("assemblyscript/package.json"), "..", "bin", "asc.js");
  const transform = require.resolve("@warpo/heap-analyzer/asc-transform");
  const flags = ["--debug", "--exportRuntime", "--transform", transform, ...more];
  execFileSync(process.execPath, [asc, "assembly/server.ts", "-o", wasmFile, ...flags], {
    cwd: folder,
    stdio: "inherit",
  });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
