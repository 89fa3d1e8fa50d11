/** The class `PlaceTable` of the public API: what each place of a program holds, without the heap. */
import type * as api from "../index.js";
import { bytes } from "./bytes.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import * as native from "./native.js";
import { callNative } from "./native_errors.js";

/** Only this module creates tables. */
const TOKEN = Symbol("place table");

/** The handle of a value that must be a table. Only this package has it. */
export let placeTableHandle: (name: string, value: unknown) => native.PlaceTableHandle;

class PlaceTable {
  readonly #handle: native.PlaceTableHandle;

  constructor(token: symbol, handle: native.PlaceTableHandle) {
    if (token !== TOKEN) {
      const message =
        "a PlaceTable is made by heap.placeTable() or PlaceTable.fromBytes(), not by new";
      throw new HeapAnalyzerError("ERR_INVALID_ARG_TYPE", message);
    }
    this.#handle = handle;
  }

  static fromBytes(written: unknown): PlaceTable {
    return new PlaceTable(
      TOKEN,
      callNative(() => native.PlaceTableHandle.fromBytes(bytes("bytes", written))),
    );
  }

  get name() {
    return callNative(() => this.#handle.name);
  }

  get totalLiveSize() {
    return callNative(() => this.#handle.totalLiveSize);
  }

  toBytes() {
    return callNative(() => this.#handle.toBytes());
  }

  static {
    placeTableHandle = (name, value) => {
      if (typeof value !== "object" || value === null || !(#handle in value)) {
        throw invalidArgument(name, "a Heap or a PlaceTable", value);
      }
      return value.#handle;
    };
  }
}

const PublicPlaceTable = PlaceTable as unknown as typeof api.PlaceTable;

export { PublicPlaceTable as PlaceTable };

export function placeTable(handle: native.PlaceTableHandle): api.PlaceTable {
  return new PlaceTable(TOKEN, handle) as unknown as api.PlaceTable;
}
