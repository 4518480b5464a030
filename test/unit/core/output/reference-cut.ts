import { type OutputLimits } from '../../../../src/core/output/output-window.js';
import { BEL, decodeAll, ESC, toBytes } from './byte-streams.js';

const LONGEST_SEQUENCE = 256;

const isBetween = (character: string | undefined, low: string, high: string) =>
  character !== undefined && character >= low && character <= high && character.length === 1;

/** Length of the complete escape sequence that starts at `start`, or 0: the grammar read off the standards by hand. */
function sequenceLength(characters: readonly string[], start: number): number {
  const introducer = characters[start + 1];
  if (characters[start] !== ESC || introducer === undefined) return 0;
  let at = start + 2;
  if (introducer === '[') {
    while (isBetween(characters[at], '0', '?')) at++;
    while (isBetween(characters[at], ' ', '/')) at++;
    return isBetween(characters[at], '@', '~') ? at + 1 - start : 0;
  }
  if (']PX^_'.includes(introducer)) {
    while (at < characters.length && !['\n', BEL, ESC].includes(characters[at]!)) at++;
    if (characters[at] === BEL) return at + 1 - start;
    return characters[at] === ESC && characters[at + 1] === '\\' ? at + 2 - start : 0;
  }
  if (isBetween(introducer, ' ', '/')) {
    while (isBetween(characters[at], ' ', '/')) at++;
    return isBetween(characters[at], '0', '~') ? at + 1 - start : 0;
  }
  return isBetween(introducer, '0', '~') ? 2 : 0;
}

/** Start and end of the sequence that a cut before `cut` falls inside, or the cut itself twice. */
function outward(characters: readonly string[], cut: number): readonly [start: number, end: number] {
  for (let start = 0; start < cut;) {
    const length = sequenceLength(characters, start);
    if (start + length > cut && length <= LONGEST_SEQUENCE) return [start, start + length];
    start += Math.max(1, length);
  }
  return [cut, cut];
}

/** Offset of the byte at which a character starts, found by decoding prefixes. */
function byteOffset(bytes: Uint8Array, character: number): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Array.from(decodeAll(bytes.subarray(0, middle + 1))).length <= character) low = middle + 1;
    else high = middle;
  }
  return low;
}

const marker = (leftOut: number, total: number, hint: string) =>
  `[... ${leftOut.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} characters left out; ${hint} ...]\n`;

/** What `OutputWindow` must give for a stream: by decoding all of it and cutting an array of characters. */
export function referenceCut(bytes: Uint8Array, limits: OutputLimits, hint: string) {
  const characters = Array.from(decodeAll(bytes));
  const total = characters.length;
  if (total <= limits.maxSize) return { text: characters.join(''), bytes, truncated: false };
  const [begin] = outward(characters, limits.beginSize);
  const [, end] = outward(characters, total - limits.endSize);
  const head = characters.slice(0, begin).join('');
  const lineFeed = head === '' || head.endsWith('\n') ? '' : '\n';
  const middle = `${lineFeed}${marker(end - begin, total, hint)}`;
  return {
    text: `${head}${middle}${characters.slice(end).join('')}`,
    get bytes() {
      const headBytes = bytes.subarray(0, byteOffset(bytes, begin));
      const tailBytes = bytes.subarray(byteOffset(bytes, end));
      return Buffer.concat([headBytes, toBytes(middle), tailBytes]);
    },
    truncated: true,
  };
}
