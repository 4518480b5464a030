import type { Column } from '../table/data-table.js';
import type { OnNode } from './nodes.js';

/** Columns of a table, with the node of each entry at a place. For a cluster only. */
export const withNodes = <T extends OnNode>(columns: readonly Column<T>[], index = 1): readonly Column<T>[] =>
  columns.toSpliced(index, 0, {
    key: 'node',
    title: 'Node',
    sortBy: ({ node }) => node ?? null,
    render: ({ node }) => node,
  });
