// Imports of a source, which C reads with an allocator of its own.
import { init, parse } from "es-module-lexer";

export default async () => {
  await init;
  return () => parse("import a from 'a'; export const b = 1;\n".repeat(200));
};
