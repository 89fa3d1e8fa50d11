import R from "@dimforge/rapier3d-compat";

await R.init();
const w = new R.World({ x: 0, y: -9.81, z: 0 });
const b = w.createRigidBody(R.RigidBodyDesc.dynamic().setTranslation(0, 5, 0));
w.createCollider(R.ColliderDesc.ball(0.5), b);
w.createCollider(R.ColliderDesc.cuboid(10, 0.1, 10));
for (let i = 0; i < 200; i++) w.step();
console.log(b.translation().y.toFixed(5));
