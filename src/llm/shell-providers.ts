import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { AdapterError, type ErrorDetails } from '../core/errors.js';
import { llmError, maskSecrets } from '../core/llm/failure.js';
import { DRIVER_NAMES, type LlmSettings, type ShellProviderSettings } from '../core/llm/settings.js';
import { judgeRun, type RunVerdict } from '../core/llm/verdict.js';
import type { Scratch, ScratchDirectory } from '../engine/scratch.js';
import { findProgram } from '../engine/shells/list.js';
import type { Availability, LlmQuestion, LlmReply } from './call.js';
import type { CliRunEnd, CliRunner } from './cli-runner.js';
import { driverNamed } from './drivers/list.js';
import { generic } from './drivers/generic.js';
import { INPUT_FILE, type Invocation, invocationOf, type ShellProvider } from './invocation.js';
import { type OutputReader, outputReader } from './output-reader.js';
import { Turnstile } from './turnstile.js';

/** Variables of the daemon that every tool gets: how to reach the network, and where its files are. */
const COMMON_VARIABLES = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'XDG_*',
];

/** A driver as it is, without a word in the configuration. */
const UNCHANGED: ShellProviderSettings = {
  driver: undefined,
  command: undefined,
  args: undefined,
  promptFlag: undefined,
  modelFlag: undefined,
  systemFlag: undefined,
  stdinMode: 'pipe',
  model: undefined,
  timeoutMs: undefined,
  idleTimeoutMs: undefined,
  output: 'auto',
  promptStyle: undefined,
  maxPromptBytes: undefined,
  concurrency: undefined,
  env: {},
};

/** What the shell providers are made of. */
export interface ShellProvidersOptions {
  readonly runner: CliRunner;
  readonly scratch: Scratch;
  readonly settings: () => LlmSettings;
  /** PATH of the tools, unless their environment has another. */
  readonly path: string;
}

/** The command-line tools that answer as LLMs do: those with a driver, and those of the configuration. */
export class ShellProviders {
  readonly #options: ShellProvidersOptions;
  readonly #turnstiles = new Map<string, Turnstile>();

  constructor(options: ShellProvidersOptions) {
    this.#options = options;
  }

