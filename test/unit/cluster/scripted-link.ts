import { EventEmitter, once } from 'node:events';

import { vi } from 'vitest';

import { DialError, type Dialled } from '../../../src/cluster/dial.js';
import type { LinkedCaller, LinkRequest } from '../../../src/cluster/link-clients.js';
import { Link, type LinkedNode, type LinkOptions } from '../../../src/cluster/link.js';
import { LINK_VERSION } from '../../../src/core/cluster/link-messages.js';

/** Time without use after which a link is closed, in milliseconds. */
export const IDLE_MS = 60_000;
/** Lease of the worker, in milliseconds. */
export const LEASE_MS = 6000;

type Acknowledge = (reply: unknown) => void;

/** The worker's end of a connection, which says what a test tells it to. */
export class ScriptedWorker {
  readonly #toLink = new EventEmitter();
  readonly #sent: { readonly name: string; readonly message: unknown; readonly acknowledge: Acknowledge }[] = [];
  #isOpen = true;

  /** The connection, and the welcome of a run of the worker. */
  dialled(incarnation = 'aaaaaaa'): Dialled {
    const load = { sessions: 0, one_shots: 0, capacity: 8, is_draining: false };
    const identity = { node: 'worker', incarnation, version: '1', link_version: LINK_VERSION, instance_id: 'x' };
    const isOpen = () => this.#isOpen;
    const socket = {
      get disconnected() {
        return !isOpen();
      },
      on: this.#toLink.on.bind(this.#toLink),
      io: { on: this.#toLink.on.bind(this.#toLink) },
      once: this.#toLink.once.bind(this.#toLink),
      emit: (name: string, message: unknown, acknowledge: Acknowledge = () => undefined) =>
        this.#sent.push({ name, message, acknowledge }),
      disconnect: () => {
        this.break('io client disconnect');
      },
    };
    return { socket, welcome: { ...identity, proof: '', load, labels: {} } } as unknown as Dialled;
  }

  /** The names of what the link has sent. */
  get sent(): readonly string[] {
    return this.#sent.map(({ name }) => name);
  }

  /** Answers the request that was sent as the given one, from 0. */
  answer(index: number, reply: object): void {
    this.#sent.filter(({ name }) => name === 'request')[index]!.acknowledge(reply);
  }

  /** Sends a message of the worker. */
  send(name: string, message: unknown): void {
    this.#toLink.emit(name, message);
  }

  /** Ends the connection. */
  break(why = 'transport close'): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#toLink.emit('disconnect', why);
  }
}

/**
 * A link whose connections a test makes.
 * @param attempts what each attempt to connect gives; the next one waits until the link is closed
 */
export function scriptedLink(
  attempts: readonly (() => Dialled)[],
  options: Partial<Omit<LinkOptions, 'dial'>> & { readonly leased?: LinkedNode } = {},
): Link {
  let made = 0;
  return new Link({
    node: 'worker',
    ownNode: 'gate',
    dial: async (signal) => {
      const attempt = attempts[made];
      made += 1;
      if (!attempt) await once(signal, 'abort');
      if (!attempt) throw new DialError('this node is being stopped');
      return attempt();
    },
    leaseMs: LEASE_MS,
    hasLease: () => false,
    idleMs: IDLE_MS,
    leased: undefined,
    audience: () => [],
    onChange: () => undefined,
    onLost: () => undefined,
    log: { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
    ...options,
  });
}

/** A client that notes the names of its events. */
export const scriptedClient = (events: unknown[]): LinkedCaller => ({
  principal: { id: 'agent', name: 'agent', role: 'agent', isLocalPeer: false },
  from: 'socketio',
  sink: { id: 'client', send: (name) => events.push(name), pendingBytes: () => 0 },
});

/** A command of a client. */
export const scriptedCommand = (caller: LinkedCaller, command_id: string): LinkRequest => ({
  name: 'execute_command',
  payload: { command_id, command: ':', stream: true },
  caller,
  repeat: 'by_id',
});

/** What a run of the worker says in the registry. */
export const leasedRun = (incarnation = 'aaaaaaa'): LinkedNode => ({
  id: `worker-${incarnation}`,
  load: { sessions: 0, one_shots: 0, capacity: 8, is_draining: false },
  labels: {},
  version: '1',
  instance_id: 'x',
});
