// Builders of properties that are never freed.
import { createRequire } from "node:module";

const { WriterPropertiesBuilder } = createRequire(import.meta.url)("parquet-wasm/node");

export default () => {
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) {
      kept.push(new WriterPropertiesBuilder().setCreatedBy("a".repeat(100)));
    }
  };
};
