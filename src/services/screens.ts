import type { Principal } from '../core/principal.js';
import { AdapterError } from '../core/errors.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import { dependsOnMode, sequenceOf } from '../core/keys.js';
import type { Command } from '../engine/command/command.js';
import { Screen, type ScreenSize } from '../engine/output/screen.js';
import { assertKept, type CommandRecord } from './registry/command-record.js';
import type { CommandRegistry } from './registry/command-registry.js';
import type { SessionRegistry } from './registry/session-registry.js';

/** Most screens that are kept; the one that was looked at longest ago goes first. */
const MAX_SCREENS = 32;
/** How long a screen is kept after the last look, in milliseconds. The next look draws it again. */
const KEPT_MS = 60_000;
/** Size of a terminal that is not known any more. */
const DEFAULT_SIZE: ScreenSize = { cols: 80, rows: 24 };

/** What a request looks at: a command, or the newest one of a session. */
type Target = Pick<Request<'read_screen'>, 'session_id' | 'command_id'>;

/** A screen that is looked at again and again. */
export interface FollowedScreen {
  readonly command: Command;
  /**
   * Draws what was printed since the last look.
   * @throws AdapterError OUTPUT_EXPIRED
   */
  readonly draw: () => Promise<Pick<Screen, 'lines' | 'fingerprint' | 'view'>>;
}

interface Kept {
  readonly screen: Promise<Screen>;
  readonly timer: NodeJS.Timeout;
}

/** The screens of commands with a terminal. They cost nothing until they are read. */
export class Screens implements Disposable {
  readonly #commands: CommandRegistry;
  readonly #sessions: SessionRegistry;
  /** By command; the one that was looked at last comes last. */
  readonly #kept = new Map<string, Kept>();

  constructor(commands: CommandRegistry, sessions: SessionRegistry) {
    this.#commands = commands;
    this.#sessions = sessions;
  }

  /**
   * Reads the screen of a command.
   * @throws AdapterError COMMAND_NOT_FOUND, SESSION_NOT_FOUND; NO_RUNNING_COMMAND when it has no terminal; OUTPUT_EXPIRED
   */
  async read(request: Request<'read_screen'>, principal: Principal): Promise<Answer<'read_screen'>> {
    const record = this.#find(request, principal);
    const screen = await this.#draw(record);
    const { command } = record;
    return { command_id: command.id, running: command.outcome === undefined, ...screen.view(request.cells === true) };
  }

  /**
   * Follows the screen of a command, or of the newest one of a session at this moment.
   * @throws AdapterError as `read`
   */
  follow(target: Target, principal: Principal): FollowedScreen {
    // Beside a command, the session that a request names may be that of something else.
    const { command_id, session_id } = target;
    const record = this.#find(command_id === undefined ? { session_id } : { command_id }, principal);
    return { command: record.command, draw: () => this.#draw(record) };
  }

  /**
   * Puts the text of keys behind the text to type.
   * @throws AdapterError INVALID_REQUEST for an unknown key, and for keys beside bytes
   */
  async withKeys(request: Request<'send_input'>, principal: Principal): Promise<Request<'send_input'>> {
    const { keys = [], data = '', ...rest } = request;
    if (typeof data !== 'string' || rest.offset !== undefined) {
      throw new AdapterError(
        'INVALID_REQUEST',
        'send_input: keys go to a terminal: give no bytes and no offset beside them',
        {
          details: { field: 'keys' },
        },
      );
    }
    const isApplication = keys.some(dependsOnMode) && (await this.#hasApplicationKeys(request, principal));
    return { ...rest, data: data + keys.map((key) => sequenceOf(key, isApplication)).join('') };
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#kept.keys()]) this.#drop(id);
  }

  /** False for a command without a terminal: what follows says so. */
  async #hasApplicationKeys(target: Target, principal: Principal): Promise<boolean> {
    const record = this.#candidate(target, principal);
    return record?.command.spec.tty === true && (await this.#draw(record)).hasApplicationKeys;
  }

  #find(target: Target, principal: Principal): CommandRecord {
    const record = this.#candidate(target, principal);
    if (record?.command.spec.tty === true) return record;
    const what = target.command_id ?? `what runs, or ran last, in session ${String(target.session_id)}`;
    throw new AdapterError(
      'NO_RUNNING_COMMAND',
      `${what} has no terminal, and so no screen: run a command with \`tty: true\``,
      { details: { command_id: record?.command.id ?? null } },
    );
  }

  #candidate({ command_id: commandId, session_id }: Target, principal: Principal) {
    if (commandId !== undefined) return this.#commands.get(commandId, principal, 'see', session_id);
    const { id: sessionId, session, owner } = this.#sessions.get(session_id ?? '', principal, 'see');
    const { running } = session;
    return running ? this.#commands.find(running.id, owner.id) : this.#commands.lastEndedOf(sessionId, owner.id);
  }

  async #draw(record: CommandRecord): Promise<Screen> {
    const { stdout } = record.command;
    if (stdout.bytes > 0) assertKept(stdout, stdout.bytes - 1);
    const size = record.host?.session?.session.terminal.size ?? DEFAULT_SIZE;
    const screen = await this.#keep(record.command, size);
    await screen.draw(size);
    return screen;
  }

  #keep(command: Command, size: ScreenSize): Promise<Screen> {
    const { id } = command;
    const known = this.#kept.get(id);
    if (known) {
      this.#kept.delete(id);
      this.#kept.set(id, known);
      known.timer.refresh();
      return known.screen;
    }
    const timer = setTimeout(() => {
      this.#drop(id);
    }, KEPT_MS).unref();
    const screen = Screen.of(command.stdout, size);
    this.#kept.set(id, { screen, timer });
    // One that could not be made is made again by the next request.
    screen.catch(() => {
      this.#drop(id);
    });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_SCREENS && oldest !== undefined) this.#drop(oldest);
    return screen;
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id);
    if (!kept) return;
    this.#kept.delete(id);
    clearTimeout(kept.timer);
    kept.screen.then(
      (screen) => {
        screen[Symbol.dispose]();
      },
      // The request that asked for the screen got the error: there is nothing to dispose of.
      () => undefined,
    );
  }
}
