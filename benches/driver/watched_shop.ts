/**
 * A shop that trades without end, for `watch_cost.ts`: `node build/bench/watched_shop.js <wasm> <objects>`. For each line
 * on stdin it prints how often it has traded, and the seconds of processor time that it has used.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface Shop {
  grow(objects: number): void;
  trade(): void;
}

async function main([wasm, objects]: string[]): Promise<void> {
  if (wasm === undefined) throw new Error("usage: watched_shop <wasm> <objects>");
  const abort = () => {
    throw new Error("the shop aborted: is the memory full?");
  };
  const { instance } = await WebAssembly.instantiate(readFileSync(wasm), { env: { abort } });
  const shop = instance.exports as unknown as Shop;
  shop.grow(Number(objects));
  let trades = 0;
  const trade = () => {
    shop.trade();
    trades++;
    setImmediate(trade);
  };
  createInterface({ input: process.stdin })
    .on("line", () => {
      const { user, system } = process.cpuUsage();
      console.log(JSON.stringify({ trades, cpu: (user + system) / 1e6 }));
    })
    .on("close", () => process.exit());
  trade();
  console.log("ready");
}

void main(process.argv.slice(2));
