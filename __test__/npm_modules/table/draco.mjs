// Decoders of meshes that are never destroyed.
import draco from "draco3d";

export default async () => {
  const { Decoder } = await draco.createDecoderModule({});
  globalThis.kept = [];
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new Decoder());
  };
};
