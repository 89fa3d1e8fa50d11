/**
 * Debug information as different compilers write it, for a module whose globals an optimiser has
 * removed or moved.
 */

import type { DebugInfoDescription } from "../../dist/asc_transform/description.mjs";
import { encodeDebugSections } from "../../dist/native.js";
import { addCustomSections, readWasmModule, replaceCustomSections } from "./wasm_module.ts";

/**
 * - `transform`: as the project's transform writes it: globals by name, with the values of constants;
 * - `located`: as WARPO writes it: globals by their index, without those that an optimiser removed;
 * - `older`: as older WARPO writes it: globals by name, likewise without those that are gone, and
 *   no inheritance;
 * - `none`: no debug information.
 */
export type DebugInformation = "transform" | "located" | "older" | "none";

export const DEBUG_INFORMATION: DebugInformation[] = ["transform", "located", "older", "none"];

/**
 * The same module with debug information of this kind only.
 *
 * @param named the module with the names of its globals.
 */
export function withDebugInformation(
  named: Uint8Array,
  description: DebugInfoDescription,
  kind: DebugInformation,
): Uint8Array<ArrayBuffer> {
  const bare = replaceCustomSections(named, (name, contents) =>
    name.startsWith("debug_") ? undefined : contents,
  );
  if (kind === "none") return bare;
  const { debugInfo, debugAbbrev, debugStr } = encodeDebugSections(
    JSON.stringify(describe(named, description, kind)),
  );
  return addCustomSections(
    bare,
    new Map([
      ["debug_info", debugInfo],
      ["debug_abbrev", debugAbbrev],
      ["debug_str", debugStr],
    ]),
  );
}

function describe(
  named: Uint8Array,
  description: DebugInfoDescription,
  kind: Exclude<DebugInformation, "none">,
): DebugInfoDescription {
  if (kind === "transform") return description;
  const indexes = new Map(readWasmModule(named).globals.map(({ name, index }) => [name, index]));
  const left = description.globals.filter(({ name }) => indexes.has(name));
  if (kind === "located") {
    const globals = left.map(({ name, of }) => ({ name, of, globalIndex: indexes.get(name) }));
    return { ...description, globals };
  }
  return {
    ...description,
    classes: description.classes.map(({ base: _, ...ofClass }) => ofClass),
    globals: left.map(({ name, of }) => ({ name, of })),
  };
}
