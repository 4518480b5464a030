/** A metric of a page in Prometheus' text format: its type, its help, and its samples in the order of the page. */
export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/g;
/** What the samples of a histogram add to its name. */
const HISTOGRAM_PARTS = /_(?:bucket|sum|count)$/;

/**
 * Reads a page, and throws where it is not what the format asks for: HELP and TYPE before the samples, names that belong to
 * them, each sample once. Source: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function readPage(page: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let help: readonly [string, string] | undefined;
  for (const line of page.split('\n').filter((text) => text !== '')) {
    const [, kind, name = '', text = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') help = [name, text];
    else if (kind === 'TYPE') {
      if (help?.[0] !== name || families.has(name)) throw new Error(`a TYPE out of place: ${line}`);
      families.set(name, { type: text, help: help[1], samples: [] });
    } else readSample(line, families, seen);
  }
  return families;
}

function readSample(line: string, families: Map<string, Family>, seen: Set<string>): void {
  const [, name = '', labelText = '', number = ''] = SAMPLE.exec(line) ?? [];
  const family = families.get(name) ?? families.get(name.replace(HISTOGRAM_PARTS, ''));
  const value = number === '+Inf' ? Infinity : Number(number);
  const key = line.slice(0, line.lastIndexOf(' '));
  if (!family || Number.isNaN(value) || seen.has(key)) throw new Error(`a sample out of place: ${line}`);
  seen.add(key);
  const found = [...labelText.matchAll(LABEL)];
  if (found.map(([whole]) => whole).join('') !== labelText) throw new Error(`labels that cannot be read: ${line}`);
  family.samples.push({
    name,
    labels: Object.fromEntries(found.map(([, label = '', text = '']) => [label, text])),
    value,
  });
}

/** Every sample by its name and labels, as in `commands_running{kind="session"}`; `prefix` is left out of the names. */
export function readSamples(page: string, prefix: string): Map<string, number> {
  const samples = [...readPage(page).values()].flatMap((family) => family.samples);
  return new Map(
    samples
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name, labels, value }) => {
        const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
        return [name.slice(prefix.length) + (pairs.length > 0 ? `{${pairs.join(',')}}` : ''), value];
      }),
  );
}
