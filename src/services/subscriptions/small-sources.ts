import type { Confirmations } from '../confirmations/confirmations.js';
import type { HostMonitor } from '../machine/host-monitor.js';
import type { LlmCallsPort } from '../ports/llm-calls-port.js';
import { type Feed, limited, type Source, type Subscriber } from './source.js';

/** The open confirmations at the beginning: later ones are sent to every client concerned. */
export class ConfirmationSource implements Source {
  readonly #confirmations: Pick<Confirmations, 'seenBy' | 'describe'>;

  constructor(confirmations: Pick<Confirmations, 'seenBy' | 'describe'>) {
    this.#confirmations = confirmations;
  }

  feed({ principal, sink }: Subscriber): Feed {
    let isFirst = true;
    return () => {
      if (!isFirst) return;
      isFirst = false;
      for (const confirmation of this.#confirmations.seenBy(principal)) {
        sink.send('confirmation_required', this.#confirmations.describe(confirmation, principal));
      }
    };
  }
}

/** The changes of LLM calls. */
export class LlmSource implements Source {
  readonly #calls: LlmCallsPort;

  constructor(calls: LlmCallsPort) {
    this.#calls = calls;
  }

  feed({ principal, sink }: Subscriber): Feed {
    let isFirst = true;
    let revision = 0;
    return () => {
      if (!isFirst && this.#calls.revision === revision) return;
      const { entries, mark } = limited(this.#calls.changedSince(revision, principal));
      revision = this.#calls.revision;
      const complete = isFirst ? { complete: true as const } : {};
      if (isFirst || entries.length > 0) sink.send('llm_changed', { calls: [...entries], ...complete, ...mark });
      isFirst = false;
    };
  }
}

/** The measured values of the machine. */
export class HostSource implements Source {
  readonly #host: Pick<HostMonitor, 'live'>;

  constructor(host: Pick<HostMonitor, 'live'>) {
    this.#host = host;
  }

  feed({ sink }: Subscriber): Feed {
    let last = 0;
    return () => {
      const { number, entry } = this.#host.live();
      if (number === last) return;
      last = number;
      sink.send('host_usage', entry);
    };
  }
}
