import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import type { Log } from '../../core/log.js';
import { Deferred } from '../system/promises.js';
import { TAG_VARIABLE } from '../platform/platform.js';
import { markOf } from '../process/session-mark.js';
import { LineReader, type StarterReport, type StartMessage } from './start-message.js';

/**
 * Starts the starter with a session mark, which identifies processes that have cleared their environment. A shell is
 * needed to set it; dash and BusyBox have `-w`, bash has `-x`.
 */
const WITH_MARK = 'ulimit -S -w "$1" 2>/dev/null || ulimit -S -x "$1" 2>/dev/null; shift; exec "$@"';

const MAIN = fileURLToPath(new URL('./starter-main.js', import.meta.url));

const NO_STARTER = 'the process starter could not be started: there are not enough free descriptors or processes';

/** End of a process: an exit code, a signal, or the reason why it could not be started. */
export type ProcessEnd = Exclude<StarterReport, { readonly kind: 'started' }>;

/** A process that the starter has started, or is about to start. */
export class StartedProcess {
  /** Resolves when the process runs, or could not be started. */
  readonly started: Promise<void>;
  /** Resolves when the process has ended; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #started = new Deferred<undefined>();
  readonly #ended = new Deferred<ProcessEnd>();
  #pid: number | undefined;
  #hasEnded = false;

  constructor() {
    this.started = this.#started.promise;
    this.ended = this.#ended.promise;
  }

  /** Undefined until the process runs. */
  get pid(): number | undefined {
    return this.#pid;
  }

  /** Whether the process has ended, or could not be started. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Processes a report of the starter. */
  note(report: StarterReport): void {
    this.#started.resolve(undefined);
    if (report.kind === 'started') {
      this.#pid = report.pid;
      return;
    }
    this.#hasEnded = true;
    this.#ended.resolve(report);
  }
}

/** Starts processes through a small helper process, so that the daemon itself does not fork. */
export class ProcessStarter implements AsyncDisposable {
  /** Tag of the starter, and of processes that have cleared their environment. */
  readonly tag: string;
  readonly #log: Log;
  readonly #processes = new Map<number, StartedProcess>();
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #nextId = 0;
  #isClosed = false;

  /** @param tag identifies the starter itself, for the cleanup after a daemon that was killed */
  constructor(tag: string, log: Log) {
    this.tag = tag;
    this.#log = log;
  }

  /** Starts the starter before the daemon has opened a terminal, which the starter would inherit. */
  warmUp(): void {
    try {
      this.#running();
    } catch (error) {
      this.#log.warn('the process starter is started with the first command', { error: String(error) });
    }
  }

  /**
   * Starts a process; opening the paths of its descriptors must not block.
   * @throws Error EAGAIN when the starter has died, and there are not enough descriptors for another one
   */
  start(message: Omit<StartMessage, 'id'>): StartedProcess {
    const { stdin } = this.#running();
    const id = this.#nextId++;
    const started = new StartedProcess();
    this.#processes.set(id, started);
    stdin.write(`${JSON.stringify({ id, ...message })}\n`);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const child = this.#child;
    if (!child) return;
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.stdin.end();
    await closed;
  }

  #running(): ChildProcessByStdio<Writable, Readable, null> {
    if (this.#child) return this.#child;
    const child = spawn('/bin/sh', ['-c', WITH_MARK, 'sh', markOf(this.tag), process.execPath, MAIN], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { [TAG_VARIABLE]: `${this.tag}.0` },
    });
    child.on('error', (error) => {
      this.#lose(child, error.message);
    });
    // After EMFILE there are no streams either, whatever the types say.
    if (child.pid === undefined) throw Object.assign(new Error(NO_STARTER), { code: 'EAGAIN' });
    this.#child = child;
    const lines = new LineReader((line) => {
      this.#take(JSON.parse(line) as StarterReport);
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      lines.push(text);
    });
    // EPIPE: the starter has died, which 'close' reports.
    child.stdin.on('error', () => undefined);
    child.on('close', (code, signal) => {
      this.#lose(child, `it ended with ${signal ?? code ?? 'no code'}`);
    });
    return child;
  }

  #take(report: StarterReport): void {
    const started = this.#processes.get(report.id);
    if (report.kind !== 'started') this.#processes.delete(report.id);
    started?.note(report);
  }

  /** With the starter, everything that it had started has ended; the next start creates a new one. */
  #lose(child: ChildProcessByStdio<Writable, Readable, null>, why: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (!this.#isClosed) this.#log.error('the process starter has died; a new one is started when needed', { why });
    for (const [id, started] of this.#processes) {
      started.note({ id, kind: 'failed', code: 'STARTER_DIED', message: `the process starter has died: ${why}` });
    }
    this.#processes.clear();
  }
}
