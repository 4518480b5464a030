import { context, propagation, trace } from '@opentelemetry/api';

/** Where spans go, and which ones. */
export interface ExportOptions {
  /** URL of the collector for OTLP over HTTP, with its path. */
  readonly endpoint: string;
  /** Part of the traces that begin here and are recorded, from 0 to 1. Those of clients follow their client's choice. */
  readonly sampleRatio: number;
  readonly serviceName: string;
  /** Version of the adapter. */
  readonly version: string;
  /** Distinguishes daemons of one name. */
  readonly instanceId: string;
}

/** The packages that send spans: optional, and loaded here alone. */
export const EXPORT_PACKAGES = [
  '@opentelemetry/sdk-trace-node',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
] as const;

/** Longest wait for the last spans, in milliseconds. */
const LAST_SPANS_MS = 1000;

/**
 * Registers a tracer provider that sends spans in batches to a collector. A collector that does not answer costs spans,
 * nothing else. The exporter reads the standard variables, such as OTEL_EXPORTER_OTLP_HEADERS.
 * @returns sends what is left, and ends the registration
 * @throws Error with the code ERR_MODULE_NOT_FOUND when one of `EXPORT_PACKAGES` is missing
 */
export async function startExport(options: ExportOptions): Promise<() => Promise<void>> {
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const provider = new sdk.NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': options.version,
      'service.instance.id': options.instanceId,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(options.sampleRatio) }),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter({ url: options.endpoint }))],
  });
  provider.register();
  return async () => {
    await Promise.race([provider.shutdown().catch(() => undefined), timeOut()]);
    trace.disable();
    context.disable();
    propagation.disable();
  };
}

const timeOut = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, LAST_SPANS_MS).unref();
  });
