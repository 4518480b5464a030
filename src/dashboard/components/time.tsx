import type { JSX } from 'preact';

import { formatDateTime, formatDuration, formatRelative } from '../format.js';
import { useDashboard } from '../state/context.js';

/** A point in time by its distance, such as `12 s ago`; the full time is its title. */
export function Ago({ at }: { readonly at: string }): JSX.Element {
  const { clock, live } = useDashboard();
  const time = Date.parse(at);
  const now = clock.now.value + live.clockOffset.value;
  return (
    <time dateTime={at} title={formatDateTime(time)}>
      {formatRelative(time, now)}
    </time>
  );
}

/** How long something has run. */
export function Since({ at }: { readonly at: string }): JSX.Element {
  const { clock, live } = useDashboard();
  const now = clock.now.value + live.clockOffset.value;
  // Whole seconds: tenths that change once a second say nothing.
  const seconds = Math.max(0, Math.floor((now - Date.parse(at)) / 1000));
  return <time dateTime={at}>{seconds < 10 ? `${seconds} s` : formatDuration(seconds * 1000)}</time>;
}
