/**
 * Heap snapshots of V8 for measurements, of any size. `write_snapshot.ts` is the command. Sessions in a map, each with an array of records and strings; as many nodes as are asked for, and about 2.2
 * edges each.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { EDGE_TYPES, NODE_FIELDS, NODE_TYPES, snapshotPart } from "./snapshot_format.js";

/** Nodes of one session: itself, its array, the elements, and records with a text each. */
const RECORDS = 8;
const OF_SESSION = 3 + 2 * RECORDS;
/** Different texts. */
const TEXTS = 1 << 16;

/** Text that is written in pieces. */
class Writer {
  readonly #file: number;
  #pending: string[] = [];
  #length = 0;

  constructor(path: string) {
    this.#file = openSync(path, "w");
  }

  write(text: string): void {
    this.#pending.push(text);
    this.#length += text.length;
    if (this.#length > 1 << 20) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    writeSync(this.#file, this.#pending.join(""));
    this.#pending = [];
    this.#length = 0;
  }
}

/** Writes a snapshot with about this many nodes, and returns how many it has. */
export function writeSnapshot(nodes: number, path: string): number {
  const sessions = Math.max(1, Math.floor((nodes - 3) / OF_SESSION));
  const count = 3 + sessions * OF_SESSION;
  const edges = 2 + sessions * (3 + RECORDS * 4);
  const names = ["", "(GC roots)", "global", "Session", "Record", "Array", "(object elements)"];
  const labels = ["sessions", "records", "elements", "text", "session", "1"];
  const at = (label: string): number => names.length + labels.indexOf(label);
  const firstText = names.length + labels.length;
  const out = new Writer(path);
  out.write(`{"snapshot":${JSON.stringify(snapshotPart(count, edges))},\n"nodes":[`);
  let id = 1;
  const node = (type: string, name: number, size: number, edges: number) => {
    const comma = id === 1 ? "" : ",";
    out.write(`${comma}${NODE_TYPES.indexOf(type)},${name},${id},${size},${edges},0,0\n`);
    id += 2;
  };
  node("synthetic", 0, 0, 2);
  node("synthetic", 1, 0, 0);
  node("object", 2, 128, sessions);
  for (let session = 0; session < sessions; session++) {
    node("object", 3, 40, 1);
    node("object", 5, 32, 1);
    node("array", 6, 16 + 8 * RECORDS, RECORDS);
    for (let record = 0; record < RECORDS; record++) {
      node("object", 4, 48, 3);
      node("string", firstText + ((session * RECORDS + record) % TEXTS), 32, 0);
    }
  }
  out.write('],\n"edges":[');
  let isFirst = true;
  const edge = (type: string, name: number, to: number) => {
    const comma = isFirst ? "" : ",";
    out.write(`${comma}${EDGE_TYPES.indexOf(type)},${name},${to * NODE_FIELDS.length}\n`);
    isFirst = false;
  };
  edge("element", 1, 1);
  edge("shortcut", at("1"), 2);
  const first = (session: number): number => 3 + session * OF_SESSION;
  for (let session = 0; session < sessions; session++) edge("element", session, first(session));
  for (let session = 0; session < sessions; session++) {
    const start = first(session);
    edge("property", at("records"), start + 1);
    edge("internal", at("elements"), start + 2);
    for (let record = 0; record < RECORDS; record++)
      edge("element", record, start + 3 + 2 * record);
    for (let record = 0; record < RECORDS; record++) {
      edge("property", at("text"), start + 4 + 2 * record);
      edge("property", at("session"), start);
      edge("property", at("records"), start + 1);
    }
  }
  out.write(
    '],\n"trace_function_infos":[],"trace_tree":[],"samples":[],"locations":[],\n"strings":[',
  );
  out.write([...names, ...labels].map((name) => JSON.stringify(name)).join(",\n"));
  for (let nth = 0; nth < TEXTS; nth++) out.write(`,\n"text of record ${nth}, with a few words"`);
  out.write("]}");
  out.close();
  return count;
}
