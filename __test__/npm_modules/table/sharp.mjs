// Images of libvips.
import { createRequire } from "node:module";

const sharp = createRequire(import.meta.url)("@img/sharp-wasm32/sharp.node");

export default () => () => sharp.format();
