import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { stringify } from 'yaml';

import type { Role } from '../../src/core/principal.js';
import { TokenFiles } from '../../src/services/access/token-files.js';
import { PROCESS_HANG_MS } from './hang.js';

/** The built binary. */
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Gives the daemon more time to end than a supervisor would: how fast it ends is up to the machine. */
const PATIENT_END = fileURLToPath(new URL('../fixtures/patient-end.mjs', import.meta.url));

/** A gate that has deletions confirmed: no checkpoint is made in place of it. */
export const ASKING = { mode: 'self', classes: { destructive: 'confirm' } } as const;

/** A configuration file's content: sections, keys, values. */
export type DaemonSettings = Partial<
  Record<
    | 'adapter'
    | 'audit'
    | 'checkpoints'
    | 'logging'
    | 'secrets'
    | 'socketio'
    | 'auth'
    | 'confirmation'
    | 'sandbox'
    | 'llm'
    | 'http'
    | 'notify'
    | 'environments'
    | 'recording'
    | 'traces'
    | 'cluster',
    Record<string, unknown>
  >
>;

/** How to start a daemon for a test. */
export interface DaemonOptions {
  readonly settings?: DaemonSettings;
  readonly env?: Readonly<Record<string, string>>;
  /** Command line in front of `node dist/main.js`, such as `['prlimit', '--nofile=60']`. */
  readonly launcher?: readonly string[];
  /**
   * What starts it, before its arguments.
   * @default the built binary, with `serve`, and with time to end
   */
  readonly command?: readonly string[];
}

/** A daemon process of a test's own: the built one, on a port of its own, in folders of its own. */
export class TestDaemon implements AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Holds `config.yaml`, `workspace`, `state` and `log`. */
  readonly directory: string;
  /** Resolves with the exit code, or the signal, when the daemon has ended. */
  readonly exited: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  readonly #output: () => string;

  private constructor(child: ChildProcess, url: string, directory: string, output: () => string) {
    this.#child = child;
    this.#output = output;
    this.url = url;
    this.directory = directory;
    this.pid = child.pid!;
    // A test that hangs is ended with its worker, which vitest ends by SIGTERM: the daemon must not stay.
    const kill = () => child.kill('SIGKILL');
    const end = () => child.kill('SIGTERM');
    process.once('exit', kill);
    process.once('SIGTERM', end);
    this.exited = new Promise((resolve) => {
      child.on('exit', (code, signal) => {
        process.off('exit', kill);
        process.off('SIGTERM', end);
        resolve(signal ?? code ?? 0);
      });
    });
  }

  /** Starts a daemon and waits until it listens. */
  static async start(options: DaemonOptions = {}, given?: string): Promise<TestDaemon> {
    const directory = given ?? mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
    const {
      settings = {},
      launcher = [],
      command = [process.execPath, '--import', PATIENT_END, MAIN, 'serve'],
      env = {},
    } = options;
    const config = join(directory, 'config.yaml');
    writeFileSync(
      config,
      stringify({
        adapter: {
          workspace_directory: join(directory, 'workspace'),
          state_directory: join(directory, 'state'),
          ...settings.adapter,
        },
        ...(settings.checkpoints && { checkpoints: settings.checkpoints }),
        logging: { log_file_path: join(directory, 'log'), ...settings.logging },
        // A test that is starved on a busy machine keeps its connection.
        socketio: { port: 0, ping_timeout: 60, ...settings.socketio },
        ...(settings.audit && { audit: settings.audit }),
        ...(settings.secrets && { secrets: settings.secrets }),
        ...(settings.auth && { auth: settings.auth }),
        // Most tests are about what commands do, not about whether they may.
        confirmation: settings.confirmation ?? { mode: 'off' },
        ...(settings.sandbox && { sandbox: settings.sandbox }),
        ...(settings.llm && { llm: settings.llm }),
        ...(settings.http && { http: settings.http }),
        ...(settings.notify && { notify: settings.notify }),
        ...(settings.recording && { recording: settings.recording }),
        ...(settings.traces && { traces: settings.traces }),
        ...(settings.environments && { environments: settings.environments }),
        ...(settings.cluster && { cluster: settings.cluster }),
      }),
    );
    const [file, ...args] = [...launcher, ...command, '--config', config];
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    let output = '';
    let hasListened = false;
    const url = await new Promise<string>((resolve, reject) => {
      const take = (chunk: Buffer) => {
        output += chunk.toString();
        const [, found] = /listening on (https?:\/\/\S+)/.exec(output) ?? [];
        hasListened ||= found !== undefined;
        if (found !== undefined) resolve(found);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.on('exit', (code) => {
        // Nobody else knows of it. One that was given is somebody's.
        if (given === undefined && !hasListened) rmSync(directory, { recursive: true, force: true });
        reject(new Error(`the daemon ended with ${code ?? 'a signal'} at its start:\n${output}`));
      });
    });
    return new TestDaemon(child, url, directory, () => output);
  }

  /**
   * Starts a daemon that keeps no shells started ahead of need, which takes 50 ms less of a processor: for a test that runs few
   * commands, and is not about them.
   */
  static startCold(options: DaemonOptions = {}, given?: string): Promise<TestDaemon> {
    const { settings } = options;
    const adapter = { prewarm: { sessions: 0, one_shots: 0 }, ...settings?.adapter };
    return TestDaemon.start({ ...options, settings: { ...settings, adapter } }, given);
  }

  /** What it has printed on stdout and stderr. */
  get output(): string {
    return this.#output();
  }

  /** Makes a token; gives its secret. */
  createToken(role: Role, name: string, lifeMs?: number): string {
    const { tokens } = this;
    // Of an attempt of the same test that has failed.
    if (tokens.read().tokens.some((token) => token.name === name)) tokens.revoke(name);
    return tokens.create({ name, role, lifeMs }).secret;
  }

  get tokens(): TokenFiles {
    return new TokenFiles(join(this.directory, 'state'));
  }

  /** Its audit log. */
  get auditFile(): string {
    return join(this.directory, 'state', 'audit.jsonl');
  }

  get workspace(): string {
    return join(this.directory, 'workspace');
  }

  /** Signals the daemon. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it by SIGTERM (SIGKILL if it hangs) and keeps its folders. */
  async stop(): Promise<number | NodeJS.Signals> {
    this.signal('SIGTERM');
    const timer = setTimeout(() => {
      this.signal('SIGKILL');
    }, PROCESS_HANG_MS);
    const code = await this.exited;
    clearTimeout(timer);
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A test that has failed may have left it stopped.
    this.signal('SIGCONT');
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
