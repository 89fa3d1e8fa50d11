// serve.mjs <driver>: does the work of a driver, and the same again at each line of its input.
import { createInterface } from "node:readline";

const { default: start } = await import(`./${process.argv[2]}.mjs`);
const work = await start();
await work();
console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) {
  await work();
  console.log("ready");
}
