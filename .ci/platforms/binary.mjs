/** What a binary asks of a system: libraries, versions and symbols. LLVM's tools, which rustup has, read all formats. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { LEAST_GLIBC, LEAST_MACOS } from "./list.mjs";

/** Libraries that every system of a platform has. */
const OF_THE_SYSTEM = {
  gnu: /^(lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-.*)$/,
  musl: /^libc\.so$/,
  "Mach-O":
    /^\/(usr\/lib\/lib(System|iconv|charset)\.[\w.]*dylib|System\/Library\/Frameworks\/CoreFoundation\.framework\/.*)$/,
  // ucrtbase's parts are in Windows since 10.
  PE: /^(api-ms-win-[\w-]+|kernel32|ntdll|advapi32|ws2_32|userenv|bcrypt\w*|synchronization|msvcrt|ucrtbase|dbghelp)\.dll$/i,
};

/** The function by which Node starts an addon. */
export const ENTRY = "napi_register_module_v1";

/**
 * What is wrong with a binary; nothing if it will load.
 * @param {import("./list.mjs").Platform} platform
 * @returns {string[]}
 */
export function faults(platform, file) {
  const { format, name } = platform;
  const system = format === "ELF" ? name.split("-").at(-1) : format;
  const found = libraries(file, format)
    .filter((library) => !OF_THE_SYSTEM[system].test(library))
    .map((library) => `needs ${library}`);
  if (!exports(file, format)) found.push(`does not export ${ENTRY}`);
  if (system === "gnu") {
    const newest = newestGlibc(file);
    if (compare(newest, LEAST_GLIBC) > 0) found.push(`needs glibc ${newest}`);
  }
  if (format === "Mach-O") found.push(...faultsOfMacOS(file, name));
  return found;
}

function libraries(file, format) {
  if (format === "PE") {
    return [...read("readobj", "--coff-imports", file).matchAll(/^ {2}Name: (.*)$/gm)].map(
      ([, library]) => library,
    );
  }
  if (format === "Mach-O") {
    // The first one is the name of this library itself.
    const [, ...used] = read("objdump", "--macho", "--dylibs-used", file).trim().split("\n");
    const own = new RegExp(`${file.split("/").at(-1)}|libwarpo_heap_analyzer`);
    return used.map((line) => line.trim().split(" ")[0]).filter((library) => !own.test(library));
  }
  const list = /NeededLibraries \[([^\]]*)\]/.exec(read("readobj", "--needed-libs", file));
  return list[1].trim().split(/\s+/);
}

function exports(file, format) {
  if (format === "PE")
    return read("readobj", "--coff-exports", file).includes(`Name: ${ENTRY}\n`);
  const symbols = format === "ELF" ? ["--dynamic"] : [];
  return read("nm", ...symbols, "--defined-only", "--extern-only", file).includes(ENTRY);
}

function newestGlibc(file) {
  const versions = read("readobj", "--version-info", file).match(/(?<=GLIBC_)[\d.]+/g) ?? ["0"];
  return versions.sort(compare).at(-1);
}

/** The oldest macOS and, on arm64, the signature without which the system ends the process. */
function faultsOfMacOS(file, name) {
  const commands = read("objdump", "--macho", "--private-headers", file);
  const least = /(?:minos|LC_VERSION_MIN_MACOSX\n.*\n +version) ([\d.]+)/.exec(commands)?.[1];
  const found = [];
  if (least === undefined || compare(least, LEAST_MACOS) > 0) found.push(`needs macOS ${least}`);
  if (name === "darwin-arm64" && !commands.includes("LC_CODE_SIGNATURE")) found.push("no signature");
  return found;
}

function compare(one, other) {
  return one.localeCompare(other, "en", { numeric: true });
}

let tools;
function read(tool, ...options) {
  tools ??= toolsFolder();
  const limits = { encoding: "utf8", maxBuffer: 2 ** 28 };
  return execFileSync(join(tools, `llvm-${tool}`), options, limits);
}

function toolsFolder() {
  const asked = (...options) => execFileSync("rustc", options, { encoding: "utf8" });
  const host = /^host: (.*)$/m.exec(asked("-vV"))[1];
  return join(asked("--print", "sysroot").trim(), "lib/rustlib", host, "bin");
}
