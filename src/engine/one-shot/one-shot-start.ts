import type { Command } from '../command/command.js';
import { needsFile, needsOwnStart, textArguments } from '../shells/one-shot.js';
import { quote } from '../shells/shell.js';
import { startWithLimits } from './one-shot-limit-target.js';
import type { OneShotProcess } from './one-shot-process.js';
import type { OneShotProgram } from './start-message.js';
import type { OneShotKind, WarmShells, WarmShellsOptions } from './warm-shells.js';

/** Starts commands without a session: a text in a warm shell, a program with arguments without one. */
export class OneShotStarter {
  readonly #options: WarmShellsOptions;
  readonly #shells: WarmShells;

  constructor(options: WarmShellsOptions, shells: WarmShells) {
    this.#options = options;
    this.#shells = shells;
  }

  /** Starts a command; rejects with the system's error when that is not possible. */
  start(command: Command): Promise<OneShotProcess> {
    const program = this.#programOf(command);
    return program ? this.#startProgram(command, program) : this.#startText(command);
  }

  /**
   * Returns the program that is started with the variables of the command: its own, or a shell that would not take them
   * later. Undefined where a waiting shell runs it: also for another user, since what changes the user runs as root, and
   * must not get the command's variables, such as LD_PRELOAD.
   */
  #programOf({ spec }: Command): Pick<OneShotProgram, 'file' | 'args'> | undefined {
    const { launcher, shell } = this.#options;
    if (launcher.owner) return undefined;
    if (spec.args) return { file: spec.command, args: spec.args };
    if (!needsOwnStart(spec.env) || needsFile(spec.command)) return undefined;
    return { file: shell.path, args: textArguments(shell, spec.command) };
  }

  async #startProgram(command: Command, program: Pick<OneShotProgram, 'file' | 'args'>): Promise<OneShotProcess> {
    const { spec } = command;
    const process = await this.#shells.start({
      ...program,
      cwd: spec.cwd ?? this.#options.cwd,
      env: { ...this.#options.env, ...spec.env },
      stdin: spec.stdin ?? spec.stdinPipe,
      takesRequest: false,
      isMerged: spec.isMerged,
      ...this.#kindOf(command),
    });
    startWithLimits(command, process);
    return process;
  }

  async #startText(command: Command): Promise<OneShotProcess> {
    const { spec } = command;
    const process = await this.#shells.take(this.#kindOf(command));
    startWithLimits(command, process);
    try {
      if (command.endReason) throw new Error('the command was cancelled before its start');
      const stdinFile = process.files.placeStdin(spec.stdin ?? spec.stdinPipe);
      process.sendRequest(this.#options.shell, { stdinFile, text: textOf(spec), ...spec });
    } catch (error) {
      this.#shells.dismiss(process);
      throw error;
    }
    this.#shells.refillSoon();
    return process;
  }

  #kindOf({ spec }: Command): OneShotKind {
    return this.#shells.kindOf(spec.sandbox, spec.resourceLimits ?? {});
  }
}

/** The text that a shell runs for a command: a program with arguments takes its place. */
function textOf({ command, args }: Command['spec']): string {
  if (!args) return command;
  // bash would take the name for an option of `exec`, and dash has no `--`.
  if (command.startsWith('-')) return `printf '%s: command not found\\n' ${quote(command)} >&2; exit 127`;
  return `exec ${[command, ...args].map(quote).join(' ')}`;
}
