import type { z } from 'zod';

import type { Role } from '../principal.js';

/** A field of a request with the id of an object that belongs to one node. */
type IdField = 'command_id' | 'confirmation_id' | 'checkpoint_id' | 'recording_id' | 'call_id' | 'watch_id' | 'id';

/**
 * How a request finds the node that answers it:
 * - `here`: the node that the client is connected to;
 * - `session`: the node of its `session_id`;
 * - `place`: a node is chosen, unless it names a session;
 * - `workspace`: the node that it names, or that of its session. It is about a file or a machine, so nothing can be
 *   chosen: without either it is answered where only one node runs sessions;
 * - `machine`: the node that it names; by default the one that the client is connected to;
 * - `gather`: all nodes, whose answers become one; with a `session_id` the node of the session;
 * - an object: the node of its `session_id` if it has one, otherwise that of the id in this field. An id that names no
 *   node belongs to the node that knows it: where it was sent before, or else the one that is found by asking all.
 */
type Route =
  | 'here'
  | 'session'
  | 'place'
  | 'workspace'
  | 'machine'
  | 'gather'
  | { readonly object: IdField; readonly otherwise?: 'workspace' };

/**
 * What happens to a request whose connection breaks before the answer, that of a client or that to its node:
 * - `safe`: it only looks, or changes nothing when it is repeated; it is sent again;
 * - `by_id`: its node knows by its `command_id` whether it has run; it is sent again;
 * - `never`: it may have been done; the client is told so.
 */
export type Repeat = 'safe' | 'by_id' | 'never';

/** How values of several nodes become one: lists joined or sorted by a field, a sum, whether any is true, the first that is not null. */
export type Merge =
  | 'joined'
  | { readonly oldestFirst: string }
  | { readonly newestFirst: string }
  | 'sum'
  | 'any'
  | 'first';

type Fields = Readonly<Record<string, unknown>>;

/** Stands for the end of a subscription that lasts until its client closes the connection. */
export const UNTIL_CLOSED = 'closed';

/** A request without its schemas. */
export interface RequestEntry {
  readonly summary: string;
  /** A payload, for the documentation. */
  readonly example: Readonly<Record<string, unknown>>;
  /** The least role that may make it; those after it in `ROLES` may too. */
  readonly role: Role;
  /**
   * When it is recorded in the audit log: `each` for what changes something, `failures` for what has its own records when it
   * succeeds, `refusals` for what only reads.
   */
  readonly recorded: 'each' | 'failures' | 'refusals';
  readonly route: Route;
  /** The field with the id of what it begins on the node that is chosen. */
  readonly begins?: 'session_id' | 'command_id' | 'call_id';
  /** How the fields of gathered answers become one. */
  readonly merged?: Readonly<Record<string, Merge>>;
  /** Whether it is about files that all processes of a machine share. */
  readonly isShared?: boolean;
  readonly repeat: Repeat;
  /**
   * Whether it takes as long as a command, an LLM call, what is waited for, the decision of an operator, or reading the files
   * of the workspace: the daemon limits its time, the client does not.
   */
  readonly isLong?: boolean;
  /** Whether it is answered while the daemon ends. */
  readonly whileClosing?: boolean;
  /**
   * Whether it gets no sink of events over HTTP: what subscribes a connection is refused without one, and `send_input` is one
   * of many that feed an input, which does not depend on the connection of one of them.
   */
  readonly noSink?: boolean;
  /** Whether a worker of a cluster, which has no other clients of its own, takes it over HTTP. */
  readonly onWorkers?: boolean;
  /** Fields that it has over HTTP where the client gives none: no connection stands for that client. */
  readonly httpDefaults?: Fields;
  /** The same for a client that gets a stream of events. */
  readonly streamDefaults?: Fields;
  /**
   * The id of what it subscribes to, with whose end a stream of events over HTTP ends, or `UNTIL_CLOSED`; undefined when the
   * answer is the end.
   */
  readonly subscribesTo?: (answer: Fields, payload: Fields) => string | undefined;
}

/** How a request is defined. */
interface RequestMaker extends RequestEntry {
  readonly input: () => z.ZodType;
  readonly output: () => z.ZodType;
}

/** Requests with their schemas. */
type Requests<T> = {
  readonly [N in keyof T]: T[N] extends { input: () => infer I; output: () => infer O }
    ? RequestEntry & { readonly input: I; readonly output: O }
    : never;
};

/**
 * Defines requests. Each schema is made when it is first used: making all of them takes 20 ms of a processor, and a daemon
 * or a command of the command line uses few.
 */
export function defineRequests<T extends Readonly<Record<string, RequestMaker>>>(makers: T): Requests<T> {
  const made = Object.entries(makers).map(([name, maker]) => [name, withSchemas(maker)]);
  return Object.fromEntries(made) as Requests<T>;
}

function withSchemas({ input: makeInput, output: makeOutput, ...facts }: RequestMaker) {
  let input: z.ZodType | undefined;
  let output: z.ZodType | undefined;
  return {
    ...facts,
    get input() {
      return (input ??= makeInput());
    },
    get output() {
      return (output ??= makeOutput());
    },
  };
}
