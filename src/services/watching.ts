import { AdapterError } from '../core/errors.js';
import { ID_BYTES, watchIdFrom } from '../core/ids.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import { DEFAULT_DEBOUNCE_MS } from '../core/protocol/requests/watching.js';
import type { EventPayload } from '../core/protocol/results.js';
import type { PathWatcher } from '../engine/files/file-job.js';
import { MAX_BATCH_CHANGES, type PathChange, type WatchBatch } from '../engine/files/watch.js';
import { randomBytes } from '../engine/system/random.js';
import type { Files, Watchable } from './files/files.js';
import { type Caller, type EventSink, sinkFor } from './registry/caller.js';
import { Lane } from './registry/outbox.js';
import type { SessionRegistry } from './registry/session-registry.js';

/** One watch of a client. While the client does not read, changes are merged, up to a bound. */
export class ClientWatch implements AsyncDisposable {
  readonly #watchId: string;
  readonly #sink: EventSink;
  readonly #lane: Lane;
  readonly #waiting = new Map<string, PathChange['change']>();
  #overflow = false;
  #watcher: PathWatcher | undefined;
  #isDisposed = false;
  isOver: () => boolean = () => false;

  constructor(watchId: string, sink: EventSink) {
    this.#watchId = watchId;
    this.#sink = sink;
    this.#lane = new Lane(sink, this.#send);
  }

  /** Resolves with the reason when it ends before it is disposed. */
  get ended(): Promise<string> {
    return this.#watcher?.ended ?? new Promise(() => undefined);
  }

  /** @throws as `FilePerformer.watch` */
  async start(
    { at, performer, shownOf }: Watchable,
    how: { readonly isRecursive: boolean; readonly debounceMs: number },
  ): Promise<void> {
    this.#watcher = await performer.watch({ at, ...how }, (batch) => {
      if (!this.#isDisposed) this.#add(batch, shownOf);
    });
  }

  /** Tells the client that nothing more comes. */
  tellEnd(reason: EventPayload<'watch_ended'>['reason'], detail: string): void {
    this.#lane.flush();
    this.#sink.send('watch_ended', { watch_id: this.#watchId, reason, detail });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#lane[Symbol.dispose]();
    await this.#watcher?.[Symbol.asyncDispose]();
  }

  #add({ changes, overflow }: WatchBatch, shownOf: Watchable['shownOf']): void {
    this.#overflow ||= overflow;
    const shown = new Set(shownOf(changes.map(({ path }) => path)));
    for (const { path, change } of changes) {
      if (!shown.has(path)) continue;
      const before = this.#waiting.get(path);
      if (before === undefined && this.#waiting.size >= MAX_BATCH_CHANGES) this.#overflow = true;
      else this.#waiting.set(path, before === 'created' && change === 'changed' ? before : change);
    }
    if (this.#waiting.size > 0 || this.#overflow) this.#lane.offer();
  }

  readonly #send = (): void => {
    const changes = [...this.#waiting].map(([path, change]) => ({ path, change }));
    const overflow = this.#overflow;
    this.#waiting.clear();
    this.#overflow = false;
    this.#sink.send('paths_changed', { watch_id: this.#watchId, changes, overflow });
  };
}

const MAX_WATCHES = 8;
/** Time after which the end of a session is noticed, in milliseconds. */
const SESSION_LOOK_MS = 1000;
/** Time after which a client that is told to come back may do so, in milliseconds. */
const RETRY_AFTER_MS = 1000;

/** Tells clients what changes below paths that they watch. */
export class Watching implements AsyncDisposable {
  readonly #files: Files;
  readonly #sessions: SessionRegistry;
  /** Id of this node of a cluster; undefined for a daemon alone. */
  readonly #node: string | undefined;
  /** By the id of the connection, and by that of the watch; undefined while it begins. */
  readonly #watches = new Map<string, Map<string, ClientWatch | undefined>>();
  #sessionTimer: NodeJS.Timeout | undefined;

  constructor(files: Files, sessions: SessionRegistry, node: string | undefined) {
    this.#files = files;
    this.#sessions = sessions;
    this.#node = node;
  }

