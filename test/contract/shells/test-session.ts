import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { SignalName } from '../../../src/core/signals.js';
import { Command } from '../../../src/engine/command/command.js';
import type { CommandOutcome } from '../../../src/engine/command/outcome.js';
import { linux } from '../../../src/engine/platform/linux/linux.js';
import type { ReportedProcess } from '../../../src/engine/process/background-processes.js';
import type { Session, SessionListener } from '../../../src/engine/session/session.js';
import { SpoolBudget } from '../../../src/engine/output/spool.js';
import { PROCESS_HANG_MS } from '../../support/hang.js';

/** Room for every output of the suite, untrimmed. */
const OUTPUT_SIZE = 4_000_000;
const POLL_MS = 2;

/** What a command may be given besides its text. */
export interface CommandOptions {
  /** Makes the command a program. */
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly tty?: boolean;
  readonly isMerged?: boolean;
  readonly timeoutMs?: number;
}

/** How a command ended, and what it printed. */
export interface Result extends CommandOutcome {
  readonly stdout: string;
  readonly stderr: string;
}

/** A command on its way. */
export class RunningCommand {
  readonly command: Command;
  /** Resolves when the command waits for its terminal. */
  readonly awaitsInput: () => Promise<void>;
  #output = '';
  #wake: () => void = () => undefined;

  constructor(command: Command, awaitsInput: () => Promise<void>) {
    this.command = command;
    this.awaitsInput = awaitsInput;
    command.stdout.follow('utf8', ({ data }) => {
      this.#output += data as string;
      this.#wake();
    });
  }

  /** Waits until the command has printed a text on stdout, after its end too. */
  async prints(text: string): Promise<void> {
    while (!this.#output.includes(text)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async result(): Promise<Result> {
    const outcome = await this.command.finished;
    const render = (stream: Command['stdout']) =>
      stream.render({ encoding: 'utf8', stripAnsi: false, collapseCr: false, hint: '' }).text;
    return { ...outcome, stdout: render(this.command.stdout), stderr: render(this.command.stderr) };
  }
}

/** Where a session is opened. */
interface SessionPlace {
  readonly directory: string;
  readonly spools: string;
  /** Whether the platform tells that a command waits for its terminal. */
  readonly tellsOfInput: boolean;
}

/** A session of the engine, as tests use it. */
export class TestSession implements AsyncDisposable {
  /** Where it was opened. */
  readonly directory: string;
  readonly #spools: string;
  readonly #budget = new SpoolBudget(100_000_000);
  readonly #waiting = new Map<Command, () => void>();
  readonly #tellsOfInput: boolean;
  #session!: Session;
  #commands = 0;

  private constructor({ directory, spools, tellsOfInput }: SessionPlace) {
    this.directory = directory;
    this.#spools = spools;
    this.#tellsOfInput = tellsOfInput;
  }

  static async open(place: SessionPlace, open: (listener: SessionListener) => Promise<Session>): Promise<TestSession> {
    const session = new TestSession(place);
    session.#session = await open({
      onAwaitingInput: (command) => session.#waiting.get(command)?.(),
      onLingering: () => undefined,
      onRested: () => true,
      onShellReplaced: () => undefined,
      onExceeded: () => undefined,
      onRefused: () => undefined,
      onFailed: (error) => {
        throw error;
      },
    });
    return session;
  }

  /** The state of its idle shell, with the values of some variables at the start. */
  readState(names: readonly string[]): Promise<string | undefined> {
    return this.#session.readState(names);
  }

  /** Process id of the shell. */
  get pid(): number {
    return this.#session.pid;
  }

  /** How many descriptors the shell has open while it waits for its next command. */
  async descriptorsAtRest(): Promise<number> {
    while (linux.processes.fileBeingRead(this.pid)?.endsWith('/cmd') !== true) await sleep(POLL_MS);
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  /** Starts a command, or queues it. */
  start(text: string, options: CommandOptions = {}): RunningCommand {
    this.#commands += 1;
    const command = new Command(
      {
        id: String(this.#commands),
        command: text,
        timeoutMs: PROCESS_HANG_MS,
        tty: false,
        limits: { maxSize: OUTPUT_SIZE, beginSize: OUTPUT_SIZE / 2, endSize: OUTPUT_SIZE / 2 },
        ...options,
      },
      { spoolDirectory: this.#spools, budget: this.#budget },
    );
    const isTold = new Promise<void>((resolve) => this.#waiting.set(command, resolve));
    const running = new RunningCommand(command, this.#tellsOfInput ? () => isTold : () => this.#readsTerminal());
    this.#session.enqueue(command);
    return running;
  }

  /** Runs a command to its end. */
  async run(text: string, options?: CommandOptions): Promise<Result> {
    return this.start(text, options).result();
  }

  /** Waits until a program of that name has the terminal: a signal before would hit the shell that starts it. */
  async runsProgram(name: string): Promise<void> {
    for (;;) {
      const group = linux.processes.read(this.pid)?.foregroundGroup;
      const names = linux.processes.list().filter((entry) => entry.group === group);
      if (names.some((entry) => entry.name === name)) return;
      await sleep(POLL_MS);
    }
  }

  /** Waits until a program, or the shell for its own `read`, reads the terminal, as the kernel shows it. */
  async #readsTerminal(): Promise<void> {
    const { slavePath } = this.#session.shell.terminal;
    while (linux.processes.findTerminalReader(this.pid, slavePath) === undefined) await sleep(POLL_MS);
  }

  /** Signals the foreground, as a client would. */
  async signal({ command }: RunningCommand, signal: SignalName): Promise<ReportedProcess[]> {
    return this.#session.signal(command, signal);
  }

  /** Takes a command out of the queue, or ends it, as a client would. */
  cancel({ command }: RunningCommand): void {
    this.#session.cancel(command, { status: 'interrupted', killedBy: 'signal' });
  }

  /** Makes a command, or its background jobs, wait for a client, or lets it go on. */
  hold({ command }: RunningCommand, isHeld: boolean): void {
    this.#session.holdForClient(command, isHeld);
  }

  /** Gives the session a fresh shell. */
  async reset(): Promise<void> {
    await this.#session.reset(this.directory, {});
  }

  /** Types into the terminal. */
  type(data: string, isEndOfFile = false): void {
    this.#session.terminal.type(data, isEndOfFile);
  }

  /** Closes the session; gives what could not be ended. */
  async close(): Promise<ReportedProcess[]> {
    return this.#session.close({ status: 'killed', killedBy: 'client' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    for (const { stdout, stderr } of this.#waiting.keys()) {
      await stdout.spool[Symbol.asyncDispose]();
      await stderr.spool[Symbol.asyncDispose]();
    }
  }
}
