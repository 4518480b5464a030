import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { type IPty, spawn as spawnTerminal } from 'node-pty';

/** The built command line. */
export const MAIN = fileURLToPath(new URL('../../../dist/shell-adapter.cjs', import.meta.url));

/** How long a test waits for a text that has to come, in milliseconds. */
const PATIENCE_MS = 20_000;

/** What a call is made with; the surroundings' own settings of the adapter are kept out. */
export interface CliOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Standard input: closed after this; by default there is none. `open` leaves it open without a byte. */
  readonly input?: string | Uint8Array | { readonly open: true };
}

/** The variable that leads a call of the command line to a daemon. */
export const urlVariable = ({ url }: { readonly url: string }) => ({ SHELL_ADAPTER_URL: url });

/** The environment of a call. */
export function environmentOf({ env }: CliOptions): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:SHELL_ADAPTER_|NO_COLOR$|CI$|npm_)/.test(name));
  return { ...Object.fromEntries(own), XDG_CONFIG_HOME: '/nowhere', ...env };
}

/** How a call ended. */
export interface CliResult {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output and standard error as they came. */
  readonly bytes: Buffer;
  readonly errorBytes: Buffer;
}

/** A call of the command line that is under way. */
export class CliProcess implements AsyncDisposable {
  readonly child: ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };
  /** Resolves when it has ended and all its output was read. */
  readonly ended: Promise<CliResult>;
  readonly #chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  readonly #arrivals = new EventEmitter();

  constructor(args: readonly string[], options: CliOptions = {}) {
    const { input, cwd } = options;
    const stdin = input === undefined ? 'ignore' : 'pipe';
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd,
      env: environmentOf(options),
      stdio: [stdin, 'pipe', 'pipe'],
    });
    this.child = child as CliProcess['child'];
    for (const stream of ['stdout', 'stderr'] as const) {
      this.child[stream].on('data', (chunk: Buffer) => {
        this.#chunks[stream].push(chunk);
        this.#arrivals.emit('output');
      });
    }
    // A program that ends without reading its input breaks the pipe.
    child.stdin?.on('error', () => undefined);
    if (typeof input === 'string' || input instanceof Uint8Array) child.stdin?.end(input);
    this.ended = once(child, 'close').then(([code, signal]: (number | NodeJS.Signals | null)[]) => ({
      code: signal ?? code ?? 0,
      stdout: this.text('stdout'),
      stderr: this.text('stderr'),
      bytes: Buffer.concat(this.#chunks.stdout),
      errorBytes: Buffer.concat(this.#chunks.stderr),
    }));
  }

  text(stream: 'stdout' | 'stderr'): string {
    return Buffer.concat(this.#chunks[stream]).toString();
  }

  /** Ends it, if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Waits until an output matches; gives the match. */
  async until(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    return waitFor(
      () => pattern.exec(this.text(stream)),
      this.#arrivals,
      () => `${stream} has no ${String(pattern)}: ${this.text('stdout')}${this.text('stderr')}`,
    );
  }
}

/** Runs the command line to its end. */
export const runCli = (args: readonly string[], options: CliOptions = {}): Promise<CliResult> =>
  new CliProcess(args, options).ended;

/** The command line on a terminal of its own. */
export class CliTerminal implements AsyncDisposable {
  readonly #pty: IPty;
  readonly #arrivals = new EventEmitter();
  /** Resolves with the exit code, 128+n after signal n. */
  readonly ended: Promise<number>;
  #output = '';
  #hasEnded = false;

  constructor(args: readonly string[], options: CliOptions & { readonly cols?: number; readonly rows?: number } = {}) {
    const { cwd, cols = 100, rows = 30 } = options;
    const env = { TERM: 'xterm-256color', ...environmentOf(options) };
    this.#pty = spawnTerminal(process.execPath, [MAIN, ...args], { cols, rows, env, ...(cwd && { cwd }) });
    this.#pty.onData((data) => {
      this.#output += data;
      this.#arrivals.emit('output');
    });
    this.ended = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode, signal = 0 }) => {
        this.#hasEnded = true;
        resolve(signal === 0 ? exitCode : 128 + signal);
      });
    });
  }

  get output(): string {
    return this.#output;
  }

  /** Ends it, if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.#pty.kill('SIGKILL');
    await this.ended;
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Closes the terminal, as a connection that is lost does. */
  hangUp(): void {
    (this.#pty as IPty & { destroy(): void }).destroy();
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows);
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    return waitFor(
      () => pattern.exec(this.#output),
      this.#arrivals,
      () => `the terminal has no ${String(pattern)}: ${this.#output}`,
    );
  }
}

async function waitFor<T>(find: () => T | null, arrivals: EventEmitter, explain: () => string): Promise<T> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  for (let found = find(); ; found = find()) {
    if (found !== null) return found;
    try {
      await once(arrivals, 'output', { signal });
    } catch (cause) {
      throw new Error(explain(), { cause });
    }
  }
}

/** A folder of a test's own, removed with all in it. */
export function makeFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'shell-adapter-cli-'));
  return {
    path,
    [Symbol.dispose]: () => {
      rmSync(path, { recursive: true, force: true });
    },
  };
}
