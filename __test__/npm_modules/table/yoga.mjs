// Nodes of a layout that are never freed.
import Yoga from "yoga-layout";

export default () => {
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(Yoga.Node.create());
  };
};
