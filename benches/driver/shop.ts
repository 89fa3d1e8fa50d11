/**
 * Runs the shop (`benches/shop`) once for each size, until it has this number of objects, and dumps it
 * before and after some trade: `node build/bench/shop.js <folder> <objects>…`. The folder gets
 * `program.wasm` and for each size `<objects>-before.dump` and `<objects>-after.dump`. With `<objects>:<pages>`,
 * the host first grows the memory to that many pages of 64 KiB, and there is one dump, `<objects>:<pages>.dump`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { exposeGlobals, writeDump } from "@warpo/heap-analyzer/capture";

interface Shop {
  memory: WebAssembly.Memory;
  grow(objects: number): void;
  trade(): void;
  __collect(): void;
}

async function main([folder, ...sizes]: string[]): Promise<void> {
  if (folder === undefined) throw new Error("usage: shop <folder> <objects>…");
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
  for (const size of sizes) {
    const [objects, pages] = size.split(":");
    const { instance } = await WebAssembly.instantiate(exposed, { env: { abort } });
    const shop = instance.exports as unknown as Shop;
    shop.grow(Number(objects));
    shop.__collect();
    if (pages !== undefined) {
      shop.memory.grow(Number(pages) - shop.memory.buffer.byteLength / 65_536);
      writeDump(instance.exports, join(folder, `${size}.dump`));
      continue;
    }
    writeDump(instance.exports, join(folder, `${objects}-before.dump`));
    shop.trade();
    writeDump(instance.exports, join(folder, `${objects}-after.dump`));
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
