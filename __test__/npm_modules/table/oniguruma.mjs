// Scanners of regular expressions that are never disposed.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";

export default async () => {
  const file = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
  await oniguruma.loadWASM(readFileSync(file));
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new oniguruma.OnigScanner([`a{${nth + 1}}`]));
  };
};
