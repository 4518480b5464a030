import type { Socket } from 'socket.io';
import type { z } from 'zod';

import { linkSizeOf, SendWindow } from '../core/cluster/credit.js';
import {
  accepted,
  clientMessage,
  creditMessage,
  drainMessage,
  emptyMessage,
  endedMessage,
  goneMessage,
  type RelayedClient,
  requestMessage,
  ticketMessage,
} from '../core/cluster/link-messages.js';
import { AdapterError } from '../core/errors.js';
import type { EventName, EventPayload } from '../core/protocol/results.js';
import type { SecretMask } from '../core/secrets.js';
import type { Caller, EventSink, Marks } from '../services/registry/caller.js';
import { endConnection } from './connection.js';
import { dispatch, type Reply } from './dispatch.js';
import type { LinkServerOptions } from './link-server.js';

/** An event on its way to the node of a client. */
interface OutgoingEvent {
  readonly client: string;
  readonly name: EventName;
  readonly payload: unknown;
  readonly bytes: number;
  /** The `data` of the payload, which is without. */
  readonly text?: Uint8Array | undefined;
}

/** Fewest characters of output that are sent as bytes: they take a frame of their own, and no time to be written as JSON. */
const MIN_TEXT = 1024;
/** Half of a character, which UTF-8 cannot have. */
const LONE_SURROGATE = /\p{Surrogate}/u;

interface RelaySinkOptions {
  /** Id of the client at its own node. */
  readonly client: string;
  /** Unlike that of any client of another node, or of this one. */
  readonly id: string;
  readonly node: string;
  readonly windowBytes: number;
  /** Whether the node of the client takes long output as bytes: earlier releases do not. */
  readonly takesText: boolean;
  readonly mask: SecretMask['value'];
  readonly emit: (event: OutgoingEvent) => void;
}

/** A client of another node as a destination of events: its output is held while its node has given no credit. */
export class RelaySink implements EventSink {
  readonly id: string;
  readonly marks: Marks;
  readonly #options: RelaySinkOptions;
  readonly #window: SendWindow;

  constructor(options: RelaySinkOptions) {
    this.#options = options;
    this.id = options.id;
    this.#window = new SendWindow(options.windowBytes);
    this.marks = this.#window.marks;
  }

  send<N extends EventName>(event: N, payload: EventPayload<N>): void {
    const { client, emit, mask, node } = this.#options;
    const bytes = linkSizeOf(event, payload);
    this.#window.send(bytes);
    if (event === 'command_output') {
      // Output was masked when it was read.
      emit({ client, name: event, bytes, ...this.#outputOf(payload as EventPayload<'command_output'>) });
      return;
    }
    const shown = mask(payload);
    // The gateway of the client goes on.
    emit({ client, name: event, payload: event === 'server_shutdown' ? { ...shown, node } : shown, bytes });
  }

  #outputOf(payload: EventPayload<'command_output'>): Pick<OutgoingEvent, 'payload' | 'text'> {
    const { data } = payload;
    const isLong = typeof data === 'string' && data.length >= MIN_TEXT && this.#options.takesText;
    if (!isLong || LONE_SURROGATE.test(data)) return { payload };
    return { payload: { ...payload, data: '' }, text: Buffer.from(data) };
  }

  pendingBytes(): number {
    return this.#window.pending;
  }

  onDrained(listener: () => void): void {
    this.#window.onDrained(listener);
  }

  credit(bytes: number): void {
    this.#window.credit(bytes);
  }
}

interface Client {
  readonly caller: Caller;
  readonly sink: RelaySink;
}

/** One open link from a gateway: the requests and events of its clients. */
export class GatewayLink {
  readonly #options: LinkServerOptions;
  readonly #gateway: string;
  readonly #socket: Socket;
  readonly #clients = new Map<string, Client>();
  readonly #ended = new AbortController();

