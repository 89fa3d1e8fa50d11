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
  /** Each round keeps so many blocks or more, which `growth` names; with a holder, JavaScript of this class holds some. */
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
  { name: "xxhash-wasm", driver: "xxhash", answer: { kind: "none" } },
  { name: "@img/sharp-wasm32", driver: "sharp", answer: { kind: "steady" } },
  { name: "draco3d", driver: "draco", answer: { kind: "leak", blocks: 100, holder: "g" } },
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
    name: "tiktoken",
    driver: "tiktoken",
    answer: { kind: "leak", blocks: 100, holder: "Tiktoken" },
  },
  { name: "sql.js", driver: "sqljs", answer: { kind: "leak", blocks: 100 } },
  {
    name: "binaryen",
    driver: "binaryen",
    answer: { kind: "leak", blocks: 100, holder: "Ar.A.Module" },
  },
  {
    name: "quickjs-emscripten",
    driver: "quickjs",
    answer: { kind: "leak", blocks: 100 },
  },
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
  {
    name: "@tensorflow/tfjs-backend-wasm",
    driver: "tfjs",
    answer: { kind: "leak", blocks: 100 },
  },
  { name: "@hpcc-js/wasm-graphviz", driver: "graphviz", answer: { kind: "steady" } },
];
