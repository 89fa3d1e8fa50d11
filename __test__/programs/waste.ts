// Every kind of waste once, each in its own field.
class Containers {
  map: Map<i32, i32> = new Map<i32, i32>();
  set: Set<i32> = new Set<i32>();
  array: Array<i32> = new Array<i32>();
  bytes: Uint8Array = new Uint8Array(0);
  cleared: Array<i32> = new Array<i32>();
}

class Room {
  array: Array<f64> = new Array<f64>(100);
  map: Map<i32, f64> = new Map<i32, f64>();
  part: Uint8Array = new Uint8Array(4096).subarray(0, 100);
  half: Uint8Array = new Uint8Array(4096).subarray(0, 2048);
}

class Copies {
  names: string[] = [];
  first: ArrayBuffer = numbers();
  second: ArrayBuffer = numbers();
  static1: StaticArray<i32> = new StaticArray<i32>(10);
  static2: StaticArray<i32> = new StaticArray<i32>(10);
  array1: Array<i32> = new Array<i32>(10);
  array2: Array<i32> = new Array<i32>(10);
}

function numbers(): ArrayBuffer {
  const buffer = new ArrayBuffer(1000);
  for (let i = 0; i < 1000; i++) store<u8>(changetype<usize>(buffer) + i, <u8>i);
  return buffer;
}

let containers: Containers | null = null;
let room: Room | null = null;
let copies: Copies | null = null;

export function start(): void {
  const empty = new Containers();
  for (let i = 0; i < 1_000_000; i++) empty.cleared.push(i);
  empty.cleared.length = 0;
  containers = empty;

  const used = new Room();
  used.array.length = 10;
  for (let i = 0; i < 10; i++) used.map.set(i, i);
  used.map.delete(3);
  room = used;

  const twice = new Copies();
  for (let i = 0; i < 6; i++) twice.names.push("name " + (i % 2).toString());
  twice.names.push("mi" + i32(copies == null ? 1 : 2).toString());
  copies = twice;
}

export function isFirst(name: string): bool {
  return name == "mi1";
}
