import { Graphviz } from "@hpcc-js/wasm-graphviz";

const g = await Graphviz.load();
console.log(g.dot("digraph{a->b;b->c;a->c}").length);
