// A decoder of sounds, which keeps nothing.
import { MPEGDecoder } from "mpg123-decoder";

export default async () => {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return () => decoder.decode(new Uint8Array(100));
};
