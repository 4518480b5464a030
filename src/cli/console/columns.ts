import stringWidth from 'fast-string-width';

/** Space between two columns. */
const GAP = '  ';

/**
 * Formats rows as lines with aligned columns; the last column is not padded. Width is measured in terminal columns:
 * wide characters occupy two.
 */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell))));
  return rows.map((row) => {
    const cells = row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - stringWidth(cell)));
    return cells.join(GAP).trimEnd();
  });
}
