/** The part of a long list that is in the document. */
export interface VirtualWindow {
  /** Index of the first row. */
  readonly from: number;
  /** Index after the last row. */
  readonly to: number;
  /** Height of what is left out above and below, in pixels. */
  readonly above: number;
  readonly below: number;
}

/** What is seen of a list. Sizes are in pixels. */
export interface View {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly rows: number;
  /** Rows beyond what is seen, on each side. */
  readonly overscan: number;
}

/** Computes which rows of a list have to be in the document. */
export function windowOf({ scrollTop, height, rowHeight, rows, overscan }: View): VirtualWindow {
  const last = Math.max(0, rows - Math.ceil(height / rowHeight));
  const first = Math.min(last, Math.max(0, Math.floor(scrollTop / rowHeight)));
  const from = Math.max(0, first - overscan);
  const to = Math.min(rows, first + Math.ceil(height / rowHeight) + 1 + overscan);
  return { from, to, above: from * rowHeight, below: (rows - to) * rowHeight };
}
