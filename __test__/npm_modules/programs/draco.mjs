import d from "draco3d";

const m = await d.createEncoderModule();
const e = new m.Encoder();
const mb = new m.MeshBuilder();
const mesh = new m.Mesh();
mb.AddFacesToMesh(mesh, 2, [0, 1, 2, 0, 2, 3]);
mb.AddFloatAttributeToMesh(
  mesh,
  m.POSITION,
  4,
  3,
  new Float32Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]),
);
const a = new m.DracoInt8Array();
console.log(e.EncodeMeshToDracoBuffer(mesh, a));
