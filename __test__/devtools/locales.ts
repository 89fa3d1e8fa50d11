/** What the build of DevTools writes into `front_end/core/i18n/locales.js`: here one language. */
export const LOCALES = ["en-US"];
export const BUNDLED_LOCALES = ["en-US"];
export const DEFAULT_LOCALE = "en-US";
export const REMOTE_FETCH_PATTERN = "";
export const LOCAL_FETCH_PATTERN = "";
