/**
 * The platforms that have a binary, with what builds each of them on Linux. All are linked by zig, which brings the
 * libraries of C of every system.
 *
 * @typedef {object} Platform
 * @property {string} name In the words of napi-rs: the folder in `npm`, and the end of the package's name.
 * @property {string} target As `napi.targets` of `package.json` names it.
 * @property {string} rust The target that is compiled. Node-API is an interface of C, so that a Node that MSVC built loads a
 *   binary of MinGW. MSVC's own libraries may not be passed on, and are not on a Linux machine.
 * @property {"ELF" | "PE" | "Mach-O"} format
 */

/** The oldest glibc that a binary may need: of 2012, so that Amazon Linux 2 and RHEL 7 load it. */
export const LEAST_GLIBC = "2.17";
/** The oldest macOS. Rust asks for 10.12 on x64. */
export const LEAST_MACOS = "11.0";

/** @type {Platform[]} */
export const PLATFORMS = [
  ["linux-x64-gnu", "x86_64-unknown-linux-gnu", "x86_64-unknown-linux-gnu", "ELF"],
  ["linux-x64-musl", "x86_64-unknown-linux-musl", "x86_64-unknown-linux-musl", "ELF"],
  ["linux-arm64-gnu", "aarch64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "ELF"],
  ["linux-arm64-musl", "aarch64-unknown-linux-musl", "aarch64-unknown-linux-musl", "ELF"],
  ["darwin-x64", "x86_64-apple-darwin", "x86_64-apple-darwin", "Mach-O"],
  ["darwin-arm64", "aarch64-apple-darwin", "aarch64-apple-darwin", "Mach-O"],
  ["win32-x64-msvc", "x86_64-pc-windows-msvc", "x86_64-pc-windows-gnu", "PE"],
  ["win32-arm64-msvc", "aarch64-pc-windows-msvc", "aarch64-pc-windows-gnullvm", "PE"],
].map(([name, target, rust, format]) => ({ name, target, rust, format }));

/** The platforms of these names or targets; all without one. An unknown name ends the program. */
export function chosenPlatforms(names) {
  if (names.length === 0) return PLATFORMS;
  return names.map((name) => {
    const found = PLATFORMS.find((platform) => [platform.name, platform.target].includes(name));
    if (found !== undefined) return found;
    const known = PLATFORMS.map((platform) => platform.name).join(", ");
    console.error(`error: unknown platform ${name}; expected ${known}`);
    return process.exit(2);
  });
}

/** Where a build puts the binary of a platform, and `npm run assemble` finds it. */
export function binaryOf({ name, target }) {
  return `artifacts/binary-${target}/warpo-heap-analyzer.${name}.node`;
}

/** Prints rows below their headings. */
export function printTable(rows) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  for (const row of rows) {
    console.log(row.map((cell, i) => cell.padEnd(widths[i])).join("  ").trimEnd());
  }
}
