import type { Principal } from '../../core/access/principal.js';
import type { Request } from '../../core/protocol/requests.js';
import type { Warning } from '../../engine/command/outcome.js';
import { refusesSyntax } from '../../engine/shells/syntax-check.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { Executions } from '../users/executions.js';

/** A text that its shell cannot parse, and the program to run in its place. */
export interface RefusedText {
  /** The shell, as it parses the text again and executes nothing: stderr and the exit code are the shell's own. */
  readonly program: { readonly command: string; readonly args: string[] };
  readonly warnings: readonly Warning[];
}

/** Finds commands that need no confirmation because their shell rejects their syntax. */
export class SyntaxGuard {
  readonly #executions: Pick<Executions, 'of'>;

  constructor(executions: Pick<Executions, 'of'>) {
    this.#executions = executions;
  }

  /**
   * Returns what to run instead of a text that its shell rejects; undefined for every other request. The text itself
   * must not be run even then: a shell executes the lines before the one that it cannot parse, and options of a session
   * may make it parse more.
   */
  async refusal(
    { command, args }: Pick<Request<'execute_command'>, 'command' | 'args'>,
    session: SessionRecord | undefined,
    principal: Principal,
  ): Promise<RefusedText | undefined> {
    if (args) return undefined;
    const { oneShots, launch } = this.#executions.of(session?.owner ?? principal);
    const installed = session ? shellOf(session) : oneShots.shell;
    if (!(await refusesSyntax(installed, command, launch))) return undefined;
    const { shell, path } = installed;
    const message = `${shell.name} cannot parse the command: nothing of it was run`;
    return {
      program: { command: path, args: [...shell.parseOnly(command)] },
      warnings: [{ code: 'SYNTAX_ERROR', message }],
    };
  }
}

const shellOf = ({ session: { options } }: SessionRecord) => options.installed;
