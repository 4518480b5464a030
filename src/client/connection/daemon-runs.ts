import { ClientError, hasCode } from '../contract/errors.js';

/** Appended to error messages, and the reason of sessions that ended with an earlier run. */
export const RESTARTED = 'the daemon was restarted, and everything of its earlier run has ended';

/** Tracks the runs of the daemon that one client has been connected to, by `instance_id`. */
export class DaemonRuns {
  #current: string | undefined;
  #hasRestarted = false;

  /** `instance_id` of the latest run; undefined before the daemon has sent it. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Whether the daemon was restarted since this client first connected. */
  get hasRestarted(): boolean {
    return this.#hasRestarted;
  }

  /** Records the run behind a new connection; returns whether it differs from the previous one. */
  note(instanceId: string): boolean {
    const isOther = this.#current !== undefined && this.#current !== instanceId;
    this.#current = instanceId;
    this.#hasRestarted ||= isOther;
    return isOther;
  }

  /** Adds to errors about unknown ids that the daemon was restarted, if it was. */
  async explain<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!this.#hasRestarted || !hasCode(error, 'SESSION_NOT_FOUND', 'COMMAND_NOT_FOUND', 'CONFIRMATION_NOT_FOUND')) {
        throw error;
      }
      const details = { ...error.details, restarted: true };
      throw new ClientError(error.code, `${error.message}: ${RESTARTED}`, { details, cause: error });
    }
  }
}
