import type { BytePath } from '../../../core/checkpoints/entry.js';

/** The bytes of a path. */
export const toBytes = (path: BytePath): Buffer => Buffer.from(path, 'latin1');

/** The path as a text; bytes that are not UTF-8 show as U+FFFD. */
export const toText = (path: BytePath): string => toBytes(path).toString('utf8');

/** The path whose bytes are the UTF-8 of a text. */
export const fromText = (text: string): BytePath => Buffer.from(text, 'utf8').toString('latin1');
