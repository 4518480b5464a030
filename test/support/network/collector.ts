import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it came over OTLP. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Whether its status is that of an error. */
  readonly isError: boolean;
  /** Attributes of the service that it comes from. */
  readonly resource: Readonly<Record<string, string | number>>;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

/** The body of a POST. Source: opentelemetry-proto, ExportTraceServiceRequest, in JSON. */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** `STATUS_CODE_ERROR` of OTLP. */
const ERROR = 2;

/** A collector of OpenTelemetry: takes spans as OTLP over HTTP, in JSON. */
export class Collector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = [];
  readonly #server: Server;
  readonly #arrivals = new EventEmitter();

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#take(JSON.parse(Buffer.concat(chunks).toString()) as Export);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
  }

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/v1/traces`;
  }

  /** Waits for a span. */
  async span(matches: (span: CollectedSpan) => boolean): Promise<CollectedSpan> {
    for (;;) {
      const found = this.spans.find(matches);
      if (found) return found;
      await once(this.#arrivals, 'spans');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #take({ resourceSpans }: Export): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const of = valuesOf(resource.attributes);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) this.spans.push(collected(span, of));
    }
    this.#arrivals.emit('spans');
  }
}

const collected = (span: OtlpSpan, resource: CollectedSpan['resource']): CollectedSpan => ({
  name: span.name,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  attributes: valuesOf(span.attributes),
  isError: span.status.code === ERROR,
  resource,
});

const valuesOf = (attributes: readonly Attribute[]): Record<string, string | number> =>
  Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? Number(intValue)]),
  );
