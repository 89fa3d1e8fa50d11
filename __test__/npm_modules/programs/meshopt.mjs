import { MeshoptEncoder, MeshoptSimplifier } from "meshoptimizer";

await MeshoptEncoder.ready;
await MeshoptSimplifier.ready;
const v = new Float32Array(300).map((_, i) => Math.sin(i));
console.log(MeshoptEncoder.encodeVertexBuffer(new Uint8Array(v.buffer), 100, 12).length);
