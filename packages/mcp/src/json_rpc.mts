/** JSON-RPC over the standard streams, with the headers of the Language Server Protocol: for extensions of editors. */
import { Channel } from "./channel.mts";
import { HeaderFraming } from "./frames.mts";
import { Outlet } from "./outlet.mts";
import type { Served } from "./served.mts";

/** Serves until the client goes away. Fails after a broken header: the beginning of the next message is not known. */
export async function serveJsonRpc(served: Served): Promise<void> {
  const outlet = new Outlet(process.stdout, () => {});
  const channel = new Channel(served, (message, isReport) => {
    const text = JSON.stringify(message);
    outlet.send(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`, isReport);
  });
  try {
    await outlet.serve(process.stdin, new HeaderFraming(), (frame) => channel.receive(frame));
  } finally {
    channel.close();
    process.stdin.destroy();
  }
}
