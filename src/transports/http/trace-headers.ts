import type { IncomingHttpHeaders } from 'node:http';

import type { TraceCarrier } from '../../core/traces/traces.js';

/** The trace that the headers of a request name; undefined when they name none. */
export const traceIn = ({ traceparent, tracestate }: IncomingHttpHeaders): TraceCarrier | undefined =>
  traceparent === undefined ? undefined : { traceparent, tracestate };
