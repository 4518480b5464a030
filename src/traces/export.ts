import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';

import { BoundedMap } from '../core/bounded-map.js';
import type { Log } from '../core/log.js';
import { settledWithin } from '../core/time.js';

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
  /** Gets what goes wrong. */
  readonly log: Log;
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
 * and a line in the log each minute, nothing else. The exporter reads the standard variables, such as OTEL_EXPORTER_OTLP_HEADERS.
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
  diag.setLogger(diagnostics(options.log), DiagLogLevel.WARN);
  provider.register();
  return async () => {
    await settledWithin(
      provider.shutdown().catch(() => undefined),
      LAST_SPANS_MS,
    );
    trace.disable();
    context.disable();
    propagation.disable();
    diag.disable();
  };
}

/** Passes on what the packages report. The same again is passed on once in `REPEAT_MS`. */
function diagnostics(log: Log) {
  const reported = new BoundedMap<string, number>(MAX_REPORTED);
  const warn = (report: string) => {
    const error = messageIn(report);
    const now = performance.now();
    if (now - (reported.get(error) ?? -Infinity) < REPEAT_MS) return;
    reported.set(error, now);
    log.warn('spans could not be sent', { error });
  };
  const ignore = () => undefined;
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}

/** Shortest time between two reports of the same fault, in milliseconds. */
const REPEAT_MS = 60_000;
/** Most different faults that are remembered. */
const MAX_REPORTED = 100;
/** Longest text of a fault, in characters. */
const MAX_FAULT = 300;

/** The message of a report: errors are reported as JSON, with their stack. */
function messageIn(report: string): string {
  try {
    const { message, code } = JSON.parse(report) as { readonly message?: string; readonly code?: string };
    return (message || code || report).slice(0, MAX_FAULT);
  } catch {
    return report.slice(0, MAX_FAULT);
  }
}
