import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

import type { SecretMask } from '../core/secrets.js';
import type {
  CommandSpan,
  TraceCarrier,
  TracedCommand,
  TracedEnd,
  TracedRelay,
  TracedRequest,
  Traces,
} from '../core/traces.js';

/** Longest text of a command in a span, in characters. */
const MAX_COMMAND = 4096;

/** Options of `OpenTelemetryTraces`. */
export interface TracesOptions {
  /** Version of the adapter. */
  readonly version: string;
  readonly secrets: Pick<SecretMask, 'text'>;
  /** Whether the span of a command has its text. */
  readonly includesCommand: boolean;
}

/** Spans for the tracer provider that the process has registered at the API of OpenTelemetry. */
export class OpenTelemetryTraces implements Traces {
  readonly #tracer: Tracer;
  readonly #options: TracesOptions;

  constructor(options: TracesOptions) {
    this.#tracer = trace.getTracer('shell-adapter', options.version);
    this.#options = options;
  }

  async request<T extends object>(request: TracedRequest, carryOut: () => Promise<T>): Promise<T> {
    const parent = request.trace ? continued(request.trace) : ROOT_CONTEXT;
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(request) };
    const span = this.#tracer.startSpan(request.name, options, parent);
    return within(span, () => context.with(trace.setSpan(parent, span), carryOut));
  }

  async relay<T extends object>({ name, node }: TracedRelay, send: (trace: TraceCarrier) => Promise<T>): Promise<T> {
    const parent = context.active();
    const attributes = { 'shell_adapter.request': name, 'shell_adapter.node': node };
    const span = this.#tracer.startSpan('relay', { kind: SpanKind.CLIENT, attributes }, parent);
    const carrier: TraceCarrier = {};
    propagation.inject(trace.setSpan(parent, span), carrier);
    return within(span, () => send(carrier));
  }

  command({ id, sessionId, command, args }: TracedCommand): CommandSpan {
    const { includesCommand, secrets } = this.#options;
    const parent = context.active();
    const text = includesCommand ? secrets.text([command, ...(args ?? [])].join(' ')).slice(0, MAX_COMMAND) : undefined;
    const attributes = {
      'shell_adapter.command_id': id,
      'shell_adapter.kind': sessionId === undefined ? 'one_shot' : 'session',
      ...(sessionId !== undefined && { 'shell_adapter.session_id': sessionId }),
      ...(text !== undefined && { 'shell_adapter.command': text }),
    };
    const span = this.#tracer.startSpan('command', { attributes }, parent);
    const carrier: Record<string, string> = {};
    propagation.inject(trace.setSpan(parent, span), carrier);
    return {
      env: Object.fromEntries(Object.entries(carrier).map(([name, value]) => [name.toUpperCase(), value])),
      end: (how) => {
        endCommand(span, how);
      },
    };
  }

  kept<A extends unknown[], R>(act: (...args: A) => R): (...args: A) => R {
    return context.bind(context.active(), act);
  }
}

/** Ends a span with what is carried out within it. */
async function within<T extends object>(span: Span, carryOut: () => Promise<T>): Promise<T> {
  try {
    const reply = await carryOut();
    const code = codeIn(reply);
    if (code !== undefined) fail(span, code);
    return reply;
  } catch (error) {
    fail(span, codeIn({ error }) ?? 'INTERNAL');
    throw error;
  } finally {
    span.end();
  }
}

const continued = (carrier: TraceCarrier): Context => propagation.extract(ROOT_CONTEXT, carrier);

function attributesOf({ name, payload, principal, from }: TracedRequest): Record<string, string> {
  const { session_id: sessionId } = (payload ?? {}) as { readonly session_id?: unknown };
  return {
    'shell_adapter.request': name,
    'shell_adapter.client': principal.name,
    'shell_adapter.role': principal.role,
    ...(from !== undefined && { 'shell_adapter.from': from }),
    ...(typeof sessionId === 'string' && { 'shell_adapter.session_id': sessionId }),
  };
}

/** A command that was not ended early is no error, whatever its exit code is. */
function endCommand(span: Span, { status, exitCode, signal }: TracedEnd): void {
  span.setAttributes({
    'shell_adapter.status': status,
    'process.exit.code': exitCode,
    ...(signal !== null && { 'shell_adapter.signal': signal }),
  });
  if (status !== 'completed') fail(span, status);
  span.end();
}

function fail(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The code of the error in a reply; undefined for an answer. */
function codeIn(reply: object): string | undefined {
  const { error } = reply as { readonly error?: { readonly code?: unknown } };
  return typeof error?.code === 'string' ? error.code : undefined;
}
