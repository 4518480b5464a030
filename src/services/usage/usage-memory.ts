import type { SessionInfo } from '../../core/protocol/results.js';
import type { LiveUsage } from '../limits/limit-listener.js';

/** What a session uses and the most that it has used, in wire format. */
export interface RememberedUsage {
  readonly usage: SessionInfo['usage'];
  readonly peaks: SessionInfo['peaks'];
}

const NOTHING: RememberedUsage = {
  usage: null,
  peaks: { cpu_percent: 0, memory_bytes: 0, processes: 0, written_bytes: 0 },
};

/** Remembers the last sample of sessions, and their peaks. A session that was never sampled takes no memory. */
export class UsageMemory {
  readonly #known = new Map<string, RememberedUsage>();

  /** The last sample and the peaks of a session. The same object is returned until something has changed. */
  of(sessionId: string): RememberedUsage {
    return this.#known.get(sessionId) ?? NOTHING;
  }

  /** Notes a sample. */
  note(sessionId: string, usage: LiveUsage): void {
    const { peaks } = this.of(sessionId);
    const used = renderUsage(usage);
    this.#known.set(sessionId, {
      usage: { ...used, at: new Date().toISOString() },
      peaks: {
        cpu_percent: Math.max(peaks.cpu_percent, used.cpu_percent),
        memory_bytes: Math.max(peaks.memory_bytes, used.memory_bytes),
        processes: Math.max(peaks.processes, used.processes),
        written_bytes: Math.max(peaks.written_bytes, used.written_bytes),
      },
    });
  }

  /** Notes that nothing runs in a session any more. */
  noteIdle(sessionId: string): void {
    const { usage, peaks } = this.of(sessionId);
    if (usage) this.#known.set(sessionId, { usage: null, peaks });
  }

  /** Handles the end of a session. */
  forget(sessionId: string): void {
    this.#known.delete(sessionId);
  }
}

/** Renders usage for the wire. */
export const renderUsage = ({ cpuPercent, memoryBytes, tasks, writtenBytes }: LiveUsage): RememberedUsage['peaks'] => ({
  cpu_percent: Math.round(cpuPercent * 10) / 10,
  memory_bytes: memoryBytes,
  processes: tasks,
  written_bytes: writtenBytes,
});
