import type { AdapterClient } from '../../client/index.js';

/** Adapts the output of a session for a terminal in raw mode, which does not add carriage returns. */
export class CommandTerminals {
  readonly #client: AdapterClient;
  readonly #sessionId: string;
  /** Whether each command runs on a terminal of its own, which has already processed the line ends. */
  readonly #known = new Map<string, boolean>();

  constructor(client: AdapterClient, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  /** Converts the output of a command for this terminal. */
  async adapt(commandId: string, data: string | Uint8Array): Promise<string | Uint8Array> {
    if (await this.isOnTerminal(commandId)) return data;
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
    const adapted = text.replaceAll(/\r?\n/g, '\r\n');
    return typeof data === 'string' ? adapted : Buffer.from(adapted, 'latin1');
  }

  /** Whether a command runs on a terminal of its own; the first answer is cached. */
  async isOnTerminal(commandId: string): Promise<boolean> {
    const known = this.#known.get(commandId);
    if (known !== undefined) return known;
    const isOnTerminal = await this.#ask(commandId);
    this.#known.set(commandId, isOnTerminal);
    return isOnTerminal;
  }

  async #ask(commandId: string): Promise<boolean> {
    try {
      const { running_command: running } = await this.#client.request('get_session', { session_id: this.#sessionId });
      // A command that has ended already was not a full-screen program, so the answer does not matter.
      return running?.command_id === commandId && running.tty;
    } catch {
      // The session or the connection has ended, which is reported elsewhere.
      return false;
    }
  }
}
