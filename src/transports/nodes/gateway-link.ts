import type { Socket } from 'socket.io';
import type { z } from 'zod';

import {
  accepted,
  clientMessage,
  creditMessage,
  drainMessage,
  emptyMessage,
  endedMessage,
  goneMessage,
  requestMessage,
  ticketMessage,
  type RelayedClient,
} from '../../core/cluster/link-messages.js';
import { AdapterError } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import type { Role } from '../../core/access/roles.js';
import type { Caller } from '../../services/registry/caller.js';
import type { Services } from '../../services/services.js';
import { endConnection } from '../connection.js';
import { dispatch, type Reply } from '../dispatch.js';
import type { Tickets } from './tickets.js';
import { RelaySink } from './relay-sink.js';

/** Dependencies of `GatewayLink`. */
export interface GatewayLinkOptions {
  readonly services: Services;
  /** Name of the node at the other end. */
  readonly gateway: string;
  /** Name of this node. */
  readonly ownNode: string;
  readonly localRole: Role;
  /** See `accepted`. */
  readonly isOwnDaemon: boolean;
  readonly windowBytes: number;
  /** Where requests over HTTP find their clients. */
  readonly tickets: Tickets;
  readonly log: Log;
}

/** A client of the other node. */
interface Client {
  readonly caller: Caller;
  readonly sink: RelaySink;
}

/** One open link from a gateway: the requests and events of its clients. */
export class GatewayLink {
  readonly #options: GatewayLinkOptions;
  readonly #socket: Socket;
  readonly #clients = new Map<string, Client>();
  readonly #ended = new AbortController();

  constructor(socket: Socket, options: GatewayLinkOptions) {
    this.#socket = socket;
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
      acknowledge?.({ ticket: options.tickets.issue(admitted) });
    });
    this.#on('drain', drainMessage, ({ drain }, acknowledge) => {
      options.services.cluster.setDraining(drain);
      acknowledge?.(options.services.cluster.load());
    });
    this.#on('held', emptyMessage, (_, acknowledge) => {
      acknowledge?.(options.services.sessions.held());
    });
    socket.once('disconnect', () => {
      this.#ended.abort(new AdapterError('NODE_LOST', `the link to the gateway ${options.gateway} has broken`));
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
    const { services, gateway, ownNode: node, windowBytes } = this.#options;
    const sink = new RelaySink({
      client,
      node,
      // The same client may come over a new link before the end of the old one is known.
      id: `${gateway}.${this.#socket.id}.${client}`,
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
    const { gateway: node, localRole, isOwnDaemon } = this.#options;
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
      this.#options.log.error('an answer could not be given', { node: this.#options.gateway, error: String(error) });
      acknowledge?.(errorReply('internal error; the log of the node has the details', 'INTERNAL'));
    }
  }
}

const errorReply = (message: string, code: 'INVALID_REQUEST' | 'INTERNAL' = 'INVALID_REQUEST'): Reply => ({
  error: new AdapterError(code, message).toBody(),
});

const refusalOf = (name: string, error: z.ZodError): Reply =>
  errorReply(`the message ${name} of a node cannot be read: ${error.issues[0]?.message ?? ''}`);
