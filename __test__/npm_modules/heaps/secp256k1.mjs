// Rust without an allocator.
import { isPoint } from "tiny-secp256k1";

console.log(JSON.stringify({ isPoint: Number(isPoint(new Uint8Array(33))) }));
