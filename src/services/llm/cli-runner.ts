import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { Limits } from '../../core/limits.js';
import { Answer, isTornEvent, JsonEvents, type JsonObject, lastBlock } from '../../core/llm/answer.js';
import type { OutputMode } from '../../core/llm/settings.js';
import type { RunEndCause, RunFacts } from '../../core/llm/failure.js';
import type { Metrics } from '../../core/metrics.js';
import { AnsiStripper } from '../../core/output/ansi.js';
import type { SecretMask } from '../../core/secrets.js';
import { Command } from '../../engine/command/command.js';
import type { CommandOutcome } from '../../engine/command/outcome.js';
import type { OneShotRunner } from '../../engine/one-shot/one-shot.js';
import { SpoolBudget } from '../../engine/output/spool.js';
import { randomBytes } from '../../engine/system/random.js';
import type { ResourceMonitor } from '../limits/resource-monitor.js';
import type { CliDriver } from './drivers/driver.js';

/** Longest excerpt of unreadable output in an error, in characters. */
const MAX_SHOWN = 200;

/** Extracts the answer from a tool's standard output. */
export interface OutputReader {
  readonly answer: Answer;
  /** The end of the output beside the answer. */
  readonly noise: string;
  /** True when the answer is the raw output; false when the tool has marked its answer. */
  readonly isText: boolean;
  push(text: string): void;
  /** Handles the end of the output. */
  end(): void;
}

/**
 * Returns the reader for a tool's output.
 * @param hasOwnArgs true when its arguments are not the driver's, so that its output may have a format unknown to the
 *   driver
 */
export function outputReader(
  { readEvent }: Pick<CliDriver, 'readEvent'>,
  mode: OutputMode,
  hasOwnArgs: boolean,
): OutputReader {
  if (mode === 'last_block') return new LastBlockReader();
  if (mode === 'text' || !readEvent) return new TextReader();
  return hasOwnArgs ? new GuessingReader(readEvent) : new EventReader(readEvent);
}

/** The whole output is the answer. */
class TextReader implements OutputReader {
  readonly answer = new Answer();
  readonly noise = '';
  readonly isText = true;

  push(text: string): void {
    this.answer.delta(text);
  }

  end(): void {
    this.answer.settle(this.answer.text.trim());
  }
}

/** The last paragraph is the answer: for tools that print their progress first. It cannot be streamed. */
class LastBlockReader implements OutputReader {
  readonly answer = new Answer();
  readonly noise = '';
  readonly isText = true;
  #text = '';

  push(text: string): void {
    this.#text += text;
  }

  end(): void {
    this.answer.propose(lastBlock(this.#text));
  }
}

type EventSink = (event: JsonObject, answer: Answer) => void;

/** The answer is in events. Output without any event is text. */
class EventReader implements OutputReader {
  readonly answer = new Answer();
  readonly #events: JsonEvents;
  /** All output, until the first event. */
  #text = '';

  constructor(readEvent: EventSink) {
    this.#events = new JsonEvents((event) => {
      readEvent(event, this.answer);
    });
  }

  get noise(): string {
    return this.isText ? '' : this.#events.noise;
  }

  get isText(): boolean {
    return !this.#events.hasEvents;
  }

  push(text: string): void {
    this.#events.push(text);
    this.#text = this.isText ? this.#text + text : '';
  }

  end(): void {
    this.#events.end();
    if (!this.isText) return;
    const text = this.#text.trim();
    if (isTornEvent(text)) this.answer.fail(`its output is no JSON that can be read: ${text.slice(0, MAX_SHOWN)}`);
    else this.answer.propose(text);
  }
}

/** Decides by the first character whether the output is events or text. */
class GuessingReader implements OutputReader {
  readonly #readEvent: EventSink;
  #reader: OutputReader = new TextReader();
  #hasBegun = false;

  constructor(readEvent: EventSink) {
    this.#readEvent = readEvent;
  }

  get answer(): Answer {
    return this.#reader.answer;
  }

  get noise(): string {
    return this.#reader.noise;
  }

  get isText(): boolean {
    return this.#reader.isText;
  }

  push(text: string): void {
    const first = text.trimStart().charAt(0);
    if (!this.#hasBegun && first !== '') {
      this.#hasBegun = true;
      if (first === '{' || first === '[') this.#reader = new EventReader(this.#readEvent);
    }
    this.#reader.push(text);
  }

  end(): void {
    this.#reader.end();
  }
}

/** Time a tool has to exit after it has reported its end or closed its output, in milliseconds. Some never exit. */
const FINISH_GRACE_MS = 5000;
/** Upper bound of a tool's output, in bytes: above any answer with all its events. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
/** The part of an output kept for messages: its end, in characters. */
const TAIL = { maxSize: 4096, beginSize: 0, endSize: 4096 };
/**
 * Tolerance of timers, in milliseconds: a run that ended more than this before its timeout was ended by
 * its idle timeout.
 */
const TIMER_SLACK_MS = 20;

