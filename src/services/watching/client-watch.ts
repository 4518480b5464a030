import type { EventPayload } from '../../core/protocol/results.js';
import type { PathWatcher } from '../../engine/files/file-job.js';
import { MAX_BATCH_CHANGES, type PathChange, type WatchBatch } from '../../engine/files/watch.js';
import type { Watchable } from '../files/files.js';
import type { EventSink } from '../registry/caller.js';

/** Changes wait while the connection has more unsent bytes than this. */
const MAX_PENDING_BYTES = 256 * 1024;

/** For whom is watched, and what. */
interface ClientWatchOptions {
  readonly watchId: string;
  readonly sink: EventSink;
  /** Those of some paths that the client may know of. */
  readonly shownOf: Watchable['shownOf'];
  readonly debounceMs: number;
}

/** One watch of a client. While the client does not read, changes are merged, up to a bound. */
export class ClientWatch implements AsyncDisposable {
  readonly #options: ClientWatchOptions;
  readonly #waiting = new Map<string, PathChange['change']>();
  #overflow = false;
  #timer: NodeJS.Timeout | undefined;
  #watcher: PathWatcher | undefined;
  #isDisposed = false;
  /** Whether its session has ended. */
  isOver: () => boolean = () => false;

  constructor(options: ClientWatchOptions) {
    this.#options = options;
  }

  /** Resolves with the reason when it ends before it is disposed. */
  get ended(): Promise<string> {
    return this.#watcher?.ended ?? new Promise(() => undefined);
  }

  /** @throws as `FilePerformer.watch` */
  async start(
    { at, performer }: Watchable,
    how: { readonly isRecursive: boolean; readonly debounceMs: number },
  ): Promise<void> {
    this.#watcher = await performer.watch({ at, ...how }, (batch) => {
      this.#add(batch);
    });
  }

  /** Tells the client that nothing more comes. */
  tellEnd(reason: EventPayload<'watch_ended'>['reason'], detail: string): void {
    this.#options.sink.send('watch_ended', { watch_id: this.#options.watchId, reason, detail });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    await this.#watcher?.[Symbol.asyncDispose]();
  }

  #add({ changes, overflow }: WatchBatch): void {
    this.#overflow ||= overflow;
    const shown = new Set(this.#options.shownOf(changes.map(({ path }) => path)));
    for (const { path, change } of changes) {
      if (!shown.has(path)) continue;
      const before = this.#waiting.get(path);
      if (before === undefined && this.#waiting.size >= MAX_BATCH_CHANGES) this.#overflow = true;
      else this.#waiting.set(path, before === 'created' && change === 'changed' ? before : change);
    }
    // Otherwise the client reads too slowly, and the timer sends them: one for all changes, not one for each.
    if (this.#timer === undefined) this.#send();
  }

  readonly #send = (): void => {
    this.#timer = undefined;
    const { sink, watchId, debounceMs } = this.#options;
    if (this.#isDisposed || (this.#waiting.size === 0 && !this.#overflow)) return;
    if (sink.pendingBytes() > MAX_PENDING_BYTES) {
      this.#timer = setTimeout(this.#send, debounceMs).unref();
      return;
    }
    const changes = [...this.#waiting].map(([path, change]) => ({ path, change }));
    const overflow = this.#overflow;
    this.#waiting.clear();
    this.#overflow = false;
    sink.send('paths_changed', { watch_id: watchId, changes, overflow });
  };
}
