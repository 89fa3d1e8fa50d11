/**
 * Finds the leak in a small server: compiles it with stock AssemblyScript, runs it in this Node
 * process, takes a dump before and after some traffic, and prints both views.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";

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

  compile(resolve(__dirname, "../../examples/leaky-server"), "assembly/server.ts", wasmFile);

  // Exported globals are what a dump needs beside the memory. The program runs as before.
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
  const show = (...args: string[]) =>
    execFileSync(process.execPath, [cli, ...args, "--wasm", wasmFile, "--format", "table"], {
      stdio: "inherit",
    });

  console.log("What takes space after 2,400 requests (constructor view):\n");
  show("analyze", after, "--top", "8");
  console.log(
    "\nShallow size is what the objects of a class take themselves; retained size is what would be\n" +
      "freed if they went away. A class that retains much more than it takes is an owner: ask who holds it.\n",
  );
  console.log("What the last 2,000 requests left behind (comparison view):\n");
  show("diff", before, after, "--top", "8");
  console.log(
    "\nThe class on top gained the most bytes; many new and no deleted objects mean that something\n" +
      "collects them and never lets go. Here nobody removes a PriceListener when its session ends.\n",
  );

  const here = relative(process.cwd(), folder) || ".";
  console.log(`The dumps and the module are in ${here}. Go on with:`);
  console.log(
    `  node dist/heap_analyzer/cli.js diff ${here}/before.dump ${here}/after.dump --wasm ${here}/server.wasm`,
  );
}

/** Class names carry the source's path as the compiler sees it: from the server's own folder. */
function compile(folder: string, source: string, wasmFile: string): void {
  const asc = join(require.resolve("assemblyscript/package.json"), "..", "bin", "asc.js");
  const transform = require.resolve("@warpo/heap-analyzer/asc-transform");
  const flags = ["--debug", "--exportRuntime", "--transform", transform];
  execFileSync(process.execPath, [asc, source, "-o", wasmFile, ...flags], {
    cwd: folder,
    stdio: "inherit",
  });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
