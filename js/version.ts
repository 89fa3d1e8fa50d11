const manifest = require("../package.json") as { version: string };

/** The version of this package. */
export const version = manifest.version;