  /** Names of all of them, those of the configuration first. */
  get names(): readonly string[] {
    const configured = Object.keys(this.#options.settings().shellProviders);
    return [...new Set([...configured, ...DRIVER_NAMES])];
  }

  /** Whether one can be run: its program is there. Nothing is started for that. */
  availability(name: string): Availability {
    if (this.#options.settings().skipCli) {
      return { available: false, reason: 'command-line tools are switched off (llm.skip_cli)' };
    }
    const { driver, settings } = this.#find(name);
    const wanted = settings.command === undefined ? driver.binaries : [settings.command];
    const path = settings.env['PATH']?.reveal() ?? this.#options.path;
    const found = wanted.map((command) => locate(command, path)).find((file) => file !== undefined);
    if (found !== undefined) return { available: true, command: found };
    return { available: false, reason: `${wanted.join(' or ')} is not installed, or not on PATH` };
  }

  /** The time that a provider has for an answer, when nobody says another. */
  timeoutMsOf(name: string): number {
    return this.#find(name).settings.timeoutMs ?? this.#options.settings().timeoutMs;
  }

  /**
   * Asks one.
   * @throws AdapterError PROVIDER_NOT_FOUND, LLM_…
   */
  async ask(name: string, question: LlmQuestion & { readonly timeoutMs: number }): Promise<LlmReply> {
    const deadline = performance.now() + question.timeoutMs;
    const provider = this.#find(name);
    const place = this.availability(name);
    if (!place.available) throw llmError('unavailable', `${name}: ${place.reason}`, { shell_provider: name });
    const invocation = invocationOf(provider, question);
    using _turn = await this.#takeTurn(provider, question);
    await using directory = await this.#options.scratch.make();
    const timeoutMs = Math.max(1, Math.ceil(deadline - performance.now()));
    return await this.#run(provider, place.command ?? name, invocation, directory, { ...question, timeoutMs });
  }

  /** Waits until the tool may run once more; that counts as time that the answer takes. */
  async #takeTurn(
    { name, settings }: ShellProvider,
    { signal, timeoutMs }: LlmQuestion & { readonly timeoutMs: number },
  ): Promise<Disposable> {
    const { concurrency, queueLimit } = this.#options.settings();
    const limits = { concurrency: settings.concurrency ?? concurrency, queueLimit };
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      return await this.#turnstileOf(name).enter(limits, inTime);
    } catch (error) {
      if (error instanceof AdapterError) throw error;
      const details = { provider: 'shell', shell_provider: name };
      if (signal.aborted) throw llmError('cancelled', `${name} was cancelled`, details, error);
      throw llmError('timeout', `${name} was busy with other calls until the time was over`, details, error);
    }
  }

  async #run(
    provider: ShellProvider,
    file: string,
    invocation: Invocation,
    directory: ScratchDirectory,
    question: LlmQuestion & { readonly timeoutMs: number },
  ): Promise<LlmReply> {
    const { driver, settings } = provider;
    const reader = outputReader(driver, settings.output, settings.args !== undefined);
    const end = await this.#options.runner.run({
      file,
      args: await placeInput(invocation, directory),
      cwd: question.cwd,
      env: { ...this.#environmentOf(provider), TMPDIR: directory.path },
      stdin: invocation.stdin,
      timeoutMs: question.timeoutMs,
      idleTimeoutMs: settings.idleTimeoutMs,
      reader,
      onChunk: (text) => question.onChunk?.(text),
      signal: question.signal,
    });
    return this.#conclude(provider, reader, end);
  }

  #conclude(provider: ShellProvider, { answer, noise }: OutputReader, end: CliRunEnd): LlmReply {
    if (end.cause === 'shutdown') throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
    const { failure, isFinished, text } = answer;
    const { exitKinds } = provider.driver;
    const verdict = judgeRun({ ...end, failure, isFinished, text, noise, exitKinds });
    if (!verdict.ok) throw this.#failureOf(provider, verdict, end);
    return {
      content: verdict.content,
      usage: answer.usage,
      model: answer.model ?? null,
      session: answer.session ?? null,
    };
  }

  #failureOf(
    { name, settings }: ShellProvider,
    { kind, what, detail }: Extract<RunVerdict, { readonly ok: false }>,
    { cause, exitCode }: CliRunEnd,
  ): AdapterError {
    const secrets = Object.values(settings.env).map((secret) => secret.reveal());
    const masked = maskSecrets(detail, secrets).slice(0, MAX_DETAIL_CHARACTERS);
    const [firstLine = ''] = masked.split('\n', 1);
    const details: ErrorDetails = {
      provider: 'shell',
      shell_provider: name,
      exit_code: cause === 'exit' ? exitCode : null,
      detail: masked,
    };
    return llmError(kind, `${name} ${what}${firstLine === '' ? '' : `: ${firstLine}`}`, details);
  }

  /** What is said in the configuration wins, then what the daemon has, then what keeps the tool quiet. */
  #environmentOf({ driver, settings }: ShellProvider): Record<string, string> {
    const own = Object.entries(settings.env).map(([name, secret]) => [name, secret.reveal()] as const);
    const inherited = this.#options.settings().variables.pick([...COMMON_VARIABLES, ...driver.variables]);
    return { ...driver.env, ...inherited, ...Object.fromEntries(own) };
  }

  #find(name: string): ShellProvider {
    const { shellProviders } = this.#options.settings();
    const settings = Object.hasOwn(shellProviders, name) ? shellProviders[name] : undefined;
    const driver = driverNamed(settings?.driver ?? name);
    if (settings) return { name, driver: driver ?? generic, settings };
    if (driver) return { name, driver, settings: UNCHANGED };
    throw new AdapterError('PROVIDER_NOT_FOUND', `there is no shell provider ${JSON.stringify(name)}`, {
      details: { shell_provider: name, shell_providers: this.names },
    });
  }

  #turnstileOf(name: string): Turnstile {
    let turnstile = this.#turnstiles.get(name);
    if (!turnstile) this.#turnstiles.set(name, (turnstile = new Turnstile(name)));
    return turnstile;
  }
}

/** What of a tool's words is told to clients. */
const MAX_DETAIL_CHARACTERS = 4096;

/** Puts the prompt into a file, where it is wanted there; gives the arguments with its path. */
async function placeInput({ args, inputFile }: Invocation, { path }: ScratchDirectory): Promise<readonly string[]> {
  if (inputFile === undefined) return args;
  const file = join(path, 'prompt.txt');
  await writeFile(file, inputFile, { mode: 0o600 });
  return args.map((arg) => arg.replaceAll(INPUT_FILE, file));
}

/** Finds a program by its name on PATH, or by its absolute path. */
const locate = (command: string, path: string): string | undefined =>
  command.includes('/') ? findProgram(basename(command), dirname(command)) : findProgram(command, path);
