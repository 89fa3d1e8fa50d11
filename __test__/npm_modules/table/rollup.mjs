// The parser of Rollup, which keeps nothing.
import { parseAst } from "@rollup/wasm-node/parseAst";

export default () => () => parseAst("export const a = 1;");
