import type { EventName } from '../../core/protocol/results.js';
import { type Asked, errorIn, type RestAnswer } from './answer.js';

/** Never the name of an end: a subscription that lasts until the client closes its connection. */
const NEVER = 'never';

type Fields = Readonly<Record<string, unknown>>;

/** Ends a stream when what it is for has ended, which may have been before it is known what that is. */
export class StreamEnd {
  readonly #end: () => void;
  readonly #ended = new Set<string>();
  #awaited: string | undefined;

  constructor(end: () => void) {
    this.#end = end;
  }

  /** Notes that something has ended; undefined is harmless. */
  note(name: string | undefined): void {
    if (name === undefined) return;
    this.#ended.add(name);
    if (name === this.#awaited) this.#end();
  }

  /** Waits for the end of something; undefined ends the stream at once. */
  await(name: string | undefined): void {
    this.#awaited = name;
    if (name === undefined || this.#ended.has(name)) this.#end();
  }
}

/** The name of what an event says to have ended; undefined for other events. */
export function endNameOf(event: EventName, payload: unknown): string | undefined {
  const { command_id: command, session_id: session, watch_id: watch } = payload as Fields;
  if (event === 'watch_ended') return String(watch);
  if (event === 'command_finished') return String(command);
  return event === 'session_closed' ? String(session) : undefined;
}

/** The name of what a stream goes on for after its answer; undefined when the answer is its end. */
export function subscriptionEnd({ name, payload }: Asked, { reply, isRepeated }: RestAnswer): string | undefined {
  // The events of a repeated request go to the connection of the first one.
  if (isRepeated || errorIn(reply)) return undefined;
  return Object.hasOwn(SUBSCRIPTION_ENDS, name) ? SUBSCRIPTION_ENDS[name]?.(reply, payload as Fields) : undefined;
}

/** By the name of the request: the name of the end, from answer and payload. */
const SUBSCRIPTION_ENDS: Readonly<Record<string, (answer: Fields, payload: Fields) => string | undefined>> = {
  attach_session: ({ session_id: id }) => String(id),
  subscribe: ({ topics }) => ((topics as readonly unknown[]).length > 0 ? NEVER : undefined),
  watch_resources: ({ interval_ms: ms }) => (ms === 0 ? undefined : NEVER),
  watch_paths: ({ watch_id: id }) => String(id),
  execute_command: ({ status, command_id: id }, { stream }) =>
    status === 'running' && stream === true ? String(id) : undefined,
};
