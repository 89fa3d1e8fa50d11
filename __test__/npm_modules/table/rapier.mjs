// Worlds of physics that are never freed.
import rapier from "@dimforge/rapier3d-compat";

export default async () => {
  await rapier.init();
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new rapier.World({ x: 0, y: -9.81, z: 0 }));
  };
};
