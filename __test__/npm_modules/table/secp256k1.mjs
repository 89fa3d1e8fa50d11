// Points of a curve; the module has no allocator.
import { isPoint } from "tiny-secp256k1";

export default () => () => isPoint(new Uint8Array(33));
