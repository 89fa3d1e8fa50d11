/** The class `SiteTable` of the public API: what each place of a program holds, without the heap. */
import type * as api from "../index.js";
import { bytes } from "./bytes.js";
import { HeapAnalyzerError, invalidArgument } from "./errors.js";
import * as native from "./native.js";
import { callNative } from "./native_errors.js";

/** Only this module creates tables. */
const TOKEN = Symbol("site table");

/** The handle of a value that must be a table. Only this package has it. */
export let siteTableHandle: (name: string, value: unknown) => native.SiteTableHandle;

class SiteTable {
  readonly #handle: native.SiteTableHandle;

  constructor(token: symbol, handle: native.SiteTableHandle) {
    if (token !== TOKEN) {
      const message =
        "a SiteTable is made by heap.siteTable() or SiteTable.fromBytes(), not by new";
      throw new HeapAnalyzerError("ERR_INVALID_ARG_TYPE", message);
    }
    this.#handle = handle;
  }

  static fromBytes(written: unknown): SiteTable {
    return new SiteTable(
      TOKEN,
      callNative(() => native.SiteTableHandle.fromBytes(bytes("bytes", written))),
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
    siteTableHandle = (name, value) => {
      if (typeof value !== "object" || value === null || !(#handle in value)) {
        throw invalidArgument(name, "a Heap or a SiteTable", value);
      }
      return value.#handle;
    };
  }
}

const PublicSiteTable = SiteTable as unknown as typeof api.SiteTable;

export { PublicSiteTable as SiteTable };

export function siteTable(handle: native.SiteTableHandle): api.SiteTable {
  return new SiteTable(TOKEN, handle) as unknown as api.SiteTable;
}
