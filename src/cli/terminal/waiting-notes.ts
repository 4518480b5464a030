import type { AdapterClient, EventPayload } from '../../client/index.js';
import { onOneLine } from '../console/style.js';

/** Longest reason that is printed, in characters. */
const MAX_REASON = 200;

/** Names of the deciders other than this client, for messages. */
const DECIDERS = {
  operator: 'an operator',
  llm: 'the reviewing model',
} as const;

/** A pending confirmation that this client cannot decide. */
export type Wait = Pick<EventPayload<'confirmation_required'>, 'confirmation_id' | 'kind' | 'command_id'>;

/** Display of pending confirmations. */
export interface WaitingDisplay {
  /** Whether the confirmation belongs to this program. */
  readonly isOwn: (asked: EventPayload<'confirmation_required'>) => boolean;
  /** Prints one line. */
  readonly note: (text: string) => void;
  /** Starts a new line; the current one may contain typed text. */
  readonly beginLine?: () => void;
  /** Called when a wait starts. The returned object is disposed when the wait ends. */
  readonly onWait?: (wait: Wait) => Disposable;
}

/**
 * Shows that a command or typed input waits for an operator or a model, and that it was confirmed. A rejection is
 * reported as an error elsewhere.
 */
export function showWaits(client: AdapterClient, { isOwn, note, beginLine, onWait }: WaitingDisplay): Disposable {
  const waits = new Map<string, Disposable | undefined>();
  const subscriptions = [
    client.on('confirmation_required', (asked) => {
      const { confirmation_id: id, kind, requires, reasons, class: name } = asked;
      if (requires === 'self' || waits.has(id) || !isOwn(asked)) return;
      waits.set(id, onWait?.(asked));
      if (kind === 'input') beginLine?.();
      const what = kind === 'input' ? 'what was typed' : 'the command';
      note(`waiting for ${DECIDERS[requires]} to confirm ${what} (${name}); Ctrl-C cancels`);
      for (const reason of reasons) note(`  ${onOneLine(reason, MAX_REASON)}`);
      if (requires === 'operator')
        note(`  operators confirm by: shell-adapter confirm --watch --url ${client.url}, with a token of their own`);
    }),
    client.on('confirmation_resolved', ({ confirmation_id: id, outcome, decided_by: by }) => {
      if (!waits.has(id)) return;
      const wait = waits.get(id);
      waits.delete(id);
      if (outcome === 'approved') note(`confirmed by ${onOneLine(by ?? 'another client', MAX_REASON)}`);
      wait?.[Symbol.dispose]();
    }),
  ];
  return {
    [Symbol.dispose]: () => {
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const wait of waits.values()) wait?.[Symbol.dispose]();
      waits.clear();
    },
  };
}
