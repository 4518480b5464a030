import { availableParallelism, totalmem } from 'node:os';

import type { Answer } from '../../core/protocol/requests.js';
import { KeptResult } from './kept-result.js';

/** Result of one check. */
export type MachineCheck = Answer<'examine_machine'>['checks'][number];

/** Examines the machine that the daemon runs on. */
export class Machine {
  readonly #examination: KeptResult<Answer<'examine_machine'>>;

  /** @param examine runs all checks; passed in, because they know the whole engine */
  constructor(examine: () => Promise<readonly MachineCheck[]>) {
    this.#examination = new KeptResult(async () => ({
      checks: [...(await examine())],
      checked_at: new Date().toISOString(),
    }));
  }

  /** Returns what was measured in the last hour. */
  history(): Answer<'host_history'> {
    return {
      interval_ms: 10_000,
      at: [],
      cpu_percent: [],
      load1: [],
      memory_used_bytes: [],
      disk_used_bytes: [],
      net_rx_bytes_s: [],
      net_tx_bytes_s: [],
      sessions: [],
      commands_running: [],
      daemon_rss_bytes: [],
      memory_bytes: totalmem(),
      disk_bytes: null,
      cpus: availableParallelism(),
    };
  }

  /** Runs all checks, or returns a recent result. */
  examine(): Promise<Answer<'examine_machine'>> {
    return this.#examination.get();
  }
}
