import type { Command } from '../command/command.js';
import type { NewProcesses } from '../platform/platform.js';
import { FIRST_SAMPLE_MS, WedgeDetector } from '../shell/wedge-detector.js';
import { sendSignal } from '../system/signals.js';
import { type Stage, StageTimer } from '../system/stage-timer.js';
import type { CommandRun } from './command-run.js';
import type { SessionContext } from './session-context.js';
import { isInFlight } from './session-state.js';

/**
 * Limit of the fast path, in milliseconds: for shorter commands streams, timers and monitoring cost more than the
 * command.
 */
const LINGER_MS = 5;
/**
 * Idle time after which the shell's state is saved, in milliseconds: long enough that consecutive commands do not pay
 * for it.
 */
const SAVE_AFTER_MS = 40;
/**
 * Idle time after a command until the session is examined, in milliseconds: by then the shell has usually saved its
 * state.
 */
const EXAMINE_AFTER_MS = 120;
/** Number of examinations, each after that pause, before the wait for a saved state is given up. */
const MAX_EXAMINATIONS = 50;

/**
 * Supervises a session with one timer, which begins again with each command, and with each rest:
 * - a command lasts 5 ms: its output is streamed, its use is measured, its time-outs run, and its shell is sampled
 * - a rest lasts 5 ms: what the last command may have left is measured; 40 ms: the shell saves its state; 120 ms: the
 *   session is examined
 */
export class Supervisor implements Disposable {
  readonly #context: SessionContext;
  readonly #timer: StageTimer;
  /** The newest command, until its first stage. */
  #fresh: CommandRun | undefined;
  #started: NewProcesses | undefined;
  /** The shell of a long-running command. */
  #sampled: { readonly detector: WedgeDetector; readonly stage: Stage } | undefined;
  #mustExamine = false;

  constructor(context: SessionContext) {
    this.#context = context;
    this.#timer = new StageTimer(LINGER_MS, this.#onLasting);
  }

  /** A command has started. */
  begin(run: CommandRun): void {
    this.#fresh = run;
    this.#timer.begin();
  }

  /** The command is not under way any more; harmless when repeated. */
  end(): void {
    this.#sampled?.detector.stop();
    this.#sampled = undefined;
    this.#timer.end();
  }

  /** The shell waits for a command: after one, or set up. */
  rest(after: 'command' | 'set-up'): void {
    this.#mustExamine ||= after === 'command';
    this.#timer.begin();
  }

  /** Records input or output: a later wait for input counts as a new one. */
  noteActivity(): void {
    const sampled = this.#sampled;
    if (sampled?.detector.noteActivity()) this.#timer.bringForward(sampled.stage, FIRST_SAMPLE_MS);
  }

  /** Kills an unusable shell; its exit settles the command. */
  giveUp(command: Command, why: string): void {
    this.#context.life.enter({ type: 'lost', why });
    command.requestEnd({ status: 'killed', killedBy: 'signal' });
    sendSignal(this.#context.sessionShell.shell.pid, 'SIGKILL');
  }

  [Symbol.dispose](): void {
    this.#fresh = undefined;
    this.#timer[Symbol.dispose]();
  }

  readonly #onLasting = (): void => {
    const { life, listener, sessionShell } = this.#context;
    const run = this.#fresh;
    this.#fresh = undefined;
    if (run) {
      const { hasAny } = (this.#started ??= sessionShell.shell.processes.watchForNew());
      const isUnderWay = life.isUnderWay(run);
      if (isUnderWay) this.#watch(run);
      if (isUnderWay || hasAny) listener.onLingering();
    }
    const isResting = !isInFlight(life.state) && !life.isClosed && life.state.name !== 'opening';
    if (isResting) this.#timer.set(this.#restStages());
  };

  #watch(run: CommandRun): void {
    const { command } = run;
    run.listen();
    const detector = this.#detectorFor(command);
    const stage: Stage = { dueAt: performance.now() + FIRST_SAMPLE_MS, run: () => detector.sample() };
    this.#sampled = { detector, stage };
    const timeOuts = run.timeOuts(command.spec.timeoutMs - command.ageMs, () => {
      run.terminate({ status: 'timed_out', killedBy: 'timeout' });
    });
    this.#timer.set([stage, ...timeOuts]);
  }

  #detectorFor(command: Command): WedgeDetector {
    const { sessionShell, options, listener, echo } = this.#context;
    const { shell } = sessionShell;
    return new WedgeDetector(shell, options.wedgeTimeoutMs, {
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

  #restStages(): Stage[] {
    const { listener } = this.#context;
    const now = performance.now() - LINGER_MS;
    const save = (): number | undefined => {
      // What the shell starts to tidy its terminal must not count as left by the command that runs.
      const { sessionShell } = this.#context;
      if (sessionShell.hasRequest) return SAVE_AFTER_MS;
      sessionShell.state.saveNow();
      return undefined;
    };
    const saving = { dueAt: now + SAVE_AFTER_MS, run: save };
    if (!this.#mustExamine) return [saving];
    let left = MAX_EXAMINATIONS;
    const examine = () => {
      left -= 1;
      // Not before: the rest may begin again meanwhile.
      this.#mustExamine = left > 0 && !listener.onRested();
      return this.#mustExamine ? EXAMINE_AFTER_MS : undefined;
    };
    return [saving, { dueAt: now + EXAMINE_AFTER_MS, run: examine }];
  }
}
