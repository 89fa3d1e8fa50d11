// Drawings of graphs, of which nothing is kept.
import { Graphviz } from "@hpcc-js/wasm-graphviz";

export default async () => {
  const graphviz = await Graphviz.load();
  return () => graphviz.layout("digraph { a -> b }");
};
