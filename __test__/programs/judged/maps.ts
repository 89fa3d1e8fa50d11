// Maps with keys and values of every width, managed and not, with deleted entries and after rehashing.
import { judge } from "./support/host";

class Key {
  constructor(public tag: i32) {}
}
class Value {
  constructor(public tag: i32) {}
}

let refToI64 = new Map<Key, i64>();
let refToI32 = new Map<Key, i32>();
let refToI8 = new Map<Key, i8>();
let refToF64 = new Map<Key, f64>();
let refToRef = new Map<Key, Value>();
let i8ToRef = new Map<i8, Value>();
let u16ToRef = new Map<u16, Value>();
let i32ToRef = new Map<i32, Value>();
let u64ToRef = new Map<u64, Value>();
let f64ToRef = new Map<f64, Value>();
let f32ToRef = new Map<f32, Value | null>();
let boolToRef = new Map<bool, Value>();
let stringToF64 = new Map<string, f64>();
let stringToRef = new Map<string, Value>();
let stringToMap = new Map<string, Map<i32, Value>>();
let u64ToU64 = new Map<u64, u64>();
let i8ToI8 = new Map<i8, i8>();
let usizeToUsize = new Map<usize, usize>();
let empty = new Map<Key, Value>();

function build(): void {
  for (let i = 0; i < 21; i++) {
    refToI64.set(new Key(i), i);
    refToI32.set(new Key(i), i);
    refToI8.set(new Key(i), <i8>i);
    refToF64.set(new Key(i), i);
    refToRef.set(new Key(i), new Value(i));
    i8ToRef.set(<i8>i, new Value(i));
    u16ToRef.set(<u16>i, new Value(i));
    i32ToRef.set(i, new Value(i));
    u64ToRef.set(i, new Value(i));
    f64ToRef.set(i, new Value(i));
    f32ToRef.set(<f32>i, i & 1 ? null : new Value(i));
    boolToRef.set((i & 1) == 1, new Value(i));
    stringToF64.set("key " + i.toString(), i);
    stringToRef.set("key " + i.toString(), new Value(i));
    u64ToU64.set(changetype<usize>(new Key(i)), changetype<usize>(new Value(i)));
    i8ToI8.set(<i8>i, <i8>i);
    // Numbers that are addresses are no references.
    usizeToUsize.set(changetype<usize>(new Key(i)), changetype<usize>(new Value(i)));
  }
  for (let i = 0; i < 3; i++) {
    const inner = new Map<i32, Value>();
    inner.set(i, new Value(i));
    stringToMap.set(i.toString(), inner);
  }
}

function deleteSome(): void {
  const keys = refToI64.keys();
  for (let i = 0; i < keys.length; i += 2) refToI64.delete(keys[i]);
  const keys8 = refToI8.keys();
  for (let i = 1; i < keys8.length; i += 3) refToI8.delete(keys8[i]);
  const keysRef = refToRef.keys();
  for (let i = 0; i < keysRef.length; i += 3) refToRef.delete(keysRef[i]);
  for (let i = 0; i < 20; i += 2) {
    i8ToRef.delete(<i8>i);
    u64ToRef.delete(i);
    stringToRef.delete("key " + i.toString());
    f64ToRef.delete(i);
  }
}

function refill(): void {
  for (let i = 100; i < 160; i++) {
    refToI64.set(new Key(i), i);
    refToI8.set(new Key(i), <i8>i);
    u64ToRef.set(i, new Value(i));
    stringToRef.set("key " + i.toString(), new Value(i));
  }
}

export function main(): void {
  build();
  judge(0);
  deleteSome();
  judge(1);
  refill();
  judge(2);
  refToRef.clear();
  stringToMap.delete("1");
  i32ToRef.set(3, new Value(1000));
  judge(3);
}
