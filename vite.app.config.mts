// Bundles the worker of the page that needs no installation: dist/app_worker.js, for .ci/app.mjs.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const file = (name: string) => fileURLToPath(new URL(`js/app/${name}`, import.meta.url));

const { version } = JSON.parse(readFileSync("package.json", "utf8"));

export default defineConfig({
  define: { __VERSION__: JSON.stringify(version) },
  logLevel: "warn",
  resolve: {
    alias: [
      { find: /^\.{1,2}\/native\.js$/, replacement: file("native.ts") },
      { find: /^\.{1,2}\/version\.js$/, replacement: file("version.ts") },
      { find: /^node:.*$/, replacement: file("node.ts") },
    ],
  },
  build: {
    lib: {
      entry: "js/app/worker.ts",
      formats: ["iife"],
      name: "worker",
      fileName: () => "app_worker.js",
    },
    target: "es2023",
    outDir: "build/app",
    emptyOutDir: false,
    minify: true,
  },
});
