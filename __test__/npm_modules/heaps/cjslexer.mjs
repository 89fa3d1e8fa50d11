// C without an allocator: the host makes the memory larger, and writes the source behind static data.
import { init, parse } from "cjs-module-lexer";

await init();
console.log(JSON.stringify({ exports: parse("exports.a = 1; exports.b = 2;").exports.length }));
