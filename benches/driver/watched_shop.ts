/**
 * A shop that serves without end, for `watch_cost.ts`: `node build/bench/watched_shop.js <wasm> <objects>`. For each line
 * on stdin it prints a {@link ShopReading}.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** How far the shop is. */
export interface ShopReading {
  /** Requests since its start. */
  requests: number;
  /** Seconds of processor time that its process has used, with the threads of the engine. */
  processorTime: number;
  /** Seconds since its start. */
  time: number;
  /** The size of the memory in bytes. */
  memorySize: number;
}

interface Shop {
  memory: WebAssembly.Memory;
  grow(objects: number): void;
  serve(requests: number): void;
}

/** Requests of one turn of the event loop, which then take about a millisecond. */
const AT_ONCE = 100;

async function main([wasm, objects]: string[]): Promise<void> {
  if (wasm === undefined) throw new Error("usage: watched_shop <wasm> <objects>");
  const abort = () => {
    throw new Error("the shop aborted: is the memory full?");
  };
  const { instance } = await WebAssembly.instantiate(readFileSync(wasm), { env: { abort } });
  const shop = instance.exports as unknown as Shop;
  shop.grow(Number(objects));
  let requests = 0;
  const serve = () => {
    shop.serve(AT_ONCE);
    requests += AT_ONCE;
    setImmediate(serve);
  };
  createInterface({ input: process.stdin })
    .on("line", () => {
      const { user, system } = process.cpuUsage();
      const reading: ShopReading = {
        requests,
        processorTime: (user + system) / 1e6,
        time: performance.now() / 1000,
        memorySize: shop.memory.buffer.byteLength,
      };
      console.log(JSON.stringify(reading));
    })
    .on("close", () => process.exit());
  serve();
  console.log("ready");
}

void main(process.argv.slice(2));
