/**
 * Packages of npm that run WebAssembly in Node, and what must be said of them. The driver of each does the work of its package,
 * and does it again in each round.
 */
export interface Row {
  name: string;
  driver: string;
  /** Which instance, if the package makes several. */
  instance?: number;
  answer: Answer;
  /** Why the answer is wrong today: then the test fails as soon as it is right. */
  wrong?: string;
}

export type Answer =
  /** Each round keeps at least `blocks` blocks, and `growth` names them. Objects of the class `holder` hold some of them. */
  | { kind: "leak"; blocks: number; holder?: string }
  /** Blocks are found, and `growth` names none. */
  | { kind: "steady" }
  /** The module has no allocator. */
  | { kind: "none" }
  /** The heap is not read; the message says why. */
  | { kind: "refused"; reason: string };

const WEE_ALLOC = "wee_alloc in the module, whose heap is not read";

/** Most downloads first. */
export const ROWS: Row[] = [
  {
    name: "source-map",
    driver: "sourcemap",
    answer: { kind: "leak", blocks: 100, holder: "BasicSourceMapConsumer" },
  },
  {
    name: "es-module-lexer",
    driver: "esmlexer",
    answer: { kind: "none" },
    wrong:
      "an allocator that only moves a pointer is not recognised, and the refusal does not say so",
  },
  { name: "cjs-module-lexer", driver: "cjslexer", answer: { kind: "none" } },
  {
    name: "@shikijs/engine-oniguruma",
    driver: "shiki",
    answer: { kind: "leak", blocks: 100, holder: "OnigScanner" },
  },
  { name: "@one-ini/wasm", driver: "oneini", answer: { kind: "refused", reason: WEE_ALLOC } },
  { name: "@electric-sql/pglite", driver: "pglite", answer: { kind: "leak", blocks: 100 } },
  {
    name: "esbuild-wasm",
    driver: "esbuild",
    answer: { kind: "refused", reason: "a program of Go" },
    wrong: "the refusal does not say that it is a program of Go",
  },
  {
    name: "yoga-layout",
    driver: "yoga",
    answer: { kind: "leak", blocks: 100, holder: "{P, O, count}" },
  },
  {
    name: "@dimforge/rapier3d-compat",
    driver: "rapier",
    answer: { kind: "leak", blocks: 100, holder: "s" },
  },
  {
    name: "meshoptimizer",
    driver: "meshopt",
    answer: { kind: "none" },
    wrong:
      "an allocator that only moves a pointer is not recognised, and the refusal does not say so",
  },
  { name: "xxhash-wasm", driver: "xxhash", answer: { kind: "none" } },
  { name: "@img/sharp-wasm32", driver: "sharp", answer: { kind: "steady" } },
  { name: "draco3d", driver: "draco", answer: { kind: "leak", blocks: 100, holder: "g" } },
  {
    name: "web-tree-sitter",
    driver: "treesitter",
    instance: 1,
    answer: { kind: "leak", blocks: 100, holder: "_Tree" },
  },
  {
    name: "@astrojs/compiler",
    driver: "astro",
    answer: { kind: "refused", reason: "a program of Go" },
    wrong: "the refusal does not say that it is a program of Go",
  },
  {
    name: "libsodium-wrappers",
    driver: "sodium",
    answer: { kind: "leak", blocks: 100, holder: "Array" },
  },
  {
    name: "yoga-wasm-web",
    driver: "yogaweb",
    answer: { kind: "leak", blocks: 100, holder: "{O, N, count}" },
  },
  {
    name: "vscode-oniguruma",
    driver: "oniguruma",
    answer: { kind: "leak", blocks: 100, holder: "u" },
  },
  {
    name: "@swc/wasm",
    driver: "swc",
    answer: { kind: "leak", blocks: 100 },
    wrong: "growth names a part of the blocks that it keeps",
  },
  { name: "@prisma/prisma-fmt-wasm", driver: "prismafmt", answer: { kind: "steady" } },
  {
    name: "@silvia-odwyer/photon-node",
    driver: "photon",
    answer: { kind: "leak", blocks: 100, holder: "PhotonImage" },
  },
  { name: "@rollup/wasm-node", driver: "rollup", answer: { kind: "steady" } },
  {
    name: "tiktoken",
    driver: "tiktoken",
    answer: { kind: "leak", blocks: 100, holder: "Tiktoken" },
  },
  { name: "onnxruntime-web", driver: "onnx", answer: { kind: "leak", blocks: 20 } },
  {
    name: "canvaskit-wasm",
    driver: "canvaskit",
    answer: { kind: "leak", blocks: 100, holder: "{Qd, Md, count}" },
  },
  { name: "zstddec", driver: "zstddec", answer: { kind: "steady" } },
  { name: "hash-wasm", driver: "hashwasm", answer: { kind: "none" } },
  {
    name: "brotli-wasm",
    driver: "brotli",
    answer: { kind: "leak", blocks: 100, holder: "CompressStream" },
  },
  { name: "tiny-secp256k1", driver: "secp256k1", answer: { kind: "none" } },
  {
    name: "@resvg/resvg-wasm",
    driver: "resvg",
    answer: { kind: "leak", blocks: 100, holder: "Resvg2" },
  },
  { name: "sql.js", driver: "sqljs", answer: { kind: "leak", blocks: 100 } },
  {
    name: "libheif-js",
    driver: "libheif",
    answer: { kind: "leak", blocks: 100, holder: "{ptrType, ptr, count}" },
  },
  { name: "opus-decoder", driver: "opus", answer: { kind: "steady" } },
  { name: "mpg123-decoder", driver: "mpg123", answer: { kind: "steady" } },
  {
    name: "binaryen",
    driver: "binaryen",
    answer: { kind: "leak", blocks: 100, holder: "Ar.A.Module" },
  },
  { name: "pyodide", driver: "pyodide", answer: { kind: "leak", blocks: 100 } },
  { name: "@sqlite.org/sqlite-wasm", driver: "sqlite", answer: { kind: "leak", blocks: 100 } },
  { name: "quickjs-emscripten", driver: "quickjs", answer: { kind: "leak", blocks: 100 } },
  {
    name: "@polkadot/wasm-crypto",
    driver: "polkadot",
    answer: { kind: "refused", reason: WEE_ALLOC },
  },
  {
    name: "@dqbd/tiktoken",
    driver: "dqbd",
    answer: { kind: "leak", blocks: 100, holder: "Tiktoken" },
  },
  { name: "@duckdb/duckdb-wasm", driver: "duckdb", answer: { kind: "leak", blocks: 100 } },
  {
    name: "html-rewriter-wasm",
    driver: "htmlrewriter",
    answer: { kind: "leak", blocks: 100, holder: "HTMLRewriter" },
  },
  {
    name: "parquet-wasm",
    driver: "parquet",
    answer: { kind: "leak", blocks: 100, holder: "WriterPropertiesBuilder" },
  },
  { name: "@tensorflow/tfjs-backend-wasm", driver: "tfjs", answer: { kind: "leak", blocks: 100 } },
  {
    name: "ghostty-web",
    driver: "ghostty",
    answer: { kind: "refused", reason: "found no allocator that can be read" },
  },
  { name: "@hpcc-js/wasm-graphviz", driver: "graphviz", answer: { kind: "steady" } },
  { name: "lightningcss-wasm", driver: "lightningcss", answer: { kind: "leak", blocks: 100 } },
  { name: "mupdf", driver: "mupdf", answer: { kind: "leak", blocks: 100 } },
  { name: "argon2-browser", driver: "argon2", answer: { kind: "steady" } },
  {
    name: "manifold-3d",
    driver: "manifold",
    answer: { kind: "leak", blocks: 100, holder: "{ptrType, ptr, count}" },
  },
  {
    name: "@fluffylabs/anan-as",
    driver: "anan",
    answer: { kind: "leak", blocks: 100, holder: "Internref" },
  },
  { name: "box2d-wasm", driver: "box2d", answer: { kind: "leak", blocks: 20, holder: "v" } },
];