  constructor(socket: Socket, gateway: string, options: LinkServerOptions) {
    this.#socket = socket;
    this.#gateway = gateway;
    this.#options = options;
    this.#on('client', clientMessage, ({ client, ...about }) => {
      this.#add(client, about);
    });
    this.#on('gone', goneMessage, ({ client }) => {
      this.#remove(client);
    });
    this.#on('credit', creditMessage, ({ client, bytes }) => {
      this.#clients.get(client)?.sink.credit(bytes);
    });
    this.#on('ended', endedMessage, ({ principal }) => {
      options.services.access.noteElsewhere(principal, false);
    });
    this.#on('request', requestMessage, (request, acknowledge) => this.#answer(request, acknowledge));
    this.#on('ticket', ticketMessage, ({ caller, is_encrypted: isEncrypted }, acknowledge) => {
      const admitted = { caller: this.#callerOf(caller), isEncrypted, ended: this.#ended.signal };
      acknowledge?.({ ticket: options.http.tickets.issue(admitted) });
    });
    this.#on('drain', drainMessage, ({ drain }, acknowledge) => {
      options.services.cluster.setDraining(drain);
      acknowledge?.(options.services.cluster.load());
    });
    this.#on('held', emptyMessage, (_, acknowledge) => {
      acknowledge?.(options.services.sessions.held());
    });
    socket.once('disconnect', () => {
      this.#ended.abort(new AdapterError('NODE_LOST', `the link to the gateway ${gateway} has broken`));
      for (const client of [...this.#clients.keys()]) this.#remove(client);
    });
  }

  #on<S extends z.ZodType>(
    name: string,
    schema: S,
    act: (message: z.output<S>, acknowledge: ((reply: unknown) => void) | undefined) => void | Promise<void>,
  ): void {
    this.#socket.on(name, (message: unknown, acknowledge?: (reply: unknown) => void) => {
      const parsed = schema.safeParse(message);
      if (parsed.success) void act(parsed.data, acknowledge);
      else acknowledge?.(refusalOf(name, parsed.error));
    });
  }

  #add(client: string, about: RelayedClient): void {
    if (this.#clients.has(client)) return;
    const { services, identity, windowBytes } = this.#options;
    const sink = new RelaySink({
      client,
      node: identity.node,
      // The same client may come over a new link before the end of the old one is known.
      id: `${this.#gateway}.${this.#socket.id}.${client}`,
      windowBytes,
      takesText: about.takes_text === true,
      mask: services.secrets.value,
      emit: (event) => this.#socket.emit('event', event),
    });
    const caller = { ...this.#callerOf(about), sink };
    services.access.noteElsewhere(caller.principal.id, true);
    this.#clients.set(client, { caller, sink });
    services.connections.add(caller);
  }

  #remove(id: string): void {
    const client = this.#clients.get(id);
    if (!client) return;
    this.#clients.delete(id);
    this.#options.services.connections.remove(client.caller);
    endConnection(this.#options.services, client.sink);
  }

  #callerOf({ principal, from = 'unknown' }: RelayedClient): Caller {
    const { localRole, isOwnDaemon } = this.#options;
    const node = this.#gateway;
    return {
      principal: accepted(principal, { node, localRole, isOwnDaemon }),
      sink: undefined,
      from: `node ${node}, ${from}`,
      relayedBy: node,
    };
  }

  /** The client of a request; undefined for one that was not announced. */
  #sourceOf({ client, caller: about, reserved }: z.output<typeof requestMessage>): Caller | undefined {
    const known = client === undefined ? undefined : this.#clients.get(client)?.caller;
    const caller = known ?? (about && this.#callerOf(about));
    return caller && reserved !== undefined ? { ...caller, reservedSessionId: reserved } : caller;
  }

  /** Handles a request; never rejects. */
  async #answer(
    request: z.output<typeof requestMessage>,
    acknowledge: ((reply: unknown) => void) | undefined,
  ): Promise<void> {
    const { name, payload, trace } = request;
    const caller = this.#sourceOf(request);
    if (!caller) {
      acknowledge?.(errorReply(`${name} is of a client that was not announced`));
      return;
    }
    try {
      const { services, log } = this.#options;
      acknowledge?.(await dispatch({ services, log, trace }, name, payload, caller));
    } catch (error) {
      this.#options.log.error('an answer could not be given', { node: this.#gateway, error: String(error) });
      acknowledge?.(errorReply('internal error; the log of the node has the details', 'INTERNAL'));
    }
  }
}

const errorReply = (message: string, code: 'INVALID_REQUEST' | 'INTERNAL' = 'INVALID_REQUEST'): Reply => ({
  error: new AdapterError(code, message).toBody(),
});

const refusalOf = (name: string, error: z.ZodError): Reply =>
  errorReply(`the message ${name} of a node cannot be read: ${error.issues[0]?.message ?? ''}`);
