// Typed arrays, views and buffers. Their contents are bytes, even where they are an object's address.
import { judge } from "./support/host";

class Item {
  constructor(public tag: i32) {}
}

let buffer = new ArrayBuffer(64);
let view: DataView = new DataView(buffer, 8, 16);
let words = new Uint32Array(16);
let part: Uint32Array = words;
let doubles = new Float64Array(9);
let bytes: Uint8Array | null = new Uint8Array(3);
let clamped = new Uint8ClampedArray(0);
let longs = Int64Array.wrap(buffer, 0, 2);
let text = "x";
const list: ArrayBufferView[] = [];

function build(): void {
  // Addresses of objects that nothing else refers to.
  for (let i = 0; i < 16; i++) words[i] = <u32>changetype<usize>(new Item(i));
  for (let i = 0; i < 16; i++) store<u32>(changetype<usize>(buffer) + 4 * i, changetype<usize>(new Item(i)));
  doubles[0] = 1;
  part = words.subarray(4, 8);
  list.push(new Int8Array(5));
  list.push(new Uint16Array(7));
  text = "text ".repeat(5);
}

export function main(): void {
  build();
  judge(0);
  // The subarray still holds the buffer.
  words = new Uint32Array(1);
  bytes = null;
  buffer = new ArrayBuffer(0);
  judge(1);
  part = words;
  list.length = 1;
  view = new DataView(buffer);
  judge(2);
}
