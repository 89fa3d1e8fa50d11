// Images that are never freed.
import { PhotonImage } from "@silvia-odwyer/photon-node";

export default () => {
  globalThis.kept = [];
  const pixels = new Uint8Array(400).fill(7);
  return () => {
    for (let nth = 0; nth < 100; nth++) kept.push(new PhotonImage(pixels, 10, 10));
  };
};
