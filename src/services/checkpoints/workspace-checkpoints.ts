import type { Principal } from '../../core/principal.js';
import type { Execution, Executions } from '../executions.js';
import type { Checkpoints } from './checkpoints.js';

/** The checkpoints of each user: a workspace is read and written with the rights of the user whose commands change it. */
export class WorkspaceCheckpoints {
  readonly #executions: Executions;
  readonly #build: (execution: Execution) => Checkpoints;
  readonly #known = new WeakMap<Execution, Checkpoints>();

  constructor(executions: Executions, build: (execution: Execution) => Checkpoints) {
    this.#executions = executions;
    this.#build = build;
    // A restore that was interrupted is completed at the start.
    this.#for(executions.own);
  }

  /**
   * Returns the checkpoints of a principal's user.
   * @throws AdapterError USER_UNAVAILABLE for a user that was not prepared
   */
  of(principal: Principal): Checkpoints {
    return this.#for(this.#executions.of(principal));
  }

  /** The newest checkpoint that a principal may compare with, as far as it is known; null if none is. */
  newestFor(principal: Principal): string | null {
    try {
      return this.of(principal).newest.of(principal);
    } catch {
      // A user that was not prepared has made no request yet.
      return null;
    }
  }

  #for(execution: Execution): Checkpoints {
    let checkpoints = this.#known.get(execution);
    if (!checkpoints) this.#known.set(execution, (checkpoints = this.#build(execution)));
    return checkpoints;
  }
}
