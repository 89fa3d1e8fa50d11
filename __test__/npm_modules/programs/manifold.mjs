import Module from "manifold-3d";

const w = await Module();
w.setup();
const { Manifold } = w;
const m = Manifold.cube([1, 1, 1]).add(Manifold.sphere(0.6, 32));
console.log(m.volume().toFixed(6), m.numTri());
