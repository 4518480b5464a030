import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { AdapterError, type ErrorDetails } from '../../core/errors.js';
import { LIMIT_KEYS } from '../../core/limits.js';
import { judgeRun, llmError, maskSecrets, type RunVerdict } from '../../core/llm/failure.js';
import type { LlmSettings } from '../../core/llm/settings.js';
import { killOf } from '../../engine/command/outcome.js';
import type { Breach } from '../../engine/command/resource-use.js';
import type { Scratch, ScratchDirectory } from '../../engine/instance/runtime-directory.js';
import type { UserLaunch } from '../../engine/sandbox/user-launch.js';
import { renderKill, renderUse } from '../registry/rendered-limits.js';
import type { LlmQuestion, LlmReply } from './call.js';
import { type CliRunEnd, type CliRunner, type OutputReader, outputReader } from './cli-runner.js';
import { SCHEMA_FILE } from './drivers/driver.js';
import { accessGrant, INPUT_FILE, type Invocation, invocationOf, type ShellProvider } from './invocation.js';
import type { ShellCatalogue } from './shell-catalogue.js';

/** Capacity of a semaphore and of its queue. */
interface SemaphoreLimits {
  readonly concurrency: number;
  readonly queueLimit: number;
}

/** Limits the concurrent runs of one tool: each takes hundreds of megabytes. The others wait in a FIFO queue. */
export class Semaphore {
  readonly #name: string;
  readonly #waiting: (() => void)[] = [];
  #acquired = 0;

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
    if (this.#acquired < concurrency) this.#acquired += 1;
    else if (this.#waiting.length >= queueLimit) throw this.#refusal(queueLimit);
    else await this.#wait(signal);
    let isReleased = false;
    return () => {
      if (!isReleased) this.#release();
      isReleased = true;
    };
  }

  /** The first waiter gets the slot. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#acquired -= 1;
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

/** Dependencies of `ShellProviders`. */
interface ShellProvidersOptions {
  readonly runner: CliRunner;
  readonly scratch: Scratch;
  readonly catalogue: ShellCatalogue;
  readonly settings: () => LlmSettings;
}

/** A call of a tool: its program, the arguments and input, and a directory for temporary files. */
interface ToolCall {
  readonly file: string;
  readonly invocation: Invocation;
  readonly directory: ScratchDirectory;
}

/** Calls command-line tools. */
export class ShellProviders {
  readonly #options: ShellProvidersOptions;
  readonly #semaphores = new Map<string, Semaphore>();

  constructor(options: ShellProvidersOptions) {
    this.#options = options;
  }

  /**
   * Calls a tool.
   * @throws AdapterError PROVIDER_NOT_FOUND, LLM_…
   */
  async ask(name: string, question: LlmQuestion & { readonly timeoutMs: number }): Promise<LlmReply> {
    const deadline = performance.now() + question.timeoutMs;
    const provider = this.#options.catalogue.find(name);
    const place = this.#options.catalogue.availability(name);
    if (!place.available) throw llmError('unavailable', `${name}: ${place.reason}`, { shell_provider: name });
    assertOpenTo(provider, question);
    const invocation = invocationOf(provider, question);
    const release = await this.#acquireSlot(provider, question);
    question.progress?.running();
    try {
      const user = question.execution?.launch;
      await using directory = await (user ? makeUserScratch(user) : this.#options.scratch.make());
      const timeoutMs = Math.max(1, Math.ceil(deadline - performance.now()));
      const call = { file: place.command ?? name, invocation, directory };
      return await this.#run(provider, call, { ...question, timeoutMs });
    } finally {
      release();
    }
  }

  /** Acquires a slot of the tool's semaphore; the wait counts towards the timeout of the answer. */
  async #acquireSlot(
    { name, settings }: ShellProvider,
    { signal, timeoutMs }: LlmQuestion & { readonly timeoutMs: number },
  ): Promise<() => void> {
    const { concurrency, queueLimit } = this.#options.settings();
    const limits = { concurrency: settings.concurrency ?? concurrency, queueLimit };
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      return await this.#semaphoreOf(name).acquire(limits, inTime);
    } catch (error) {
      if (error instanceof AdapterError) throw error;
      const details = { provider: 'shell', shell_provider: name };
      if (signal.aborted) throw llmError('cancelled', `${name} was cancelled`, details, error);
      throw llmError('timeout', `${name} was busy with other calls until the time was over`, details, error);
    }
  }

  async #run(
    provider: ShellProvider,
    { file, invocation, directory }: ToolCall,
    question: LlmQuestion & { readonly timeoutMs: number },
  ): Promise<LlmReply> {
    const { driver, settings } = provider;
    const access = accessGrant(provider, question).env;
    const { launch, oneShots } = question.execution ?? {};
    const reader = outputReader(driver, settings.output, settings.args !== undefined);
    const end = await this.#options.runner.run({
      oneShots: launch && oneShots,
      file,
      args: await placeInput(invocation, directory, launch),
      // Tools read settings, and start what these name, in the directory where they run: a review must not depend on it.
      cwd: question.isReadOnly === true ? directory.path : question.cwd,
      env: {
        ...this.#options.catalogue.environmentOf(provider, access, launch !== undefined),
        TMPDIR: directory.path,
      },
      stdin: invocation.stdin,
      timeoutMs: question.timeoutMs,
      idleTimeoutMs: settings.idleTimeoutMs,
      reader,
      onChunk: (text) => question.onChunk?.(text),
      signal: question.signal,
    });
    const reply = this.#conclude(provider, reader, end);
    if (!reader.answer.hasStreamed) question.onChunk?.(reply.content);
    return reply;
  }

  #conclude(provider: ShellProvider, { answer, noise, isText }: OutputReader, end: CliRunEnd): LlmReply {
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
    { cause, exitCode, outcome }: CliRunEnd,
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

/** Names a limit by its configuration key. */
const limitOf = ({ resource, limit }: Breach): string =>
  resource === 'disk_free_mb' ? `adapter.disk_free_mb_floor (${limit})` : `llm.${LIMIT_KEYS[resource]} (${limit})`;

/** Longest excerpt of a tool's output in an error, in characters. */
const MAX_DETAIL_CHARACTERS = 4096;

/**
 * Variables of the configuration may be keys of the operator, which a tool of another user would hand to that user.
 * @throws AdapterError LLM_UNAVAILABLE for a provider that has some
 */
function assertOpenTo({ name, settings }: ShellProvider, { execution }: Pick<LlmQuestion, 'execution'>): void {
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
