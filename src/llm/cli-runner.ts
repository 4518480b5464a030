import type { RunEndCause, RunFacts } from '../core/llm/verdict.js';
import { commandIdFrom, ID_BYTES } from '../core/ids.js';
import { NO_METRICS } from '../core/metrics.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import { Command } from '../engine/command.js';
import type { OneShotRunner } from '../engine/one-shot.js';
import { randomBytes } from '../engine/random.js';
import { SpoolBudget } from '../engine/spool.js';
import type { OutputReader } from './output-reader.js';

/** After it has said that it is done, a tool gets so long to end. Some never do. */
const FINISH_GRACE_MS = 5000;
/** More than any answer with all its events takes. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
/** What is kept of an output for messages: its end, in characters. */
const TAIL = { maxSize: 4096, beginSize: 0, endSize: 4096 };
/** Timers are not exact: a run that ended so much earlier than its time-out ended for its silence. */
const TIMER_SLACK_MS = 20;

/** One run of a tool. */
export interface CliRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Undefined for /dev/null: several tools wait for ever at an open pipe. */
  readonly stdin: string | undefined;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number | undefined;
  readonly reader: OutputReader;
  readonly onChunk: (text: string) => void;
  /** Aborting it ends the run with all its processes. */
  readonly signal: AbortSignal;
}

/** What is known of a run when it has ended. */
export type CliRunEnd = Pick<RunFacts, 'cause' | 'exitCode' | 'stderr'>;

/** Runs command-line tools, as one-shot commands of the engine. */
export class CliRunner {
  readonly #oneShots: OneShotRunner;
  readonly #spoolDirectory: string;
  readonly #secrets: SecretMask;

  constructor(oneShots: OneShotRunner, spoolDirectory: string, secrets: SecretMask) {
    this.#oneShots = oneShots;
    this.#spoolDirectory = spoolDirectory;
    this.#secrets = secrets;
  }

  /** Runs a tool to its end, and reads what it prints as it comes. Never rejects. */
  async run(run: CliRun): Promise<CliRunEnd> {
    const { reader, signal } = run;
    const command = this.#commandOf(run);
    let cause: RunEndCause | undefined;
    let graceTimer: NodeJS.Timeout | undefined;
    const end = (why: RunEndCause) => {
      cause ??= why;
      void started.then(() => {
        this.#oneShots.terminate(command, { status: 'killed', killedBy: 'client' });
      });
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
    const started = this.#oneShots.run(command);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const { killedBy, durationMs, exitCode } = await command.finished;
    signal.removeEventListener('abort', onAbort);
    clearTimeout(graceTimer);
    take.end();
    if (killedBy === 'shutdown') cause = 'shutdown';
    else if (killedBy === 'timeout') cause ??= durationMs < run.timeoutMs - TIMER_SLACK_MS ? 'idle' : 'timeout';
    const { text } = command.stderr.render({ encoding: 'utf8', stripAnsi: true, collapseCr: true, hint: '' });
    return { cause: cause ?? 'exit', exitCode, stderr: text };
  }

  #commandOf({ file, args, cwd, env, stdin, timeoutMs, idleTimeoutMs }: CliRun): Command {
    const id = commandIdFrom(randomBytes(ID_BYTES));
    const times = { timeoutMs, noOutputTimeoutMs: idleTimeoutMs };
    const spec = { id, command: file, args, cwd, env, stdin, ...times, tty: false, limits: TAIL };
    // Nobody reads the output again: none of it is kept.
    return new Command(spec, this.#spoolDirectory, new SpoolBudget(0), NO_METRICS.output, this.#secrets.patterns);
  }
}

/** Turns bytes into text for the reader, and hands on what is to be streamed. */
function outputTaker(
  { reader, onChunk }: Pick<CliRun, 'reader' | 'onChunk'>,
  onProgress: () => void,
): { push(bytes: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder();
  const handOn = () => {
    for (const chunk of reader.answer.takeChunks()) onChunk(chunk);
  };
  return {
    push: (bytes) => {
      reader.push(decoder.decode(bytes, { stream: true }));
      handOn();
      onProgress();
    },
    end: () => {
      const rest = decoder.decode();
      if (rest !== '') reader.push(rest);
      reader.end();
      handOn();
    },
  };
}