/** One run of a tool. */
interface CliRun {
  /** Runs the tool as another user; undefined for the daemon's own. */
  readonly oneShots?: OneShotRunner | undefined;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Undefined for /dev/null: several tools wait indefinitely on an open pipe. */
  readonly stdin: string | undefined;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number | undefined;
  readonly reader: OutputReader;
  readonly onChunk: (text: string) => void;
  /** Aborting it ends the run with all its processes. */
  readonly signal: AbortSignal;
}

/** The facts about an ended run. */
export interface CliRunEnd extends Pick<RunFacts, 'cause' | 'exitCode' | 'stderr'> {
  readonly outcome: CommandOutcome;
}

/** Dependencies of `CliRunner`. */
interface CliRunnerOptions {
  readonly oneShots: OneShotRunner;
  readonly spoolDirectory: string;
  readonly secrets: SecretMask;
  /** Limits on the processes of one run together. */
  readonly limits: () => Limits;
  readonly monitor: Pick<ResourceMonitor, 'watch'>;
  readonly metrics: Metrics;
}

/** Runs command-line tools, as one-shot commands of the engine. */
export class CliRunner {
  readonly #options: CliRunnerOptions;

  constructor(options: CliRunnerOptions) {
    this.#options = options;
  }

  /** Runs a tool to its end, and reads its output as it arrives. Never rejects. */
  async run(run: CliRun): Promise<CliRunEnd> {
    const { reader, signal, oneShots = this.#options.oneShots } = run;
    const command = this.#commandOf(run);
    let cause: RunEndCause | undefined;
    let graceTimer: NodeJS.Timeout | undefined;
    const end = (why: RunEndCause) => {
      cause ??= why;
      oneShots.terminate(command, { status: 'killed', killedBy: 'client' });
    };
    const take = outputTaker(run, () => {
      if (command.stdout.bytes > MAX_OUTPUT_BYTES) end('flood');
      if (!reader.answer.isFinished) return;
      graceTimer ??= setTimeout(end, FINISH_GRACE_MS, 'finished');
    });
    command.stdout.follow('base64', ({ data }) => {
      if (cause === undefined) take.push(data as Uint8Array);
    });
    const onAbort = () => {
      end('cancelled');
    };
    void oneShots.run(command, (watched) => {
      // A call has no channel for warnings: its answer reports an exceeded limit.
      this.#options.monitor.watch(watched, {});
    });
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const outcome = await command.finished;
    signal.removeEventListener('abort', onAbort);
    clearTimeout(graceTimer);
    take.end();
    this.#count(outcome);
    const { text } = command.stderr.render({ encoding: 'utf8', stripAnsi: true, collapseCr: true, hint: '' });
    return { cause: causeOf(outcome, run, cause), exitCode: outcome.exitCode, stderr: text, outcome };
  }

  #count({ use, breach }: CommandOutcome): void {
    const { metrics } = this.#options;
    metrics.count('commands_cpu_seconds_total', {}, (use.cpuMs ?? 0) / 1000);
    if (breach) metrics.count('limits_exceeded_total', { limit: breach.resource });
  }

  #commandOf({ file, args, cwd, env, stdin, timeoutMs, idleTimeoutMs }: CliRun): Command {
    const id = commandIdFrom(randomBytes(ID_BYTES));
    const times = { timeoutMs, noOutputTimeoutMs: idleTimeoutMs, closedOutputTimeoutMs: FINISH_GRACE_MS };
    // A tool needs its login and the network, which sandboxes block.
    const sandbox = 'none';
    const { spoolDirectory, secrets, limits: getLimits } = this.#options;
    const resourceLimits = getLimits();
    const program = { id, command: file, args, cwd, env, stdin, tty: false, sandbox } as const;
    const spec = { ...program, ...times, limits: TAIL, resourceLimits };
    // The output is never read again: none of it is spooled.
    return new Command(spec, { spoolDirectory, budget: new SpoolBudget(0), secrets: secrets.patterns });
  }
}

/**
 * The cause of a run's end.
 * @param known why the runner has ended it; undefined when the engine has ended it, or the tool has exited
 */
function causeOf(
  { killedBy, durationMs, breach }: CommandOutcome,
  { timeoutMs }: Pick<CliRun, 'timeoutMs'>,
  known: RunEndCause | undefined,
): RunEndCause {
  if (killedBy === 'shutdown') return 'shutdown';
  if (known !== undefined) return known;
  if (breach) return 'limit';
  if (killedBy === 'client') return 'closed';
  if (killedBy !== 'timeout') return 'exit';
  return durationMs < timeoutMs - TIMER_SLACK_MS ? 'idle' : 'timeout';
}

/** Decodes output for the reader, and streams the resulting pieces. */
function outputTaker(
  { reader, onChunk }: Pick<CliRun, 'reader' | 'onChunk'>,
  onProgress: () => void,
): { push(bytes: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder();
  // Some tools print colours even without a terminal.
  const ansi = new AnsiStripper();
  const passOn = () => {
    for (const chunk of reader.answer.takeChunks()) onChunk(chunk);
  };
  return {
    push: (bytes) => {
      reader.push(ansi.push(decoder.decode(bytes, { stream: true })));
      passOn();
      onProgress();
    },
    end: () => {
      const rest = ansi.push(decoder.decode());
      if (rest !== '') reader.push(rest);
      reader.end();
      passOn();
    },
  };
}
