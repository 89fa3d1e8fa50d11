declare const __VERSION__: string;

/** As in `js/version.ts`, by the bundle. */
export const version = __VERSION__;
