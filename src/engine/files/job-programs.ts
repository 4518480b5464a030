import type { FileJobKind, FileJobOf, FileResult } from './file-job.js';
import { ByteReader, joinMessage } from './messages.js';
import { type FileWorkerPlace, WorkerProcess } from './worker-process.js';

/** How long a program waits for its next job, in milliseconds. */
const IDLE_MS = 3000;
/** A program that is older gets no further job, in milliseconds: limits on CPU time count all of its jobs. */
const MAX_AGE_MS = 60_000;
/** Programs that wait, of all places: each holds some 40 MB. */
const MAX_IDLE = 8;
/** Longest data of a reply, in bytes: the largest part of a file, and a listing of the longest names. */
const MAX_REPLY_BYTES = 16 * 1024 * 1024;

/** A program that does jobs, one after another. */
class JobProgram implements AsyncDisposable {
  readonly #worker: WorkerProcess;
  readonly #reader: ByteReader;
  readonly #startedAt = performance.now();

  private constructor(worker: WorkerProcess) {
    this.#worker = worker;
    this.#reader = new ByteReader(worker.stdout);
  }

  static async start(place: FileWorkerPlace): Promise<JobProgram> {
    const worker = new WorkerProcess(place, { timeoutMs: MAX_AGE_MS + place.timeoutMs, isInternal: true });
    await worker.start();
    return new JobProgram(worker);
  }

  get isUsable(): boolean {
    return !this.#worker.hasEnded && performance.now() - this.#startedAt < MAX_AGE_MS;
  }

  /**
   * Does a job.
   * @throws AdapterError
   */
  async perform<K extends FileJobKind>(
    job: FileJobOf<K>,
    content: Uint8Array,
    timeoutMs: number,
  ): Promise<FileResult<K>> {
    const worker = this.#worker;
    const timer = setTimeout(() => {
      worker.timeOut();
    }, timeoutMs);
    try {
      for (const part of joinMessage({ job, length: content.length }, content)) worker.stdin.write(part);
      const reply = await worker.parse(await this.#reader.line());
      if (!('result' in reply) || reply.length > MAX_REPLY_BYTES) throw await worker.failure();
      const data = await this.#reader.exactly(reply.length);
      if (!data) throw await worker.failure();
      const result: FileResult = reply.result;
      return 'data' in result ? { ...result, data } : result;
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#worker[Symbol.asyncDispose]();
  }
}

interface Idle {
  readonly program: JobProgram;
  readonly place: FileWorkerPlace;
  /** Takes back what would end it. */
  readonly keep: () => void;
  readonly end: () => void;
}

/**
 * Runs jobs in programs, one job at a time in each. Since a program takes tenths of a second to start, it waits some seconds for the next job of its
 * place. At most one waits for each place, and the oldest ends when there are too many.
 */
export class JobPrograms {
  readonly #idle = new Map<string, Idle>();

  /**
   * Does a job in the program that waits for this place, or in a new one.
   * @throws AdapterError, and system errors of an exhausted machine
   */
  async perform<K extends FileJobKind>(
    place: FileWorkerPlace,
    job: FileJobOf<K>,
    content: Uint8Array,
  ): Promise<FileResult<K>> {
    const program = this.#take(place) ?? (await JobProgram.start(place));
    try {
      return await program.perform(job, content, place.timeoutMs);
    } finally {
      await this.#give(place, program);
    }
  }

  #take(place: FileWorkerPlace): JobProgram | undefined {
    const idle = this.#idle.get(place.key);
    // A user who was removed and made again has other programs.
    if (!idle || idle.place.oneShots !== place.oneShots) return undefined;
    this.#idle.delete(place.key);
    idle.keep();
    if (idle.program.isUsable) return idle.program;
    void idle.program[Symbol.asyncDispose]();
    return undefined;
  }

  async #give(place: FileWorkerPlace, program: JobProgram): Promise<void> {
    if (!program.isUsable || this.#idle.has(place.key)) return program[Symbol.asyncDispose]();
    const end = () => {
      keep();
      this.#idle.delete(place.key);
      void program[Symbol.asyncDispose]();
    };
    const timer = setTimeout(end, IDLE_MS).unref();
    const isOver = place.onEnd(end);
    const keep = () => {
      clearTimeout(timer);
      isOver();
    };
    if (this.#idle.size >= MAX_IDLE) this.#idle.values().next().value?.end();
    this.#idle.set(place.key, { program, place, keep, end });
  }
}
