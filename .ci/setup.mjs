/** Installs the tools that package-lock.json names, if they are not installed. */
import { execSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const INSTALLED = "node_modules/.package-lock.json";

/** The packages of a lock file, by their folder. */
function packages(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}

function isInstalled() {
  if (!existsSync(INSTALLED)) return false;
  const present = packages(INSTALLED);
  const wanted = Object.entries(packages("package-lock.json"));
  // Optional packages are those of other platforms.
  return wanted.every(
    ([path, { version, optional, devOptional, link }]) =>
      path === "" || optional || devOptional || link || present[path]?.version === version,
  );
}

if (!isInstalled()) {
  execSync("npm ci --no-audit --no-fund --loglevel=error", { stdio: "inherit" });
}
