/** Metrics that say how something is set, and are no amounts: the largest value counts. */
const SETTINGS = /^(?:shell_adapter_limit|process_start_time_seconds|process_max_fds|nodejs_version_info)\b/;

/**
 * Makes one exposition of those of several processes: values of the same metric and labels are added. Source:
 * https://prometheus.io/docs/instrumenting/exposition_formats/, as prom-client writes it.
 */
export function mergeExpositions(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) for (const part of text.split(/^(?=# HELP )/m)) addFamily(families, part);
  return [...families.values()].map(render).join('\n');
}

/** A metric with all its samples. */
interface Family {
  readonly head: readonly string[];
  /** Values by name and labels, as they are written. */
  readonly samples: Map<string, number>;
}

function addFamily(families: Map<string, Family>, text: string): void {
  const lines = text.split('\n').filter((line) => line !== '');
  const [first] = lines;
  if (first === undefined) return;
  const name = first.split(' ')[2] ?? '';
  const family = families.get(name) ?? { head: lines.filter(isComment), samples: new Map<string, number>() };
  families.set(name, family);
  for (const line of lines) if (!isComment(line)) addSample(family.samples, line);
}

function addSample(samples: Map<string, number>, line: string): void {
  const at = line.lastIndexOf(' ');
  const key = line.slice(0, at);
  const value = Number(line.slice(at + 1).replace('Inf', 'Infinity'));
  const known = samples.get(key);
  if (known === undefined) samples.set(key, value);
  else samples.set(key, SETTINGS.test(key) ? Math.max(known, value) : known + value);
}

const isComment = (line: string): boolean => line.startsWith('#');

const render = ({ head, samples }: Family): string =>
  [...head, ...[...samples].map(([key, value]) => `${key} ${textOf(value)}`), ''].join('\n');

/** Infinity as Prometheus writes it. */
const textOf = (value: number): string =>
  Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'Nan';
