import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

import { useDashboard } from '../state/context.js';

/** Value of a cell by which rows are sorted; null is always last. */
type SortValue = string | number | null;

/** Order of a table. */
interface Sort {
  /** Key of a column. */
  readonly key: string;
  readonly isDescending: boolean;
}

/** Parses an order as the address has it: the key of a column, with `-` in front for the highest first. */
export const parseSort = (text: string): Sort =>
  text.startsWith('-') ? { key: text.slice(1), isDescending: true } : { key: text, isDescending: false };

/** Formats an order for the address. */
export const formatSort = ({ key, isDescending }: Sort): string => `${isDescending ? '-' : ''}${key}`;

/** The order after a press on the title of a column: ascending at first, then the other way round. */
export const nextSort = (sort: Sort, key: string): Sort => ({
  key,
  isDescending: sort.key === key && !sort.isDescending,
});

/** Made once: a comparison that has to make it takes ten times as long. */
const COLLATOR = new Intl.Collator('en', { numeric: true });

/** Sorts rows by a value; those of equal value stay in their order. */
export function sorted<T>(rows: readonly T[], valueOf: (row: T) => SortValue, isDescending: boolean): T[] {
  const direction = isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: valueOf(row) }))
    .sort((a, b) => compare(a.value, b.value, direction))
    .map(({ row }) => row);
}

function compare(a: SortValue, b: SortValue, direction: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return (a - b) * direction;
  return COLLATOR.compare(String(a), String(b)) * direction;
}

/** The part of a long list that is in the document. */
interface VirtualWindow {
  /** Index of the first row. */
  readonly from: number;
  /** Index after the last row. */
  readonly to: number;
  /** Height of what is left out above and below, in pixels. */
  readonly above: number;
  readonly below: number;
}

/** What is seen of a list. Sizes are in pixels. */
interface View {
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

/** Rows beyond what is seen, on each side. */
const OVERSCAN = 12;

/** Follows the scrolling of an element; gives the rows that have to be in the document. All rows have one height. */
export function useVirtualWindow(
  rows: number,
  rowHeight: number,
): { readonly ref: RefObject<HTMLDivElement | null>; readonly window: VirtualWindow } {
  const ref = useRef<HTMLDivElement>(null);
  const view = useSignal({ scrollTop: 0, height: 600 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const look = () => {
      view.value = { scrollTop: element.scrollTop, height: element.clientHeight };
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  return { ref, window: windowOf({ ...view.value, rowHeight, rows, overscan: OVERSCAN }) };
}

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
