import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';
import type { Script, ShellName, Way } from './corpus.js';
import { normalise, type Outcome } from './outcome.js';

/** Most time for a script, in milliseconds: none takes long, unless it hangs. */
const TIMEOUT_MS = Number(process.env['SCRIPT_TIMEOUT_MS'] ?? 10_000);
/** Characters of a result; scripts print less. */
const OUTPUT_SIZE = 10_000_000;
/** Shells that the daemon keeps started: as many scripts of a shell are run at a time. */
export const RUNS_AT_A_TIME = 4;

/** No start-up files, as in the daemon's shells. */
const FLAGS: Readonly<Record<ShellName, readonly string[]>> = { bash: [], sh: [], zsh: ['-f'], fish: ['--no-config'] };
/** What a program gets from the shell that starts it, and a shell makes itself. */
const OF_A_SHELL = new Set(['_', 'OLDPWD', 'PWD', 'SHLVL']);

/** Runs scripts by a shell alone, and by a daemon whose shell it is: each in an empty directory of its own. */
export class Runs implements AsyncDisposable {
  /** The ways in which the daemon runs scripts of this shell. */
  readonly ways: readonly Way[] = ['one-shot', 'session'];
  readonly #shell: ShellName;
  readonly #daemon: TestDaemon;
  readonly #client: WireClient;
  readonly #root: string;
  #env: Readonly<Record<string, string>> = {};
  #count = 0;

  private constructor(shell: ShellName, root: string, daemon: TestDaemon, client: WireClient) {
    this.#root = root;
    this.#shell = shell;
    this.#daemon = daemon;
    this.#client = client;
  }

  static async start(shell: ShellName): Promise<Runs> {
    const prewarm = { sessions: RUNS_AT_A_TIME, one_shots: RUNS_AT_A_TIME };
    // fish writes into the home directory.
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'same-as-shell-')));
    const daemon = await TestDaemon.start({
      launcher: ['env', '-i', `PATH=${process.env['PATH']}`, `HOME=${root}`, 'LC_ALL=C.UTF-8'],
      settings: { adapter: { prewarm, shell } },
    });
    const runs = new Runs(shell, root, daemon, await WireClient.connect(daemon.url));
    await runs.#readEnvironment();
    return runs;
  }

  /** Runs a script by `SHELL -c TEXT`. */
  async alone({ text }: Script): Promise<Outcome> {
    const cwd = this.#emptyDirectory('alone');
    const child = spawn(this.#shell, [...FLAGS[this.#shell], '-c', text], {
      cwd,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const late = AbortSignal.timeout(TIMEOUT_MS);
    const kill = () => process.kill(-child.pid!, 'SIGKILL');
    late.addEventListener('abort', kill);
    const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    const [stdout, stderr] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
    const [code, signal] = await closed;
    late.removeEventListener('abort', kill);
    const exitCode = late.aborted ? 'timed out' : (code ?? 128 + constants.signals[signal!]);
    return { stdout: normalise(stdout.toString(), cwd), stderr: normalise(stderr.toString(), cwd), exitCode };
  }

  /** Runs a script by the daemon. A session is new, and closed afterwards. */
  async daemon(way: Way, script: Script): Promise<Outcome> {
    const cwd = this.#emptyDirectory(way);
    if (way === 'one-shot') return this.#run(script, cwd);
    const session = await this.#client.openSession({ shell: this.#shell, cwd });
    try {
      return await this.#run(script, cwd, session);
    } finally {
      await this.#client.request('close_session', { session_id: session });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    await this.#daemon[Symbol.asyncDispose]();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #run({ text, hasEmptyStdin }: Script, cwd: string, session?: string): Promise<Outcome> {
    const { error, stdout, stderr, exit_code, timed_out } = await this.#client.run(text, session, {
      timeout_ms: TIMEOUT_MS,
      output: { encoding: 'base64', max_size: OUTPUT_SIZE, max_lines: OUTPUT_SIZE },
      ...(session === undefined && { cwd }),
      ...(hasEmptyStdin && { stdin: '' }),
    });
    if (error) throw new Error(`${error.code}: ${error.message} for:\n${text}`);
    const [out, err] = [stdout, stderr].map((part) => normalise(Buffer.from(part, 'base64').toString(), cwd));
    return { stdout: out!, stderr: err!, exitCode: timed_out ? 'timed out' : (exit_code ?? -1) };
  }

  /** Learns the environment that the daemon gives to programs. */
  async #readEnvironment(): Promise<void> {
    const { stdout } = await this.#client.run('env', undefined, { args: ['-0'] });
    const all = stdout.split('\0').filter((line) => line.includes('='));
    const pairs = all.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
    this.#env = Object.fromEntries(pairs.filter(([name]) => !OF_A_SHELL.has(name)));
  }

  /** Its path is as long as those of other runs. */
  #emptyDirectory(way: Way | 'alone'): string {
    const directory = join(this.#root, way.slice(0, 1), String((this.#count += 1)).padStart(5, '0'));
    mkdirSync(directory, { recursive: true });
    return directory;
  }
}
