/** Opens a file below a folder, while other processes may replace folders by links. */
import { closeSync, constants, fstatSync, openSync, realpathSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type * as api from "../index.js";
import { HeapAnalyzerError } from "./errors.js";
import * as native from "./native.js";
import { callNative } from "./native_errors.js";
import { textPath } from "./paths.js";

export const openBeneath: typeof api.openBeneath = (folder, path) => {
  const from = textPath("folder", folder);
  const to = textPath("path", path);
  const isWindows = sep === "\\";
  const names = to.split(isWindows ? /[\\/]/ : sep);
  if (names.some((name) => ["", ".", ".."].includes(name) || (isWindows && name.includes(":")))) {
    throw new HeapAnalyzerError(
      "ERR_INVALID_ARG_VALUE",
      'argument "path" is not a path below the folder: it has an empty part, "." or ".."',
    );
  }
  return callNative(() => native.openBeneath(from, to)) ?? openChecked(from, to);
};

/** Where no call of the system does it: the path is checked before and after the file is opened. */
function openChecked(folder: string, path: string): number {
  const place = join(folder, path);
  const check = () => {
    if (relative(realpathSync(folder), realpathSync(place)) !== join(path)) {
      throw new HeapAnalyzerError("ERR_INVALID_ARG_VALUE", `a link is in the path ${place}`);
    }
  };
  check();
  const file = openSync(place, constants.O_RDONLY);
  try {
    check();
    const [opened, found] = [fstatSync(file, { bigint: true }), statSync(place, { bigint: true })];
    if (opened.ino !== found.ino || opened.dev !== found.dev) {
      throw new HeapAnalyzerError("ERR_INVALID_ARG_VALUE", `${place} was replaced meanwhile`);
    }
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
