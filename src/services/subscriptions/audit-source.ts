import { MAX_TICK_RECORDS } from '../../core/protocol/results.js';
import type { AuditLog } from '../audit/audit-log.js';
import type { Feed, Source, Subscriber } from './source.js';

/** New records of the audit log. Only those that are sent are read. */
export class AuditSource implements Source {
  readonly #log: Pick<AuditLog, 'read' | 'lastSeq'>;

  constructor(log: Pick<AuditLog, 'read' | 'lastSeq'>) {
    this.#log = log;
  }

  feed({ sink }: Subscriber): Feed {
    let last: number | undefined;
    let isReading = false;
    let hasFailed = false;
    const sendNew = async () => {
      const after = last;
      const limit = Math.min(MAX_TICK_RECORDS, this.#log.lastSeq - (after ?? 0));
      const { records: read } = limit > 0 ? await this.#log.read({ limit }) : { records: [] };
      const records = read.filter(({ seq }) => seq > (after ?? 0)).reverse();
      last = records.at(-1)?.seq ?? after ?? 0;
      hasFailed = false;
      if (records.length === 0 && after !== undefined) return;
      const skipped = after === undefined ? 0 : last - after - records.length;
      sink.send('audit_records', { records, skipped });
    };
    return async () => {
      if (isReading || this.#log.lastSeq === last) return;
      isReading = true;
      try {
        await sendNew();
      } catch (error) {
        // Each tick tries again; the log has the first failure.
        const isKnown = hasFailed;
        hasFailed = true;
        if (!isKnown) throw error;
      } finally {
        isReading = false;
      }
    };
  }
}
