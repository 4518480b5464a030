import type { AdapterClient, EventPayload } from '../../client/index.js';
import { onOneLine } from '../console/style.js';

/** Longest reason that is shown, in characters. */
const MAX_REASON = 200;

/** Who decides instead of this client. */
const DECIDERS = {
  operator: 'an operator',
  llm: 'the reviewing model',
} as const;

/** A wait for a confirmation that this client cannot give. */
export type Wait = Pick<EventPayload<'confirmation_required'>, 'confirmation_id' | 'kind' | 'command_id'>;

/** What is shown of waits. */
export interface WaitingDisplay {
  /** Whether the wait is one of this program. */
  readonly isOwn: (asked: EventPayload<'confirmation_required'>) => boolean;
  /** Shows one line. */
  readonly note: (text: string) => void;
  /** Begins a new line; typed text may stand in the present one. */
  readonly beginLine?: () => void;
  /** Called when a wait begins. What it gives is disposed when the wait is over. */
  readonly onWait?: (wait: Wait) => Disposable;
}

/** Shows that a command or typed input waits for an operator or a model, and that it was confirmed. A refusal is an error elsewhere. */
export function showWaits(client: AdapterClient, { isOwn, note, beginLine, onWait }: WaitingDisplay): Disposable {
  const waits = new Map<string, Disposable | undefined>();
  const forget = [
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
      if (outcome === 'approved') note(`confirmed by ${onOneLine(by ?? 'somebody else', MAX_REASON)}`);
      wait?.[Symbol.dispose]();
    }),
  ];
  return {
    [Symbol.dispose]: () => {
      for (const stop of forget) stop();
      for (const wait of waits.values()) wait?.[Symbol.dispose]();
      waits.clear();
    },
  };
}
