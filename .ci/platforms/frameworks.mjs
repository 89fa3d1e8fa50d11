/**
 * What zig lacks for macOS: it has the system's libraries, and no frameworks. The time zone of the crate `chrono`, on which
 * `parquet` depends, calls these functions of CoreFoundation, which every Mac has. A stub names them for the linker.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NAME = "CoreFoundation";
const FUNCTIONS = [
  "CFRelease",
  "CFStringGetBytes",
  "CFStringGetCString",
  "CFStringGetCStringPtr",
  "CFStringGetLength",
  "CFTimeZoneCopySystem",
  "CFTimeZoneGetName",
];

/** Writes the stub where a folder would have it that is an SDK of Apple's, and returns the folder. */
export function stubOfFrameworks(folder) {
  const framework = join(folder, `System/Library/Frameworks/${NAME}.framework`);
  mkdirSync(framework, { recursive: true });
  const targets = "[ x86_64-macos, arm64-macos ]";
  const symbols = FUNCTIONS.map((name) => `_${name}`).join(", ");
  const lines = [
    "--- !tapi-tbd",
    "tbd-version: 4",
    `targets: ${targets}`,
    `install-name: '/System/Library/Frameworks/${NAME}.framework/Versions/A/${NAME}'`,
    "exports:",
    `  - targets: ${targets}`,
    `    symbols: [ ${symbols} ]`,
    "...",
  ];
  writeFileSync(join(framework, `${NAME}.tbd`), `${lines.join("\n")}\n`);
  return folder;
}
