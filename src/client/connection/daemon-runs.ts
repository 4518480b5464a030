import { ClientError, hasCode } from '../contract/errors.js';

/** Appended to the message of an error, and the reason given for sessions that ended with an earlier run. */
export const RESTARTED = 'the daemon was restarted, and everything of its earlier run has ended';

/** Tracks the runs of the daemon that the connections of one client have led to, by `instance_id`. */
export class DaemonRuns {
  #current: string | undefined;
  #hasRestarted = false;

  /** `instance_id` of the latest run; undefined before the daemon has sent it. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Whether the daemon was restarted since this client connected first. */
  get hasRestarted(): boolean {
    return this.#hasRestarted;
  }

  /** Notes which run a new connection leads to; gives whether it is another one than before. */
  note(instanceId: string): boolean {
    const isOther = this.#current !== undefined && this.#current !== instanceId;
    this.#current = instanceId;
    this.#hasRestarted ||= isOther;
    return isOther;
  }

  /** Says in errors about unknown ids that the daemon was restarted, if it was. */
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
