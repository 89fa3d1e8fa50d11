/** What the page and its worker say to each other. */
import type { Status } from "../explorer/methods.js";

/** A dump or a heap snapshot, with its module if it has one. */
export interface OpenFile {
  file: File;
  module: File | undefined;
}

export type ToWorker =
  | { kind: "start"; module: Uint8Array<ArrayBuffer>; files: OpenFile[] }
  | { kind: "ask"; id: number; method: string; params: unknown }
  | { kind: "cancel"; id: number };

export type FromWorker =
  | { kind: "status"; status: Status }
  /** The part of the file that is being read which is done, from 0 to 1. */
  | { kind: "progress"; fraction: number }
  | { kind: "answer"; id: number; result: unknown }
  | { kind: "failed"; id: number; code: string; message: string }
  /** The engine did not start. */
  | { kind: "broken"; message: string };
