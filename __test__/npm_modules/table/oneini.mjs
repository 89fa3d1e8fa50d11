// A file of settings, which Rust reads with wee_alloc.
import { parse_to_json } from "@one-ini/wasm";

export default () => () => parse_to_json("[*]\nindent_style = tab\n".repeat(50));
