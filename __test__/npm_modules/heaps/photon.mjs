// Images of Rust, which JavaScript keeps. Constants of its code look like the address of an allocator.
import { PhotonImage } from "@silvia-odwyer/photon-node";

const pixels = new Uint8Array(100 * 100 * 4).fill(7);
const kept = Array.from({ length: 30 }, () => new PhotonImage(pixels, 100, 100));
console.log(JSON.stringify({ images: kept.length }));
