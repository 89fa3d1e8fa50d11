// A decoder of sounds, which keeps nothing.
import { OpusDecoder } from "opus-decoder";

export default async () => {
  const decoder = new OpusDecoder();
  await decoder.ready;
  return () => decoder.decodeFrame(Uint8Array.of(0xfc, 0xff, 0xfe));
};
