import { addressOf } from '../core/cluster/address.js';
import type { Answer } from '../core/protocol/requests.js';
import type { ClusterPort, PassedRequest, ReceivedRequest, RoutedReply } from '../services/ports/cluster-port.js';
import type { PassedTo } from './pass.js';
import { ownIdOf } from './routing/placed-request.js';
import { refusingNode } from './replies.js';
import type { Relay } from './relay.js';
import type { Router } from './routing/router.js';
import type { Send } from './routing/until-taken.js';
import type { Worker, Workers } from './workers.js';

/** Requests about files that all workers share, and about the records of what they run. */
const ABOUT_FILES: ReadonlySet<string> = new Set([
  'list_recordings',
  'list_remembered_approvals',
  'read_audit',
  'verify_audit',
]);

/** Dependencies of `OneMachine`. */
export interface OneMachineOptions {
  readonly router: Router;
  readonly workers: Workers;
  readonly relay: Relay;
}

/**
 * Routing where all workers are processes of this machine: one of them takes what is new, and what is about a file or
 * the machine. The others keep what they have until it ends.
 */
export class OneMachine {
  readonly #options: OneMachineOptions;

  constructor(options: OneMachineOptions) {
    this.#options = options;
  }

  /** As `Router.route`. */
  readonly route: ClusterPort['route'] = (received) => {
    const { router } = this.#options;
    const { name, request } = received;
    if (name === 'daemon_status') return () => this.#status(received);
    const address = addressOf(name, request);
    const worker = this.#taking;
    const namesNone = address.to === 'machine' || address.to === 'all';
    const isAny = address.to === 'only_worker' || (namesNone && ABOUT_FILES.has(name));
    if (isAny && worker) return () => router.ask(worker, received);
    const isRepeated = address.to === 'place' && ownIdOf(received) !== undefined;
    return isRepeated ? this.#oldestFirst(received) : router.route(received);
  };

  /** As `Router.passing`. */
  passing(request: PassedRequest): PassedTo | undefined {
    const worker = this.#taking;
    const isAny = addressOf(request.name, request.request).to === 'only_worker';
    return isAny && worker ? { worker, isPlaced: false } : this.#options.router.passing(request);
  }

  get #taking(): Worker | undefined {
    return this.#options.workers.all().find(({ isLive, isDraining }) => isLive && !isDraining);
  }

  /** A worker that takes nothing new still answers a command that it knows. */
  #oldestFirst(received: ReceivedRequest): Send | undefined {
    const { router, workers } = this.#options;
    const retired = workers.all().filter(({ isLive, isDraining }) => isLive && isDraining);
    if (retired.length === 0) return router.route(received);
    return async () => {
      for (const worker of retired) {
        const routed = await router.ask(worker, received);
        if (refusingNode(routed) === undefined) return routed;
      }
      const send = router.route(received);
      return send ? send() : { reply: await received.answerHere(), isRecorded: false };
    };
  }

  /** The status of this daemon with what its workers run. One that does not answer counts as one that runs nothing. */
  async #status(received: ReceivedRequest): Promise<RoutedReply> {
    const { workers, relay } = this.#options;
    const own = (await received.answerHere()) as Answer<'daemon_status'>;
    const live = workers.all().filter(({ isLive }) => isLive);
    const replies = await Promise.all(live.map((worker) => relay(worker, received)));
    const answers = replies.flatMap(({ reply }) => ('error' in reply ? [] : [reply as Answer<'daemon_status'>]));
    const sum = (field: 'sessions' | 'running_commands') => answers.reduce((all, answer) => all + answer[field], 0);
    if ('error' in own) return { reply: own, isRecorded: false };
    const reply = { ...own, sessions: sum('sessions'), running_commands: sum('running_commands') };
    return { reply, isRecorded: false };
  }
}
