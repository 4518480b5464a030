import { EGRESS_OUTCOMES, type EgressOutcome } from '../../../core/metrics/metrics.js';
import { type Count, each, type Instruments } from './instruments.js';

/** Metrics of connections out of sandboxes with an allow-list. */
export class EgressCounters {
  readonly #connections: Readonly<Record<EgressOutcome, Count>>;
  readonly #bytes: Readonly<Record<'sent' | 'received', Count>>;

  constructor(instruments: Instruments) {
    const connections = instruments.counter(
      'egress_connections_total',
      'Connections that programs in a sandbox with an allow-list wanted, by outcome.',
      ['outcome'],
    );
    this.#connections = each(EGRESS_OUTCOMES, (outcome) => instruments.bind(connections, { outcome }));
    const bytes = instruments.counter(
      'egress_bytes_total',
      'Bytes of ended connections out of sandboxes, by direction as the sandbox sees it.',
      ['direction'],
    );
    this.#bytes = each(['sent', 'received'], (direction) => instruments.bind(bytes, { direction }));
  }

  /** Counts a connection. */
  connected(outcome: EgressOutcome): void {
    this.#connections[outcome]();
  }

  /** Adds the bytes of an ended connection. */
  transferred(sentBytes: number, receivedBytes: number): void {
    this.#bytes.sent(sentBytes);
    this.#bytes.received(receivedBytes);
  }
}
