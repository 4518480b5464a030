import type { Command } from '../command/command.js';
import { sendSignal } from '../process/end-processes.js';
import { WedgeDetector } from '../shell/wedge-detector.js';
import type { SessionContext } from './session-context.js';

/** Watches the shell of a session while a long-running command runs, and kills a shell that will not recover. */
export class WedgeGuard {
  readonly #context: SessionContext;
  #detector: WedgeDetector | undefined;
  #reason: string | undefined;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** Starts watching; harmless when repeated for the same command. */
  watch(command: Command): void {
    const { sessionShell, options, listener, echo } = this.#context;
    const { shell } = sessionShell;
    this.#detector ??= new WedgeDetector(shell, options.wedgeTimeoutMs, {
      onAwaitingInput: (certainty) => {
        listener.onAwaitingInput(command, certainty);
      },
      isAtPrompt: () => command.prompt !== '',
      takesSecret: () => echo.takesSecret(shell.terminal.slavePath),
      onWedged: (why) => {
        this.giveUp(command, why);
      },
    });
  }

  /** Records input or output: a later wait for input counts as a new one. */
  noteActivity(): void {
    this.#detector?.noteActivity();
  }

  /** Stops watching; harmless when repeated. */
  stop(): void {
    this.#detector?.stop();
    this.#detector = undefined;
  }

  /** Kills an unusable shell; its exit settles the command. */
  giveUp(command: Command, why: string): void {
    this.#reason ??= why;
    command.requestEnd({ status: 'killed', killedBy: 'signal' });
    sendSignal(this.#context.sessionShell.shell.pid, 'SIGKILL');
  }

  /** Why the shell was found unusable, if it was. Clears the reason. */
  takeReason(): string | undefined {
    const reason = this.#reason;
    this.#reason = undefined;
    return reason;
  }
}
