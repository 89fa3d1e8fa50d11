/** The version of this package, which is that of the analyzer. */
import manifest from "../package.json" with { type: "json" };

export const { version } = manifest;
