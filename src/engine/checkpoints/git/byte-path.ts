import type { BytePath } from '../../../core/checkpoints/entry.js';

/** Returns the bytes of a path. */
export const toBytes = (path: BytePath): Buffer => Buffer.from(path, 'latin1');

/** Returns the path as text; bytes that are not UTF-8 become U+FFFD. */
export const toText = (path: BytePath): string => toBytes(path).toString('utf8');

/** Returns the path whose bytes are the UTF-8 of a text. */
export const fromText = (text: string): BytePath => Buffer.from(text, 'utf8').toString('latin1');
