import sm from "source-map";

const g = new sm.SourceMapGenerator({ file: "o.js" });
for (let i = 0; i < 500; i++)
  g.addMapping({
    generated: { line: i + 1, column: i % 7 },
    source: "a.js",
    original: { line: i + 1, column: 0 },
  });
const c = await new sm.SourceMapConsumer(g.toJSON());
console.log(JSON.stringify(c.originalPositionFor({ line: 250, column: 5 })));
c.destroy();
