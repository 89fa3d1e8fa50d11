// Exports of a source, which C reads without an allocator.
import { init, parse } from "cjs-module-lexer";

export default async () => {
  await init();
  return () => parse("exports.a = 1; exports.b = 2;");
};
