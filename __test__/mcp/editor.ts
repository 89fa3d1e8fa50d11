/** An editor that asks the server over JSON-RPC. */
import { spawn } from "node:child_process";
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { SERVER, type Structured } from "./client.ts";

/** Starts a server for the dumps of a folder. */
export function editorOf(root: string) {
  const child = spawn(process.execPath, [SERVER, "serve", "--stdio", "--root", root], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const editor = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  editor.listen();
  return {
    ask: async (method: string, args: object): Promise<Structured> =>
      await editor.sendRequest(method, args),
    end: () => {
      editor.dispose();
      child.kill("SIGKILL");
    },
  };
}