  /**
   * Begins a watch.
   * @throws AdapterError INVALID_REQUEST for a caller without events, COMMAND_DENIED, RATE_LIMITED, RESOURCE_EXHAUSTED,
   *   SESSION_NOT_FOUND, and the errors of files
   */
  async watch(request: Request<'watch_paths'>, caller: Caller): Promise<Answer<'watch_paths'>> {
    const sink = sinkFor('watch_paths', caller);
    const own = this.#watches.get(sink.id) ?? new Map<string, ClientWatch | undefined>();
    if (own.size >= MAX_WATCHES) throw tooMany();
    const watchId = watchIdFrom(randomBytes(ID_BYTES), this.#node);
    own.set(watchId, undefined);
    this.#watches.set(sink.id, own);
    const { debounce_ms: debounceMs = DEFAULT_DEBOUNCE_MS } = request;
    try {
      const place = await this.#files.watchable(request, caller);
      const watch = new ClientWatch(watchId, sink);
      await watch.start(place, { isRecursive: request.recursive === true, debounceMs });
      // The client may have gone while the watch began.
      if (this.#watches.get(sink.id) !== own) await watch[Symbol.asyncDispose]();
      else this.#keep(own, watchId, { watch, request, caller });
      return { watch_id: watchId, paths: place.at.map(({ path }) => path), debounce_ms: debounceMs };
    } catch (error) {
      own.delete(watchId);
      throw error;
    }
  }

  /**
   * Ends a watch.
   * @throws AdapterError INVALID_REQUEST when the connection has no such watch
   */
  async unwatch({ watch_id: id }: Request<'unwatch_paths'>, { sink }: Caller): Promise<Answer<'unwatch_paths'>> {
    const own = this.#watches.get(sink?.id ?? '');
    const watch = own?.get(id);
    if (!watch) {
      throw new AdapterError('INVALID_REQUEST', `this connection has no watch ${id}`, {
        details: { field: 'watch_id' },
      });
    }
    own?.delete(id);
    await watch[Symbol.asyncDispose]();
    return { watch_id: id };
  }

  detach(sink: EventSink): void {
    const own = this.#watches.get(sink.id);
    this.#watches.delete(sink.id);
    for (const watch of own?.values() ?? []) void watch?.[Symbol.asyncDispose]();
    if (this.#watches.size === 0) this.#stopLooking();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopLooking();
    const all = [...this.#watches.values()].flatMap((own) => [...own.values()]);
    this.#watches.clear();
    await Promise.all(all.map(async (watch) => watch?.[Symbol.asyncDispose]()));
  }

  #keep(own: Map<string, ClientWatch | undefined>, id: string, { watch, request, caller }: Kept): void {
    own.set(id, watch);
    const { session_id: sessionId } = request;
    void watch.ended.then((detail) => {
      if (own.delete(id)) watch.tellEnd('failed', detail);
    });
    if (sessionId === undefined) return;
    watch.isOver = () => {
      try {
        this.#sessions.get(sessionId, caller.principal, 'use');
        return false;
      } catch {
        // SESSION_NOT_FOUND.
        return true;
      }
    };
    this.#sessionTimer ??= setInterval(() => {
      this.#lookAtSessions();
    }, SESSION_LOOK_MS).unref();
  }

  #lookAtSessions(): void {
    for (const own of this.#watches.values()) {
      for (const [id, watch] of own) {
        if (!watch?.isOver()) continue;
        own.delete(id);
        watch.tellEnd('session_closed', 'the session has ended');
        void watch[Symbol.asyncDispose]();
      }
    }
  }

  #stopLooking(): void {
    clearInterval(this.#sessionTimer);
    this.#sessionTimer = undefined;
  }
}

interface Kept {
  readonly watch: ClientWatch;
  readonly request: Request<'watch_paths'>;
  readonly caller: Caller;
}

const tooMany = (): AdapterError =>
  new AdapterError('RATE_LIMITED', `this connection has ${MAX_WATCHES} watches already: end one by unwatch_paths`, {
    details: { max_watches: MAX_WATCHES, retry_after_ms: RETRY_AFTER_MS },
  });
