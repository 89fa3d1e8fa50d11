// Rust whose first segment begins between two words.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { WriterPropertiesBuilder } = require("parquet-wasm/node");
const kept = Array.from({ length: 40 }, () =>
  new WriterPropertiesBuilder().setCreatedBy("a".repeat(100)),
);
console.log(JSON.stringify({ builders: kept.length, read: readFileSync === undefined ? 0 : 1 }));
