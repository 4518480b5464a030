/**
 * Whether the same request may be sent again after an error:
 * - `later`: nothing was done, and the same request may succeed later;
 * - `changed`: nothing was done, and the same request fails again until the next step was taken;
 * - `check`: something may have been done: look before the request is repeated.
 */
type Retry = 'later' | 'changed' | 'check';

/** What the documentation and the transports know about an error code. */
export interface ErrorEntry {
  /** What the code means: one sentence or more. */
  readonly meaning: string;
  /** Status over HTTP. */
  readonly status: number;
  readonly retry: Retry;
  /** What the client or its user does next. */
  readonly next: string;
}

/** Checks the entries of a table of error codes, and keeps the codes as its type. */
export const defineErrors = <Code extends string>(entries: Readonly<Record<Code, ErrorEntry>>) => entries;
