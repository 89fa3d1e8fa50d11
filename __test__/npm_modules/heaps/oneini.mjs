// Rust with wee_alloc.
import { parse_to_json } from "@one-ini/wasm";

const text = "[*]\nindent_style = tab\n".repeat(50);
console.log(JSON.stringify({ sections: Object.keys(parse_to_json(text)).length }));
