const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Whether a JSON text nests arrays and objects in more than `maxDepth` levels. The text need not be valid. `JSON.parse`
 * takes any depth, but what walks the value afterwards, as `JSON.stringify` does, runs out of stack.
 */
export function isNestedDeeper(json: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (CLOSING.has(code)) depth -= 1;
    else if (OPENING.has(code) && ++depth > maxDepth) return true;
  }
  return false;
}

/** Index of the quote that ends the string which begins at `start`; the length of the text when none does. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
}
