// A layout engine of C++ with emmalloc. Its nodes are held by JavaScript.
import Yoga from "yoga-layout";

const root = Yoga.Node.create();
for (let nth = 0; nth < 300; nth++) {
  const child = Yoga.Node.create();
  child.setFlexGrow(1);
  root.insertChild(child, nth);
}
root.calculateLayout(500, 300);
console.log(JSON.stringify({ nodes: 301 }));
