import type { AuditTrail } from '../../core/audit/event.js';
import { Repeats } from '../../core/audit/repeats.js';
import type { ErrorBody } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import type { Metrics } from '../../core/metrics/metrics.js';

/** Where refusals are recorded. */
export interface RefusalRecords {
  readonly audit: AuditTrail;
  readonly metrics: Pick<Metrics, 'connectionRefused'>;
  readonly log: Log;
}

/** Records refused connections and requests: every one in the metrics, the first of a burst in log and audit log. */
export class Refusals {
  readonly #records: RefusalRecords;
  readonly #repeats = new Repeats();

  constructor(records: RefusalRecords) {
    this.#records = records;
  }

  /**
   * Records a refusal.
   * @param peer its key: bursts are told apart by peer and code
   * @param from origin of the connection, for people
   */
  note(peer: string, from: string, { code, message: why }: ErrorBody): void {
    const { audit, metrics, log } = this.#records;
    metrics.connectionRefused(code);
    const repeated = this.#repeats.countOf(`${peer} ${code}`, performance.now());
    if (repeated === undefined) return;
    const details = { why, ...(repeated > 0 && { repeated }) };
    log.warn('a connection was refused', { from, code, ...details });
    audit.record({ event: 'connection_refused', from, outcome: code, details });
  }
}
