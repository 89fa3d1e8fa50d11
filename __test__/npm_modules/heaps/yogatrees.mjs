// 150 trees of six nodes, which JavaScript keeps.
import Yoga from "yoga-layout";

globalThis.kept = Array.from({ length: 150 }, () => {
  const root = Yoga.Node.create();
  for (let nth = 0; nth < 5; nth++) root.insertChild(Yoga.Node.create(), nth);
  root.calculateLayout(100, 100);
  return root;
});
console.log(JSON.stringify({ roots: kept.length }));
