import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { linkSignals, onAbort } from '../../core/abort.js';
import { AdapterError, type ErrorDetails } from '../../core/errors.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import { LIMIT_KEYS, type Limits } from '../../core/limits.js';
import {
  judgeRun,
  llmError,
  maskSecrets,
  type RunEndCause,
  type RunFacts,
  type RunVerdict,
} from '../../core/llm/failure.js';
import type { LlmSettings } from '../../core/llm/settings.js';
import type { Metrics } from '../../core/metrics.js';
import { AnsiStripper } from '../../core/output/ansi.js';
import type { SecretMask } from '../../core/secrets.js';
import { Command } from '../../engine/command/command.js';
import { type CommandOutcome, killOf } from '../../engine/command/outcome.js';
import type { Breach } from '../../engine/command/resource-use.js';
import type { Scratch, ScratchDirectory } from '../../engine/instance/runtime-directory.js';
import type { OneShotRunner } from '../../engine/one-shot/one-shot.js';
import { SpoolBudget } from '../../engine/output/spool.js';
import type { UserLaunch } from '../../engine/sandbox/user-launch.js';
import { randomBytes } from '../../engine/system/random.js';
import type { ResourceMonitor } from '../limits/resource-monitor.js';
import { renderKill, renderUse } from '../registry/rendered-limits.js';
import { SCHEMA_FILE } from './drivers/driver.js';
import { accessGrant, INPUT_FILE, type Invocation, invocationOf, type ShellProvider } from './invocation.js';
import { type OutputReader, outputReader } from './output-reader.js';
import type { EmitLlmEvent, LlmQuestion, LlmReply } from './providers.js';
import type { ShellCatalogue } from './shell-catalogue.js';

interface SemaphoreLimits {
  readonly concurrency: number;
  readonly queueLimit: number;
}

/**
 * Limits the concurrent runs of one tool: each takes hundreds of megabytes. The others wait in a FIFO queue. The limit is
 * that of the last call, so that a reload of the configuration takes effect.
 */
export class Semaphore {
  readonly #name: string;
  readonly #waiting: (() => void)[] = [];
  #acquired = 0;
  #concurrency = 0;

  /** @param name of the tool, for messages */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Acquires a slot; returns the function that releases it.
   * @throws AdapterError LLM_RATE_LIMITED when the queue is full; the signal's reason
   */
  async acquire({ concurrency, queueLimit }: SemaphoreLimits, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.#concurrency = concurrency;
    this.#admit();
    if (this.#acquired < concurrency) this.#acquired += 1;
    else if (this.#waiting.length >= queueLimit) throw this.#refusal(queueLimit);
    else await this.#wait(signal);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#acquired -= 1;
      this.#admit();
    };
  }

  /** The first waiters get the free slots. */
  #admit(): void {
    while (this.#acquired < this.#concurrency) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#acquired += 1;
      next();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const grant = () => {
        signal.removeEventListener('abort', cancel);
        resolve();
      };
      const cancel = () => {
        this.#waiting.splice(this.#waiting.indexOf(grant), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', cancel, { once: true });
      this.#waiting.push(grant);
    });
  }

  #refusal(queueLimit: number): Error {
    return llmError('rate_limited', `${queueLimit} calls wait for ${this.#name} already (llm.queue_limit)`, {
      shell_provider: this.#name,
      queue_limit: queueLimit,
    });
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

interface RunEnd extends Pick<RunFacts, 'cause' | 'exitCode' | 'stderr'> {
  readonly outcome: CommandOutcome;
}

interface ShellProvidersOptions {
  readonly oneShots: OneShotRunner;
  readonly spoolDirectory: string;
  readonly scratch: Scratch;
  readonly catalogue: ShellCatalogue;
  readonly settings: () => LlmSettings;
  /** Limits on the processes of one run together. */
  readonly limits: () => Limits;
  readonly secrets: SecretMask;
  readonly monitor: ResourceMonitor;
  readonly metrics: Metrics;
}

/** Calls command-line tools, as one-shot commands of the engine. */
export class ShellProviders {
  readonly #options: ShellProvidersOptions;
  readonly #semaphores = new Map<string, Semaphore>();

  constructor(options: ShellProvidersOptions) {
    this.#options = options;
  }

  /**
   * Calls a tool. An answer that its tool gives in one piece is reported as one.
   * @throws AdapterError PROVIDER_NOT_FOUND, LLM_…
   */
  async ask(name: string, question: LlmQuestion, emit: EmitLlmEvent): Promise<LlmReply> {
    const deadline = performance.now() + question.timeoutMs;
    const provider = this.#options.catalogue.find(name);
    const place = this.#options.catalogue.availability(name);
    if (!place.available) throw llmError('unavailable', `${name}: ${place.reason}`, { shell_provider: name });
    assertOpenTo(provider, question);
    const invocation = invocationOf(provider, question);
    const release = await this.#acquireSlot(provider, question);
    emit({ type: 'running' });
    try {
      const user = question.execution?.launch;
      await using directory = await (user ? makeUserScratch(user) : this.#options.scratch.make());
      // The wait for the slot counts.
      const asked = { ...question, timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())) };
      const command = await this.#commandOf(place.command ?? name, provider, invocation, directory, asked);
      const { driver, settings } = provider;
      const reader = outputReader(driver, settings.output, settings.args !== undefined);
      const onChunk = (text: string) => {
        if (question.isStreamed) emit({ type: 'text', text });
      };
      const end = await this.#run(command, reader, asked, onChunk);
      const reply = this.#conclude(provider, reader, end);
      if (!reader.answer.hasStreamed) onChunk(reply.content);
      return reply;
    } finally {
      release();
    }
  }

