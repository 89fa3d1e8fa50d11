/**
 * `just page`: the explorer's page from vite's server, which reloads it after every edit of js/report. The analyzer in
 * dist/ answers it. Arguments are those of the command `open`; without any, the dumps of `npm run demo`.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { createServer } from "vite";

const DEMO = ["before.dump", "after.dump", "--wasm", "server.wasm"].map((option) =>
  option.startsWith("--") ? option : `build/leaky-server/${option}`,
);
const HTML = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Heap report</title></head>
<body><script type="module" src="/report/page.ts"></script></body>
</html>
`;

const given = process.argv.slice(2);
const options = ["open", "--no-browser", ...(given.length > 0 ? given : DEMO)];
const analyzer = spawn(process.execPath, ["dist/heap_analyzer/cli.js", ...options], {
  stdio: ["ignore", "pipe", "inherit"],
});
analyzer.on("exit", (status) => process.exit(status ?? 1));
process.on("exit", () => analyzer.kill());
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));

for await (const line of createInterface({ input: analyzer.stdout })) {
  const address = /http:\S+/.exec(line)?.[0];
  if (address === undefined) continue;
  const { origin, search } = new URL(address);
  const server = await createServer({
    configFile: false,
    root: "js",
    clearScreen: false,
    plugins: [
      {
        name: "page",
        configureServer: ({ middlewares, transformIndexHtml }) => {
          middlewares.use(async (request, response, next) => {
            if (!/^\/(\?|$)/.test(request.url)) return next();
            response.setHeader("Content-Type", "text/html; charset=utf-8");
            response.end(await transformIndexHtml(request.url, HTML));
          });
        },
      },
    ],
    server: {
      host: "127.0.0.1",
      // The analyzer refuses questions that come from pages of others.
      proxy: {
        "/ask": {
          target: origin,
          changeOrigin: true,
          configure: (proxy) =>
            proxy.on("proxyReq", (request) => {
              for (const name of ["origin", "referer", "sec-fetch-site"])
                request.removeHeader(name);
            }),
        },
      },
    },
  });
  await server.listen();
  console.log(`${server.resolvedUrls?.local[0]}${search}`);
}
