import { AGENTS, TRANSPORTS } from './agents.js';
import { TITLES } from './titles.js';

/** Outcome of one scenario with one agent over one transport. */
export type Outcome = 'passed' | 'failed' | 'skipped' | 'pending';

/** Where and how long a run was made. */
export interface RunFacts {
  readonly date: string;
  /** Node.js, operating system and so on, as words. */
  readonly machine: string;
  readonly seconds: number;
}

/** What the tests of an agent over a transport are called together. */
export const suiteTitle = (agent: { readonly package: string }, transport: string): string =>
  `${agent.package} over ${transport}`;

/**
 * The table for `docs/develop/real-agents.md`: a row for each scenario, a column for each agent.
 * @param outcomes by suite and title: `SUITE > TITLE`
 * @throws Error when an outcome is missing: the run was not complete
 */
export function renderResults(outcomes: ReadonlyMap<string, Outcome>, { date, machine, seconds }: RunFacts): string {
  const cell = (agent: (typeof AGENTS)[number], title: string): string => {
    const found = TRANSPORTS.map((transport) => outcomes.get(`${suiteTitle(agent, transport)} > ${title}`));
    if (found.includes(undefined)) throw new Error(`no outcome of "${title}" with ${agent.package}`);
    const [first] = found;
    if (found.every((outcome) => outcome === first)) return WORDS[first!];
    return TRANSPORTS.map((transport, index) => `${transport}: ${WORDS[found[index]!]}`).join(', ');
  };
  const rows = Object.values(TITLES).map((title) => [title, ...AGENTS.map((agent) => cell(agent, title))]);
  const header = ['', ...AGENTS.map(({ title }) => title)];
  const versions = ['package', ...AGENTS.map((agent) => `\`${agent.package}\``)];
  const counts = [...outcomes.values()].filter((outcome) => outcome === 'passed').length;
  return [
    `${date}, ${machine}: ${counts} of ${outcomes.size} tests passed in ${seconds} s.`,
    '',
    ...[header, header.map(() => '---'), versions, ...rows].map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

const WORDS: Readonly<Record<Outcome, string>> = {
  passed: 'yes',
  failed: '**no**',
  skipped: 'not run',
  pending: 'not run',
};
