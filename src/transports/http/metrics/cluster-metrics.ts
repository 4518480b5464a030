import type { Counter } from 'prom-client';

import type { ErrorCode } from '../../../core/errors.js';
import type { NodeInfo } from '../../../core/protocol/requests/nodes.js';
import { type Count, type Instruments, type TakeTime } from './instruments.js';
import { REQUEST_BUCKETS } from './request-metrics.js';

/** States of a worker. */
const NODE_STATES = ['live', 'draining', 'suspect', 'lost'] as const satisfies NodeInfo['state'][];

/** States of a link. */
const LINK_STATES = ['connected', 'broken'] as const;

/** Metrics of a gateway, and of the workers that are registered at it. */
export class ClusterCounters {
  readonly #relayed: Counter<'outcome'>;
  readonly #takeTime: TakeTime;
  readonly #countLoss: Count;

  /** @param workers the registered workers, as they are at the moment */
  constructor(instruments: Instruments, workers: () => readonly NodeInfo[]) {
    instruments.gauge(
      'cluster_links',
      'Links of a gateway to its workers, by state. One that is closed since it is not needed counts as connected.',
      ['state'],
      (gauge) => {
        const states = workers().map(({ problem }) => (problem === null ? 'connected' : 'broken'));
        for (const state of LINK_STATES) gauge.set({ state }, states.filter((own) => own === state).length);
      },
    );
    instruments.gauge('cluster_nodes', 'Workers that are registered at a gateway, by state.', ['state'], (gauge) => {
      const states = workers().map(({ state }) => state);
      for (const state of NODE_STATES) gauge.set({ state }, states.filter((own) => own === state).length);
    });
    this.#relayed = instruments.counter(
      'cluster_relayed_requests_total',
      'Requests that a gateway has sent on to a worker, by `ok` or error code.',
      ['outcome'],
    );
    this.#relayed.inc({ outcome: 'ok' }, 0);
    const seconds = instruments.histogram(
      'cluster_relay_seconds',
      'Time from sending a request on to the answer of the worker, including the command that it waits for.',
      [],
      REQUEST_BUCKETS,
    );
    this.#takeTime = instruments.bindTime(seconds, {});
    const losses = instruments.counter('cluster_node_losses_total', 'Workers that a gateway has lost.', []);
    this.#countLoss = instruments.bind(losses, {});
  }

  /** Counts a request that was sent on; the duration is in milliseconds. */
  relayed(outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#relayed.inc({ outcome });
    this.#takeTime(durationMs);
  }

  /** Counts a worker that was lost. */
  lost(): void {
    this.#countLoss();
  }
}

/** Metrics of a node whose cluster has a registry. */
export class RegistryCounters {
  /** Counts a request to the registry that has failed. */
  readonly failed: Count;

  /** @param leaseAgeMs time since the lease was renewed, in milliseconds; undefined before the first time */
  constructor(instruments: Instruments, leaseAgeMs: () => number | undefined) {
    const name = 'cluster_lease_age_seconds';
    instruments.gauge(name, 'Time since a node has renewed its lease in the registry of the cluster.', [], (gauge) => {
      const age = leaseAgeMs();
      if (age !== undefined) gauge.set(age / 1000);
    });
    const errors = instruments.counter(
      'cluster_registry_errors_total',
      'Requests to the registry of the cluster, Redis, that have failed.',
      [],
    );
    this.failed = instruments.bind(errors, {});
  }
}