  /** Acquires a slot of the tool's semaphore; the wait counts towards the timeout of the answer. */
  async #acquireSlot({ name, settings }: ShellProvider, { signal, timeoutMs }: LlmQuestion): Promise<() => void> {
    const { concurrency, queueLimit } = this.#options.settings();
    const limits = { concurrency: settings.concurrency ?? concurrency, queueLimit };
    // `AbortSignal.any` would keep the time-out only weakly: on Node.js 20 it is lost with the next garbage collection.
    using inTime = linkSignals(signal, AbortSignal.timeout(timeoutMs));
    try {
      return await this.#semaphoreOf(name).acquire(limits, inTime.signal);
    } catch (error) {
      if (error instanceof AdapterError) throw error;
      const details = { provider: 'shell', shell_provider: name };
      if (signal.aborted) throw llmError('cancelled', `${name} was cancelled`, details, error);
      throw llmError('timeout', `${name} was busy with other calls until the time was over`, details, error);
    }
  }

  async #commandOf(
    file: string,
    provider: ShellProvider,
    invocation: Invocation,
    directory: ScratchDirectory,
    question: LlmQuestion,
  ): Promise<Command> {
    const { catalogue, spoolDirectory, secrets, limits } = this.#options;
    const { launch } = question.execution ?? {};
    const access = accessGrant(provider, question).env;
    const spec = {
      id: commandIdFrom(randomBytes(ID_BYTES)),
      command: file,
      args: await placeInput(invocation, directory, launch),
      // Tools read settings, and start what these name, in the directory where they run: a review must not depend on it.
      cwd: question.isReadOnly === true ? directory.path : question.cwd,
      env: { ...catalogue.environmentOf(provider, access, launch !== undefined), TMPDIR: directory.path },
      // Without a prompt it is /dev/null: several tools wait indefinitely on an open pipe.
      stdin: invocation.stdin,
      tty: false,
      // A tool needs its login and the network, which sandboxes block.
      sandbox: 'none',
      timeoutMs: question.timeoutMs,
      noOutputTimeoutMs: provider.settings.idleTimeoutMs,
      closedOutputTimeoutMs: FINISH_GRACE_MS,
      limits: TAIL,
      resourceLimits: limits(),
    } as const;
    // The output is never read again: none of it is spooled.
    return new Command(spec, { spoolDirectory, budget: new SpoolBudget(0), secrets: secrets.patterns });
  }

  /** Runs a tool to its end, and reads its output as it arrives. Never rejects. */
  async #run(
    command: Command,
    reader: OutputReader,
    { execution, signal, timeoutMs }: LlmQuestion,
    onChunk: (text: string) => void,
  ): Promise<RunEnd> {
    const { monitor } = this.#options;
    // Another user's tool runs with that user's rights.
    const oneShots = execution?.launch ? execution.oneShots : this.#options.oneShots;
    let cause: RunEndCause | undefined;
    let graceTimer: NodeJS.Timeout | undefined;
    const end = (why: RunEndCause) => {
      cause ??= why;
      oneShots.terminate(command, { status: 'killed', killedBy: 'client' });
    };
    const take = outputTaker(reader, onChunk, () => {
      if (command.stdout.bytes > MAX_OUTPUT_BYTES) end('flood');
      if (!reader.answer.isFinished) return;
      graceTimer ??= setTimeout(end, FINISH_GRACE_MS, 'finished');
    });
    command.stdout.follow('base64', ({ data }) => {
      if (cause === undefined) take.push(data as Uint8Array);
    });
    void oneShots.run(command, (watched) => {
      // A call has no channel for warnings: its answer reports an exceeded limit.
      monitor.watch(watched, {});
    });
    const unlink = onAbort(signal, () => {
      end('cancelled');
    });
    const outcome = await command.finished;
    unlink();
    clearTimeout(graceTimer);
    take.end();
    this.#count(outcome);
    const { text } = command.stderr.render({ encoding: 'utf8', stripAnsi: true, collapseCr: true, hint: '' });
    return { cause: causeOf(outcome, timeoutMs, cause), exitCode: outcome.exitCode, stderr: text, outcome };
  }

  #count({ use, breach }: CommandOutcome): void {
    const { metrics } = this.#options;
    metrics.count('commands_cpu_seconds_total', {}, (use.cpuMs ?? 0) / 1000);
    if (breach) metrics.count('limits_exceeded_total', { limit: breach.resource });
  }

  #conclude(provider: ShellProvider, { answer, noise, isText }: OutputReader, end: RunEnd): LlmReply {
    if (end.cause === 'shutdown') throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
    const { failure, failureKind, isFinished, text } = answer;
    const { exitKinds } = provider.driver;
    const verdict = judgeRun({ ...end, failure, failureKind, isFinished, isText, text, noise, exitKinds });
    if (!verdict.ok) throw this.#failureOf(provider, verdict, end);
    return {
      content: verdict.content,
      usage: answer.usage,
      model: answer.model ?? null,
      session: answer.session ?? null,
      isText,
      use: end.outcome.use,
    };
  }

  #failureOf(
    { name, settings }: ShellProvider,
    { kind, what, detail }: Extract<RunVerdict, { readonly ok: false }>,
    { cause, exitCode, outcome }: RunEnd,
  ): AdapterError {
    const secrets = Object.values(settings.env).map((secret) => secret.reveal());
    const masked = maskSecrets(detail, secrets).slice(0, MAX_DETAIL_CHARACTERS);
    const [firstLine = ''] = masked.split('\n', 1);
    const kill = killOf(outcome);
    const details: ErrorDetails = {
      provider: 'shell',
      shell_provider: name,
      exit_code: cause === 'exit' ? exitCode : null,
      detail: masked,
      // Neither a tool's own exit nor an end on behalf of its client counts as killed.
      ...(outcome.killedBy !== null && outcome.killedBy !== 'client' && { killed_by: outcome.killedBy }),
      ...(kill && { limit: renderKill(kill) }),
      resource_usage: renderUse(outcome.use),
    };
    const why = outcome.breach ? limitOf(outcome.breach) : firstLine;
    return llmError(kind, `${name} ${what}${why === '' ? '' : `: ${why}`}`, details);
  }

  #semaphoreOf(name: string): Semaphore {
    let semaphore = this.#semaphores.get(name);
    if (!semaphore) this.#semaphores.set(name, (semaphore = new Semaphore(name)));
    return semaphore;
  }
}

