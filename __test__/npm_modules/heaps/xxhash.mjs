// C without an allocator, whose memory never grows.
import init from "xxhash-wasm";

const { h32 } = await init();
console.log(JSON.stringify({ hash: h32("some text") }));
