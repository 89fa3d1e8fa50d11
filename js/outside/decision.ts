// Whether a target is read from outside, or through its inspector.

import { statSync } from "node:fs";
import { findOpenInspector } from "../attach/endpoint.js";
import type { Patience } from "../inspector/connection.js";
import type { OutsideTarget } from "./ask.js";

/** What the caller chose. */
export interface OutsideChoice {
  /** Read from outside, also if the inspector is open. */
  outside: boolean;
  /** Use the inspector, and open it if it is not. */
  inspector: boolean;
  patience: Patience;
}

/** The target to read from outside; undefined if its inspector is to be used. */
export async function outsideTarget(
  target: string | number,
  { outside, inspector, patience }: OutsideChoice,
): Promise<OutsideTarget | undefined> {
  const isProcess = typeof target === "number" || /^\d+$/.test(target);
  if (!isProcess) {
    return isFile(target) ? { kind: "core", path: target } : undefined;
  }
  if (inspector && !outside) return undefined;
  const pid = Number(target);
  const isPossible = Number.isSafeInteger(pid) && pid > 0 && pid < 2 ** 31;
  if (!isPossible || process.platform !== "linux") return undefined;
  if (!outside && (await findOpenInspector(pid, patience)) !== undefined) return undefined;
  return { kind: "process", pid };
}

/** Whether a text is the path of a file. One that cannot be a path is none. */
function isFile(text: string): boolean {
  try {
    return statSync(text).isFile();
  } catch {
    return false;
  }
}
