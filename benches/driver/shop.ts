/**
 * Runs the shop (`benches/shop`) until it has so many objects, and dumps it before and after some
 * trade: `node build/bench/shop.js <objects> <folder>`. The folder gets `program.wasm`,
 * `before.dump` and `after.dump`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";

interface Shop {
  grow(objects: number): void;
  trade(): void;
  __collect(): void;
}

async function main([objects, folder]: string[]): Promise<void> {
  if (objects === undefined || folder === undefined)
    throw new Error("usage: shop <objects> <folder>");
  const wasm = join(resolve(folder), "program.wasm");
  const asc = join(require.resolve("assemblyscript/package.json"), "..", "bin", "asc.js");
  const transform = require.resolve("@warpo/heap-analyzer/asc-transform");
  const flags = ["-O3", "--debug", "--exportRuntime", "--transform", transform];
  execFileSync(process.execPath, [asc, "assembly/index.ts", "-o", wasm, ...flags], {
    cwd: resolve(__dirname, "../../benches/shop"),
    stdio: "inherit",
  });

  const abort = () => {
    throw new Error("the shop aborted: is the memory full?");
  };
  const exposed = exposeGlobals(readFileSync(wasm));
  const { instance } = await WebAssembly.instantiate(exposed, { env: { abort } });
  const shop = instance.exports as unknown as Shop;
  shop.grow(Number(objects));
  shop.__collect();
  writeDump(instance.exports, join(folder, "before.dump"));
  shop.trade();
  writeDump(instance.exports, join(folder, "after.dump"));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
