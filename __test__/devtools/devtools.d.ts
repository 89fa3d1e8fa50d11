/** Modules that `vite.config.mts` finds. */
declare module "devtools:*";
