import { get_encoding } from "tiktoken";

const e = get_encoding("cl100k_base");
console.log(e.encode("hello world, this is a test ".repeat(20)).length);
e.free();
