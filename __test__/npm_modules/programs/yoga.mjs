import Y from "yoga-layout";

const root = Y.Node.create();
root.setWidth(500);
for (let i = 0; i < 50; i++) {
  const n = Y.Node.create();
  n.setFlexGrow(1);
  root.insertChild(n, i);
}
root.calculateLayout(500, 300);
console.log(root.getChild(7).getComputedLayout());
root.freeRecursive();
