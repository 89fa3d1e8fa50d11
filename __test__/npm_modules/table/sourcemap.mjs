// Consumers of source maps that are never destroyed. Rust parses their mappings.
import { SourceMapConsumer } from "source-map";

export default () => {
  globalThis.kept = [];
  const map = { version: 3, sources: ["a.js"], names: [], mappings: "AAAA;AACA" };
  return async () => {
    for (let nth = 0; nth < 100; nth++) {
      const consumer = await new SourceMapConsumer(map);
      consumer.originalPositionFor({ line: 2, column: 0 });
      kept.push(consumer);
    }
  };
};
