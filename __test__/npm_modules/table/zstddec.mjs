// A decoder, which keeps nothing.
import { ZSTDDecoder } from "zstddec";

export default async () => {
  const decoder = new ZSTDDecoder();
  await decoder.init();
  return () => decoder.decode(Buffer.from("28b52ffd200109000061", "hex"), 1);
};
