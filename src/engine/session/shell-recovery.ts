import type { ShellReplacement } from '../../core/metrics/metrics.js';
import { describeLoss } from '../shell/shell-loss.js';
import { ShellReplacer } from '../shell/shell-replacer.js';
import type { TerminalExit } from '../shell/terminal.js';
import type { RunCycle } from './run-cycle.js';
import type { SessionContext } from './session-context.js';

/** Replaces the shell of a session, when it has ended and on request. No command runs until the new shell is ready. */
export class ShellRecovery {
  readonly #context: SessionContext;
  readonly #cycle: RunCycle;
  readonly #replacer = new ShellReplacer({
    onDone: () => {
      this.#resume();
    },
    onFailed: (error) => {
      this.#fail(error);
    },
  });
  #restarts = 0;

  constructor(context: SessionContext, cycle: RunCycle) {
    this.#context = context;
    this.#cycle = cycle;
  }

  /** Number of times the shell was replaced. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Resolves when no replacement is pending; undefined when none is. */
  get settled(): Promise<void> | undefined {
    return this.#replacer.settled;
  }

  /** Replaces the shell. Without a new shell, the session fails. */
  async replace(why: ShellReplacement, replace: () => Promise<void>): Promise<void> {
    const replaced = this.#replacer.run(async () => {
      await this.#context.queue.settled;
      await replace();
    });
    this.#restarts += 1;
    this.#context.listener.onShellReplaced(why);
    await replaced;
  }

  /** Takes the exit of the shell: settles its command, and restores the shell unless the session is closed. */
  readonly onExit = (exit: TerminalExit): void => {
    const { isClosed, sessionShell, options, queue } = this.#context;
    const cycle = this.#cycle;
    // A replacement in progress handles the exit, also when its new shell has ended already.
    const mustRestore = !isClosed && !this.settled;
    const command = mustRestore ? cycle.takeBack() : undefined;
    if (command) queue.putBack(command);
    cycle.noteExit(exit);
    const wedge = cycle.wedge.takeReason();
    const warnings = isClosed ? [] : describeLoss(sessionShell.shell, exit, wedge, options.log);
    const { run } = cycle;
    const finished = run && cycle.finishExited(run, exit, isClosed ? 'closed' : 'restarted', warnings);
    if (!run) for (const warning of warnings) cycle.noteWarning(warning);
    if (mustRestore) this.#restore(finished);
  };

  #restore(lastCommand?: Promise<void>): void {
    const { sessionShell, options } = this.#context;
    this.replace('ended', async () => {
      await lastCommand;
      await sessionShell.restore(options);
    }).catch((error: unknown) => {
      options.log.error('a session could not be restarted', { error: String(error) });
    });
  }

  #resume(): void {
    const { sessionShell, isClosed } = this.#context;
    this.#cycle.forgetJobs();
    // The new shell was killed while the processes of the old one were being ended.
    if (sessionShell.shell.terminal.hasExited && !isClosed) this.#restore();
    else this.#context.next();
  }

  #fail(error: Error): void {
    const { isClosed, queue, listener } = this.#context;
    if (isClosed) return;
    for (const command of queue.clear()) this.#cycle.answerNotStarted(command, error, { sessionState: 'closed' });
    listener.onFailed(error);
  }
}
