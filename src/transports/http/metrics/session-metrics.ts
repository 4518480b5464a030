import type { Counter } from 'prom-client';

import { SHELL_REPLACEMENTS, type ShellReplacement } from '../../../core/metrics/metrics.js';
import { events, type SessionEndReason } from '../../../core/protocol/results.js';
import { type Count, each, type Instruments } from './instruments.js';

/** Metrics of sessions and their shells. */
export class SessionMetrics {
  readonly #opened: Counter<'shell'>;
  readonly #closed: Readonly<Record<SessionEndReason, Count>>;
  readonly #replaced: Readonly<Record<ShellReplacement, Count>>;

  constructor(instruments: Instruments) {
    this.#opened = instruments.counter(
      'sessions_opened_total',
      'Sessions that were opened, those of commands with a terminal of their own included.',
      ['shell'],
    );
    const closed = instruments.counter('sessions_closed_total', 'Sessions that have ended.', ['reason']);
    this.#closed = each(events.session_closed.schema.shape.reason.options, (reason) =>
      instruments.bind(closed, { reason }),
    );
    const replaced = instruments.counter(
      'shell_restarts_total',
      'New shells in a continuing session: the old one ended, or a client requested a reset.',
      ['cause'],
    );
    this.#replaced = each(SHELL_REPLACEMENTS, (cause) => instruments.bind(replaced, { cause }));
  }

  /** Exports the sessions of a shell as 0 until the first one is opened. */
  expect(shell: string): void {
    this.#opened.inc({ shell }, 0);
  }

  /** Counts an opened session. */
  opened(shell: string): void {
    this.#opened.inc({ shell });
  }

  /** Counts the end of a session. */
  closed(reason: SessionEndReason): void {
    this.#closed[reason]();
  }

  /** Counts a new shell in a continuing session. */
  replaced(why: ShellReplacement): void {
    this.#replaced[why]();
  }
}
