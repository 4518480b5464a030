import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import type { Outcome } from './direct-run.js';
import { INTERRUPT_MARK, type Program } from './program.js';

/** Characters of a result; programs print less. */
const OUTPUT_SIZE = 10_000_000;

/** Sessions of every shell, in which programs run one after the other. */
export class SessionRuns implements AsyncDisposable {
  /** Directory in which programs start. */
  readonly directory: string;
  readonly #daemon: TestDaemon;
  readonly #client: WireClient;
  readonly #sessions = new Map<string, string>();
  #count = 0;

  private constructor(daemon: TestDaemon, client: WireClient) {
    this.directory = daemon.workspace;
    this.#daemon = daemon;
    this.#client = client;
  }

  /** Starts a daemon that soon replaces a shell which no longer answers. */
  static async start(): Promise<SessionRuns> {
    const daemon = await TestDaemon.start({
      settings: { adapter: { command_max_lifetime: 10, wedge_timeout: 1, kill_grace: 0.5 } },
    });
    return new SessionRuns(daemon, await WireClient.connect(daemon.url));
  }

  /** Runs a program in the session of its shell; throws when the session does not answer exactly afterwards. */
  async run({ shell, text, tty, isInterrupted }: Program): Promise<Outcome> {
    const session_id = await this.#sessionOf(shell);
    const command_id = `fuzz-${(this.#count += 1)}`;
    const running = this.#client.run(text, session_id, {
      command_id,
      tty,
      stream: isInterrupted,
      cwd: this.directory,
      ...(!tty && { stdin: '' }),
      output: { encoding: 'base64', max_size: OUTPUT_SIZE },
    });
    if (isInterrupted) await this.#interrupt(command_id);
    const { error, stdout, exit_code } = await running;
    if (error) throw new Error(`the command was answered with ${error.code}: ${error.message}`);
    await this.#expectExact(shell, session_id);
    this.#client.events.length = 0;
    return { stdout: Buffer.from(stdout, 'base64'), exitCode: exit_code ?? -1 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    await this.#daemon[Symbol.asyncDispose]();
  }

  async #sessionOf(shell: string): Promise<string> {
    const known = this.#sessions.get(shell);
    if (known !== undefined) return known;
    const opened = await this.#client.openSession({ shell });
    this.#sessions.set(shell, opened);
    return opened;
  }

  /** Sends Ctrl-C once the command has printed the mark; one that ends before that is not interrupted. */
  async #interrupt(command_id: string): Promise<void> {
    const isOver = () => this.#client.all('command_finished').some((event) => event.command_id === command_id);
    const hasMark = () => {
      const events = this.#client.all('command_output').filter((event) => event.command_id === command_id);
      return Buffer.concat(events.map(({ data }) => Buffer.from(data as Uint8Array))).includes(INTERRUPT_MARK);
    };
    await this.#client.until(() => (isOver() || hasMark() ? true : undefined));
    if (!isOver()) await this.#client.request('signal_command', { command_id, signal: 'SIGINT' });
  }

  /** What a program has left may change names and options, but never shift, mix or lose the next result. */
  async #expectExact(shell: string, session_id: string): Promise<void> {
    const word = `next-${this.#count}`;
    const { stdout, exit_code } = await this.#client.run(`/bin/echo ${word}`, session_id);
    if (stdout === `${word}\n` && exit_code === 0) return;
    throw new Error(`the next command of the ${shell} gave ${JSON.stringify({ stdout, exit_code })}`);
  }
}
