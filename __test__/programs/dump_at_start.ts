// A program that dumps itself in its start function, before the host has its exports.

@external("MemoryDump", "dumpMemoryRegion")
declare function dumpMemoryRegion(filePathOffset: i32, filePathSize: i32): void;

const path = "start.dump";
const encoded = String.UTF8.encode(path);
dumpMemoryRegion(changetype<i32>(encoded), String.UTF8.byteLength(path));

export function encodedPath(): ArrayBuffer {
  return encoded;
}
