import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { useDashboard } from '../../state/context.js';
import { formatSort, nextSort, parseSort, type Sort, sorted, type SortValue } from './sort.js';
import { useVirtualWindow } from './use-virtual-window.js';

/** Height of a row in pixels, as in components.css. */
const ROW_HEIGHT = 36;
/** Rows above which only those in sight are in the document. */
const VIRTUAL_ROWS = 200;

/** A column of a table. */
export interface Column<T> {
  readonly key: string;
  readonly title: string;
  readonly render: (row: T) => ComponentChildren;
  /** Left out for a column that cannot be sorted by. */
  readonly sortBy?: (row: T) => SortValue;
  readonly isNumeric?: boolean;
}

interface DataTableProps<T> {
  /** What the table is, for screen readers. */
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  /** The order without one in the address, as `sort.ts` writes it. */
  readonly initialSort: string;
  /** Name of the order in the query of the address, when a page has several tables. */
  readonly sortName?: string;
  /** Class of a row. */
  readonly classOf?: (row: T) => string;
}

/** A table with rows that keep their elements, sorting in the address, and virtual rows above 200. */
export function DataTable<T>(props: DataTableProps<T>): JSX.Element {
  const { label, rows, columns, keyOf, sortName = 'sort' } = props;
  const { router } = useDashboard();
  const sort = parseSort(router.route.value.query[sortName] ?? props.initialSort);
  const sortBy = columns.find(({ key }) => key === sort.key)?.sortBy;
  const ordered = sortBy ? sorted(rows, sortBy, sort.isDescending) : rows;
  const isVirtual = ordered.length > VIRTUAL_ROWS;
  const { ref, window } = useVirtualWindow(ordered.length, ROW_HEIGHT);
  const { from, to, above, below } = isVirtual ? window : { from: 0, to: ordered.length, above: 0, below: 0 };
  const onSort = (key: string) => {
    router.setQuery({ [sortName]: formatSort(nextSort(sort, key)) });
  };
  return (
    <div ref={ref} class={`table-panel${isVirtual ? ' virtual' : ''}`} tabIndex={0} role="region" aria-label={label}>
      <table aria-rowcount={ordered.length + 1}>
        <TableHead columns={columns} sort={sort} onSort={onSort} />
        <tbody>
          <Spacer height={above} />
          {ordered.slice(from, to).map((row, index) => (
            <Row key={keyOf(row)} row={row} columns={columns} index={from + index} className={props.classOf?.(row)} />
          ))}
          <Spacer height={below} />
        </tbody>
      </table>
    </div>
  );
}

interface RowProps<T> {
  readonly row: T;
  readonly columns: readonly Column<T>[];
  readonly index: number;
  readonly className: string | undefined;
}

/** A row. It is rendered again only when its entry has changed. */
function Row<T>({ row, columns, index, className }: RowProps<T>): JSX.Element {
  return useMemo(
    () => (
      <tr class={className} aria-rowindex={index + 2}>
        {columns.map(({ key, render, isNumeric }) => (
          <td key={key} class={isNumeric ? 'numeric' : undefined}>
            {render(row)}
          </td>
        ))}
      </tr>
    ),
    [row, columns, index, className],
  );
}

interface TableHeadProps<T> {
  readonly columns: readonly Column<T>[];
  readonly sort: Sort;
  readonly onSort: (key: string) => void;
}

function TableHead<T>({ columns, sort, onSort }: TableHeadProps<T>): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map(({ key, title, sortBy, isNumeric }) => (
          <th key={key} scope="col" class={isNumeric ? 'numeric' : undefined} aria-sort={orderOf(sort, key)}>
            {sortBy ? (
              <button type="button" class="sort" onClick={() => onSort(key)}>
                {title}
              </button>
            ) : (
              title
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function orderOf(sort: Sort, key: string): 'ascending' | 'descending' | undefined {
  if (sort.key !== key) return undefined;
  return sort.isDescending ? 'descending' : 'ascending';
}

const Spacer = ({ height }: { readonly height: number }): JSX.Element | null =>
  height === 0 ? null : (
    <tr aria-hidden="true">
      <td style={{ height: `${height}px`, padding: 0 }} />
    </tr>
  );