/**
 * The cause of a run's end.
 * @param known why its call has ended it; undefined when the engine has ended it, or the tool has exited
 */
function causeOf(
  { killedBy, durationMs, breach }: CommandOutcome,
  timeoutMs: number,
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
  reader: OutputReader,
  onChunk: (text: string) => void,
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

/** Names a limit by its configuration key. */
const limitOf = ({ resource, limit }: Breach): string =>
  resource === 'disk_free_mb' ? `adapter.disk_free_mb_floor (${limit})` : `llm.${LIMIT_KEYS[resource]} (${limit})`;

/** Longest excerpt of a tool's output in an error, in characters. */
const MAX_DETAIL_CHARACTERS = 4096;

/**
 * Variables of the configuration may be keys of the operator, which a tool of another user would hand to that user.
 * @throws AdapterError LLM_UNAVAILABLE for a provider that has some
 */
function assertOpenTo({ name, settings }: ShellProvider, { execution }: LlmQuestion): void {
  if (!execution?.launch || Object.keys(settings.env).length === 0) return;
  const { name: user } = execution.launch.user;
  const message = `${name}: its configuration has variables (env), which are not for the user ${user} of this token`;
  throw llmError('unavailable', message, { shell_provider: name });
}

/** Creates a directory as another user, which also removes it: the daemon would follow links in it. */
async function makeUserScratch(user: UserLaunch): Promise<ScratchDirectory> {
  const making = user.run(['mktemp', '-d', '-t', 'shell-adapter-llm-XXXXXXXX']);
  const path = (
    await making.catch((error: unknown) => {
      const message = `no temporary directory of the user ${user.user.name} could be made: ${(error as Error).message}`;
      throw llmError('unavailable', message, {}, error);
    })
  ).trim();
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      // A tool may have left files that even its user cannot remove: they stay.
      await user.run(['rm', '-rf', '--', path]).catch(() => undefined);
    },
  };
}

/**
 * Writes the prompt and the JSON Schema to files, where the arguments have placeholders; returns the arguments with
 * their paths.
 */
async function placeInput(
  { args, inputFile, schemaFile }: Invocation,
  { path }: ScratchDirectory,
  user: UserLaunch | undefined,
): Promise<readonly string[]> {
  const files = [
    { placeholder: INPUT_FILE, file: join(path, 'prompt.txt'), content: inputFile },
    { placeholder: SCHEMA_FILE, file: join(path, 'schema.json'), content: schemaFile },
  ];
  let placed = args;
  for (const { placeholder, file, content } of files) {
    if (content === undefined || !placed.some((arg) => arg.includes(placeholder))) continue;
    if (user) await user.writeFile(file, content);
    else await writeFile(file, content, { mode: 0o600 });
    placed = placed.map((arg) => arg.replaceAll(placeholder, file));
  }
  return placed;
}
