import type { Counter } from 'prom-client';

import type { ErrorCode } from '../../../core/errors.js';
import { type RequestName, requests } from '../../../core/protocol/requests.js';
import { type Count, each, type Instruments, type TakeTime } from './instruments.js';

/** In seconds: some requests are answered from memory, others wait for the end of a command. */
export const REQUEST_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600,
];

const REQUEST_NAMES: readonly (RequestName | 'unknown')[] = [...(Object.keys(requests) as RequestName[]), 'unknown'];

/** Reasons for which a connection is refused before it becomes a client. */
const REFUSALS = ['FORBIDDEN', 'RATE_LIMITED', 'RESOURCE_EXHAUSTED', 'UNAUTHORIZED'] as const satisfies ErrorCode[];

/** Metrics of connections and requests. */
export class RequestMetrics {
  readonly #instruments: Instruments;
  readonly #requests: Counter<'request' | 'outcome'>;
  /** By request and outcome; outcomes other than `ok` are added when they first occur. */
  readonly #answered = new Map<string, Count>();
  readonly #refused: Counter<'code'>;
  readonly #times: Readonly<Record<RequestName | 'unknown', TakeTime>>;

  constructor(instruments: Instruments) {
    this.#instruments = instruments;
    this.#requests = instruments.counter(
      'requests_total',
      'Answered requests, by `ok` or error code. Invalid names count as `unknown`.',
      ['request', 'outcome'],
    );
    for (const request of REQUEST_NAMES) this.#answeredWith(request, request === 'unknown' ? 'UNKNOWN_REQUEST' : 'ok');
    this.#refused = instruments.counter('connections_refused_total', 'Refused connections, by error code.', ['code']);
    for (const code of REFUSALS) this.#refused.inc({ code }, 0);
    const latency = instruments.histogram(
      'request_duration_seconds',
      'Time from a request to its answer, including the command that it waits for.',
      ['request'],
      REQUEST_BUCKETS,
    );
    this.#times = each(REQUEST_NAMES, (request) => instruments.bindTime(latency, { request }));
  }

  /** Counts a refused connection. */
  refused(code: ErrorCode): void {
    this.#refused.inc({ code });
  }

  /** Counts an answer; the duration is in milliseconds. */
  answered(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode, durationMs: number): void {
    this.#answeredWith(request, outcome)();
    this.#times[request](durationMs);
  }

  #answeredWith(request: RequestName | 'unknown', outcome: 'ok' | ErrorCode): Count {
    const key = `${request} ${outcome}`;
    const known = this.#answered.get(key);
    if (known) return known;
    const count = this.#instruments.bind(this.#requests, { request, outcome });
    this.#answered.set(key, count);
    return count;
  }
}
