// Changes the chunks of the bundle once rolldown has written them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `name=require("id")` for modules of Node.js that take half a millisecond or more of a start each, and that few commands need. Not where
 * `name=toESM(name)` follows, which lists what they export.
 */
const RARELY_USED =
  /(?<![\w$])([\w$]+)=require\("((?:node:)?(?:child_process|fs\/promises|https|readline|tls|zlib))"\)(?=,|;(?!\1=))/g;

/**
 * Writes every character beyond ASCII as its escape, which strings, templates, patterns and names take: chunks are read as Latin-1.
 * And has modules of Node.js loaded when something of them is used.
 */
export function finishChunks(folder) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.cjs'))) {
    const file = join(folder, name);
    const escaped = readFileSync(file, 'utf8').replaceAll(/(?<!\\)((?:\\\\)*)\\?(\P{ASCII})/gu, escapeCharacter);
    writeFileSync(file, escaped.replaceAll(RARELY_USED, '$1=host.loadLazily("$2")'));
  }
}

/** A backslash before such a character means nothing. */
function escapeCharacter(_, backslashes, character) {
  const units = Array.from({ length: character.length }, (_unused, at) => character.charCodeAt(at));
  return `${backslashes}${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}`;
}
