/** A character of a screen, and how it looks. Colours are those of the palette (0 to 255) or `#rrggbb`; without one, the default. */
export interface ScreenCell {
  readonly text: string;
  /** Columns that it takes: 2 for a wide character, 0 for the place behind one. */
  readonly width: number;
  readonly fg?: number | string | undefined;
  readonly bg?: number | string | undefined;
  readonly bold?: true | undefined;
  readonly dim?: true | undefined;
  readonly italic?: true | undefined;
  readonly underline?: true | undefined;
  readonly inverse?: true | undefined;
  readonly strikethrough?: true | undefined;
}

/** What a terminal shows. */
export interface ScreenView {
  /** The lines, without spaces at their ends and without empty lines at the end. */
  readonly text: string;
  readonly rows: number;
  readonly cols: number;
  /** Row and column of the cursor, from 1. */
  readonly cursor: { readonly row: number; readonly col: number };
  /** Whether a full-screen program has switched to the alternate screen. */
  readonly alternate: boolean;
  /** All cells, row by row. */
  readonly cells?: ScreenCell[][] | undefined;
}
