// Bundles dist/cli.mjs. It contains the code that it shares with the analyzer; packages stay imports.

import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

const HERE = import.meta.dirname;

/** In a clone, the package finds the analyzer through a link, where npm would install it. */
const linked: Plugin = {
  name: "link-analyzer",
  closeBundle() {
    const link = join(HERE, "node_modules/@warpo/heap-analyzer");
    if (existsSync(link)) return;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(resolve(HERE, "../.."), link, "junction");
  },
};

export default defineConfig({
  logLevel: "warn",
  root: HERE,
  plugins: [linked],
  build: {
    lib: { entry: "src/cli.mts", formats: ["es"], fileName: () => "cli.mjs" },
    rollupOptions: {
      external: [/^node:/, /^@modelcontextprotocol\//, /^@warpo\//, /^vscode-jsonrpc/],
    },
    target: "node20",
    outDir: "dist",
    minify: false,
  },
});
