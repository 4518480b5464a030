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

  /** Runs all checks, or returns a recent result. */
  examine(): Promise<Answer<'examine_machine'>> {
    return this.#examination.get();
  }
}
