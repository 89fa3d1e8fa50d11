/** The browser of the system. */
import { spawn } from "node:child_process";

/** Opens an address with the program of the system. That there is none is no failure: the address was printed. */
export function showInBrowser(url: string): void {
  const [program, ...before] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler"]
        : ["xdg-open"];
  const started = spawn(program as string, [...before, url], { stdio: "ignore", detached: true });
  started.on("error", () => {});
  started.unref();
}
