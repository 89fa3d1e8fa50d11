/** Facts about the system that the tests run on. */

/** It has no `sh`, no named pipes among its files, no signals that a program can handle, no modes. */
export const WINDOWS = process.platform === "win32";

export const LINUX = process.platform === "linux";
