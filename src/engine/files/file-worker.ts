import type {
  FileJobKind,
  FileJobOf,
  FilePerformer,
  FileResult,
  LateDigest,
  OnDigest,
  PathWatcher,
  SentFile,
  Target,
  WatchJob,
} from './file-job.js';
import type { JobPrograms } from './job-programs.js';
import { becameShorter } from './open-file.js';
import type { OnBatch, WatchBatch } from './watch.js';
import { ByteReader, frameOf, headLine, LAST_FRAME, type SentRange } from './messages.js';
import { type FileWorkerPlace, WorkerProcess } from './worker-process.js';

/** Does jobs in a program of its own, which is started like a command: in a sandbox, or as another user, and with its limits. */
export class FileWorker implements FilePerformer {
  readonly #place: FileWorkerPlace;
  readonly #programs: JobPrograms;

  constructor(place: FileWorkerPlace, programs: JobPrograms) {
    this.#place = place;
    this.#programs = programs;
  }

  perform<K extends FileJobKind>(job: FileJobOf<K>, content = new Uint8Array()): Promise<FileResult<K>> {
    return this.#place.turns.take(() => this.#programs.perform(this.#place, job, content));
  }

  async send(at: Target): Promise<SentFile> {
    const worker = new WorkerProcess(this.#place, { timeoutMs: this.#place.transferTimeoutMs });
    worker.stdin.write(headLine({ send: at }));
    try {
      await worker.start();
      const reader = new ByteReader(worker.stdout);
      const reply = await worker.parse(await reader.line());
      if (!('sent' in reply)) throw await worker.failure();
      return {
        ...reply.sent,
        read: (offset, length, onDigest) =>
          readRange({ worker, reader, path: at.path, onDigest }, { offset, length, digest: onDigest !== undefined }),
        [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
      };
    } catch (error) {
      await worker[Symbol.asyncDispose]();
      throw error;
    }
  }

  async receive(
    job: FileJobOf<'write'>,
    content: AsyncIterable<Uint8Array>,
    digest?: LateDigest,
  ): Promise<FileResult<'write'>> {
    await using worker = new WorkerProcess(this.#place, { timeoutMs: this.#place.transferTimeoutMs });
    worker.stdin.write(headLine({ receive: job, digest: digest !== undefined }));
    await worker.start();
    try {
      await feed(worker, content, digest);
    } catch (error) {
      // Without the last frame, the program removes what it has written; ending it would leave that.
      worker.stdin.end();
      await worker.finished();
      throw error;
    }
    const result = await resultIn<'write'>(worker, new ByteReader(worker.stdout));
    await worker.finished();
    return result;
  }

  async watch(job: WatchJob, onBatch: OnBatch): Promise<PathWatcher> {
    const worker = new WorkerProcess(this.#place, { timeoutMs: this.#place.transferTimeoutMs });
    worker.stdin.write(headLine({ watch: job }));
    try {
      await worker.start();
      const reader = new ByteReader(worker.stdout);
      const reply = await worker.parse(await reader.line());
      if (!('watching' in reply)) throw await worker.failure();
      return {
        ended: readBatches(worker, reader, onBatch),
        [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
      };
    } catch (error) {
      await worker[Symbol.asyncDispose]();
      throw error;
    }
  }
}

/** Reads batches until the program ends. Resolves with the reason. */
async function readBatches(worker: WorkerProcess, reader: ByteReader, onBatch: OnBatch): Promise<string> {
  try {
    for (let line = await reader.line(); line !== undefined; line = await reader.line()) {
      onBatch(JSON.parse(line) as WatchBatch);
    }
    return (await worker.failure()).message;
  } catch (cause) {
    return (await worker.failure(cause)).message;
  }
}

async function resultIn<K extends FileJobKind>(worker: WorkerProcess, reader: ByteReader): Promise<FileResult<K>> {
  const reply = await worker.parse(await reader.line());
  if (!('result' in reply)) throw await worker.failure();
  return reply.result;
}

/** Passes a content on as fast as the program takes it; less of it when the program has ended. */
async function feed(
  { stdin }: WorkerProcess,
  content: AsyncIterable<Uint8Array>,
  digest: LateDigest | undefined,
): Promise<void> {
  for await (const piece of content) {
    if (piece.length > 0) stdin.write(frameOf(piece));
    if (stdin.isFull && (await stdin.whenRoom()) === 'closed') return;
    if (stdin.isClosed) return;
  }
  stdin.write(LAST_FRAME);
  if (digest) stdin.write(Buffer.from(`${(await digest()) ?? ''}\n`));
  stdin.end();
}

interface Sending {
  readonly worker: WorkerProcess;
  readonly reader: ByteReader;
  readonly path: string;
  readonly onDigest: OnDigest | undefined;
}

async function* readRange({ worker, reader, path, onDigest }: Sending, range: SentRange): AsyncGenerator<Uint8Array> {
  worker.stdin.write(headLine(range));
  worker.stdin.end();
  for (let left = range.length; left > 0;) {
    const piece = await reader.upTo(left);
    if (!piece) throw becameShorter(path);
    left -= piece.length;
    yield piece;
  }
  if (onDigest) onDigest((await reader.line()) || undefined);
}
