import { normalizePath } from '../paths/paths.js';

/** File names that denote standard input. */
const STDIN_NAMES = new Set(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']);

/** A file name that denotes an open file descriptor. */
export const DESCRIPTOR = /^\/(?:dev|proc\/[^/]+)\/fd\//;

/** Whether a file name denotes standard input. */
export const isInputName = (name: string | undefined): boolean =>
  name !== undefined && STDIN_NAMES.has(name.startsWith('/') ? normalizePath(name, '/') : name);
