import type { Principal } from './principal.js';
import type { RequestName } from './protocol/requests.js';

/**
 * The trace that a request belongs to, as its client names it: HTTP headers, or fields of a message. Invalid values are
 * ignored. Source: https://www.w3.org/TR/trace-context/
 */
export interface TraceCarrier {
  readonly traceparent?: unknown;
  readonly tracestate?: unknown;
}

/** A request as its span shows it. */
export interface TracedRequest {
  readonly name: RequestName;
  readonly payload: unknown;
  readonly principal: Principal;
  /** Origin of the connection. */
  readonly from: string | undefined;
  /** Undefined when the client names no trace. */
  readonly trace: TraceCarrier | undefined;
}

/** A request on its way to another node, as its span shows it. */
export interface TracedRelay {
  readonly name: RequestName;
  /** Name of the node that it is sent to. */
  readonly node: string;
  /** The trace of the client: what the node gets where nothing is traced here. */
  readonly trace: TraceCarrier | undefined;
}

export interface TracedCommand {
  readonly id: string;
  /** Undefined for a one-shot. */
  readonly sessionId: string | undefined;
  readonly command: string;
  readonly args: readonly string[] | undefined;
}

export interface TracedEnd {
  readonly status: string;
  readonly exitCode: number;
  readonly signal: string | null;
}

export interface CommandSpan {
  /** Variables by which programs continue the trace: TRACEPARENT, and TRACESTATE where there is one. */
  readonly env: Readonly<Record<string, string>>;
  readonly end: (how: TracedEnd) => void;
}

/** Spans of requests and commands, for a collector. No method throws because of tracing. */
export interface Traces {
  /** Carries a request out within a span. An answer with `error` is an error of the span. */
  request<T extends object>(request: TracedRequest, carryOut: () => Promise<T>): Promise<T>;
  /**
   * Sends a request to another node within a span below that of the request. An answer with `error` is an error of the span.
   * @param send gets the trace for the other node, whose spans are below this one
   */
  relay<T extends object>(relay: TracedRelay, send: (trace: TraceCarrier | undefined) => Promise<T>): Promise<T>;
  /** Begins the span of a command, below the request that it belongs to. Undefined when nothing is traced. */
  command(command: TracedCommand): CommandSpan | undefined;
  /** Returns the function for a call at a later time, whose spans are below the present request. */
  kept<A extends unknown[], R>(act: (...args: A) => R): (...args: A) => R;
}

/** A `Traces` without any effect. */
export const NO_TRACES: Traces = {
  request: (_request, carryOut) => carryOut(),
  relay: ({ trace }, send) => send(trace),
  command: () => undefined,
  kept: (act) => act,
};
