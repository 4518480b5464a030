import type { IUnicodeVersionProvider, Terminal } from '@xterm/headless';
import { eastAsianWidth } from 'get-east-asian-width';

type Width = 0 | 1 | 2;

/** Characters that take no column of their own: combining marks, formats, the jamo that join others. The soft hyphen is seen. */
const TAKES_NO_COLUMN = /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]$/u;

/** Where the properties of xterm.js have the width, and whether a character joins the one before. */
const WIDTH_BIT = 1;
const WIDTH_MASK = 3;

/** Has a terminal use the widths of today: xterm.js itself knows those of Unicode 6. The terminal allows proposed API. */
export function useCurrentWidths({ unicode }: Pick<Terminal, 'unicode'>): void {
  const widths = new CharacterWidths();
  unicode.register(widths);
  unicode.activeVersion = widths.version;
}

/** The widths of characters in columns, by the Unicode of this browser and of the package. */
class CharacterWidths implements IUnicodeVersionProvider {
  readonly version = 'current';
  /** Those of characters beyond Latin-1 that were seen. */
  readonly #known = new Map<number, Width>();

  /** The width of a character in columns. */
  wcwidth(codepoint: number): Width {
    if (codepoint < 0x300) return codepoint < 0x20 || (codepoint >= 0x7f && codepoint < 0xa0) ? 0 : 1;
    const known = this.#known.get(codepoint);
    if (known !== undefined) return known;
    const width = TAKES_NO_COLUMN.test(String.fromCodePoint(codepoint)) ? 0 : eastAsianWidth(codepoint);
    this.#known.set(codepoint, width);
    return width;
  }

  /** The properties of a character after another one, as xterm.js packs them. */
  charProperties(codepoint: number, preceding: number): number {
    const width = this.wcwidth(codepoint);
    const before = (preceding >> WIDTH_BIT) & WIDTH_MASK;
    const isJoined = width === 0 && before !== 0;
    return ((isJoined ? before : width) << WIDTH_BIT) | Number(isJoined);
  }
}
