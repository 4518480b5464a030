import type { Request } from '../../core/protocol/requests.js';
import type { Warning } from '../../engine/command/command.js';
import type { OneShotRunner } from '../../engine/one-shot/one-shot.js';
import { refusesSyntax } from '../../engine/shells/syntax-check.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** A text that its shell cannot parse, and the program to run in its place. */
export interface RefusedText {
  /** The shell, as it parses the text again and executes nothing: stderr and the exit code are the shell's own. */
  readonly program: { readonly command: string; readonly args: string[] };
  readonly warnings: readonly Warning[];
}

/** Finds commands that need no confirmation because their shell rejects their syntax. */
export class SyntaxGuard {
  readonly #oneShots: Pick<OneShotRunner, 'shell'>;

  constructor(oneShots: Pick<OneShotRunner, 'shell'>) {
    this.#oneShots = oneShots;
  }

  /**
   * Returns what to run instead of a text that its shell rejects; undefined for every other request. The text itself
   * must not be run even then: a shell executes the lines before the one that it cannot parse, and options of a session
   * may make it parse more.
   */
  async refusal(
    { command, args }: Pick<Request<'execute_command'>, 'command' | 'args'>,
    session: SessionRecord | undefined,
  ): Promise<RefusedText | undefined> {
    if (args) return undefined;
    const installed = session?.session.options.installed ?? this.#oneShots.shell;
    if (!(await refusesSyntax(installed, command))) return undefined;
    const { shell, path } = installed;
    const message = `${shell.name} cannot parse the command: nothing of it was run`;
    return {
      program: { command: path, args: [...shell.parseOnly(command)] },
      warnings: [{ code: 'SYNTAX_ERROR', message }],
    };
  }
}
