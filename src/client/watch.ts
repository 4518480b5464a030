import type { RequestInput } from '../core/protocol/requests.js';
import type { EventPayload } from '../core/protocol/results.js';
import { ClientError } from './errors.js';
import type { ClientLink } from './link.js';

/** How paths are watched. */
export interface WatchOptions {
  /** The session whose directory, sandbox and user count. */
  readonly sessionId?: string | undefined;
  /**
   * Whether to watch what is in the directories below, without `.git` and what a `.gitignore` excludes.
   * @default false
   */
  readonly recursive?: boolean | undefined;
  /**
   * Shortest time between two batches of changes, in milliseconds.
   * @default 100
   */
  readonly debounceMs?: number | undefined;
}

/** What has changed. After `overflow`, more has than is said here: look yourself. */
export type PathChanges = Omit<EventPayload<'paths_changed'>, 'watch_id'>;

/** Most batches that wait for the reader; then they become one with `overflow`. */
const MAX_WAITING = 100;
const OVERFLOW: PathChanges = { changes: [], overflow: true };

/** How a watch learns of the connection. */
type OnConnection = (
  listener: (state: 'connected' | 'lost' | 'restarted' | 'closed', error?: ClientError) => void,
) => () => void;

/**
 * Watches paths of the daemon's machine: iterate it for the changes. After a reconnection it goes on, beginning with
 * `overflow`, because changes may have been missed. Made by `AdapterClient.watchPaths`.
 */
export class PathWatch implements AsyncIterable<PathChanges>, AsyncDisposable {
  readonly #link: ClientLink;
  readonly #request: RequestInput<'watch_paths'>;
  readonly #leave: readonly (() => void)[];
  readonly #waiting: PathChanges[] = [];
  #paths: readonly string[] = [];
  #id: string | undefined;
  /** Events of a watch whose id is not known yet. */
  #early: EventPayload<'paths_changed'>[] = [];
  #end: { readonly error: Error | undefined } | undefined;
  #wake: () => void = () => undefined;

  /** Does not begin; call `begin`. */
  constructor(link: ClientLink, request: RequestInput<'watch_paths'>, onConnection: OnConnection) {
    this.#link = link;
    this.#request = request;
    this.#leave = [
      link.router.listeners.add('paths_changed', (event) => {
        if (this.#id === undefined) this.#early.push(event);
        else if (event.watch_id === this.#id) this.#add(event);
      }),
      link.router.listeners.add('watch_ended', ({ watch_id: id, detail }) => {
        if (id === this.#id) this.#finish(new ClientError('SESSION_NOT_FOUND', `the watch has ended: ${detail}`));
      }),
      onConnection((state, error) => {
        if (state === 'lost') this.#id = undefined;
        if (state === 'connected') void this.#again();
        if (state === 'closed') this.#finish(error);
      }),
    ];
  }

  /** The paths, absolute. */
  get paths(): readonly string[] {
    return this.#paths;
  }

  /**
   * Begins to watch. Already called by `watchPaths`.
   * @throws ClientError
   */
  async begin(): Promise<void> {
    this.#early = [];
    const { watch_id: id, paths } = await this.#link.request('watch_paths', this.#request);
    this.#id = id;
    this.#paths = paths;
    for (const event of this.#early) if (event.watch_id === id) this.#add(event);
    this.#early = [];
  }

  /** The changes, until `close`. Throws a ClientError when the daemon ends the watch. */
  async *[Symbol.asyncIterator](): AsyncGenerator<PathChanges, void> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#end) {
        if (this.#end.error !== undefined) throw this.#end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  /** Ends the watch. */
  async close(): Promise<void> {
    const id = this.#id;
    const isOver = this.#end !== undefined;
    this.#finish(undefined);
    // Without a connection the daemon has ended it.
    if (id !== undefined && !isOver) {
      await this.#link.request('unwatch_paths', { watch_id: id }, { isBound: true }).catch(() => undefined);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #again(): Promise<void> {
    try {
      await this.begin();
      this.#add(OVERFLOW);
    } catch (error) {
      // Lost once more: the next connection tries again.
      if (!(error instanceof ClientError) || error.code !== 'CONNECTION_LOST') this.#finish(error as Error);
    }
  }

  #add({ changes, overflow }: PathChanges): void {
    if (this.#end) return;
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ changes, overflow });
    else this.#waiting.splice(0, Infinity, OVERFLOW);
    this.#wake();
  }

  #finish(error: Error | undefined): void {
    this.#end ??= { error };
    for (const leave of this.#leave) leave();
    this.#wake();
  }
}

/** Watches files and directories: see `AdapterClient.watchPaths`. */
export async function watchPaths(
  link: ClientLink,
  paths: readonly string[],
  options: WatchOptions,
  onConnection: OnConnection,
): Promise<PathWatch> {
  const { sessionId, recursive, debounceMs } = options;
  const request = { paths: [...paths], session_id: sessionId, recursive, debounce_ms: debounceMs };
  const watch = new PathWatch(link, request, onConnection);
  try {
    await watch.begin();
    return watch;
  } catch (error) {
    await watch.close();
    throw error;
  }
}
