import { JSON } from "json-as";

@external("host", "dump")
declare function dump(): void;

// Documents as a server would keep them.
const cache = new Map<string, JSON.Obj>();
const values: JSON.Value[] = [];
const lists: JSON.Arr[] = [];

function add(i: i32): void {
  const text = i.toString();
  const parsed = JSON.parse<JSON.Obj>(
    '{"id":' + text + ',"name":"user' + text + '","tags":["a","b"],"deep":{"x":1.5,"y":"z"}}',
  );
  cache.set("k" + text, parsed);
  values.push(JSON.Value.from("text number " + text));
  values.push(JSON.Value.from(i));
  lists.push(JSON.parse<JSON.Arr>('["one", 2, ["three", {"four": "five' + text + '"}]]'));
  parsed.set("extra", "value " + text);
  if (i & 1) parsed.get("name");
}

export function main(): void {
  dump();
  for (let i = 0; i < 10; i++) {
    add(i);
    if (i % 3 == 0) dump();
  }
  dump();
  values.length = 2;
  lists.length = 1;
  cache.delete("k1");
  dump();
}
