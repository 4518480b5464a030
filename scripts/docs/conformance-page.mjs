// docs/reference/conformance.md: what came of each trap, at our daemon and at other systems.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { markdownTable } from '../../dist/core/markdown.js';
import { code, renderPage } from './page.mjs';

const FOLDER = fileURLToPath(new URL('../../test/conformance/peers/results', import.meta.url));
const OURS = 'shell-adapter';
const MARKS = { passed: '✓', failed: '✗', unsteady: '~', not_applicable: '–' };

/** Renders the page. */
export function renderConformance() {
  const all = readdirSync(FOLDER).map((file) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')));
  const ours = all.find(({ name }) => name === OURS);
  const systems = [ours, ...all.filter((one) => one !== ours)];
  const sections = [...new Set(ours.traps.map(({ section }) => section))];
  return renderPage({
    title: 'Conformance',
    purpose: 'Which difficult commands our daemon and other systems get right, trap by trap, as measured.',
    source: 'test/conformance/peers/results',
    sections: [
      ...introduction(systems),
      ...limits(ours),
      ...sections.flatMap((section) => [
        `## ${section}`,
        trapTable(
          ours.traps.filter((trap) => trap.section === section),
          systems,
        ),
      ]),
      '## What was seen',
      'The first difference of each trap that did not pass in every run. `hung` means: no answer in time.',
      ...systems.flatMap((system) => seenAt(system, ours.traps)),
      '## Why traps are not applicable',
      ...systems.flatMap((system) => reasonsAt(system)),
    ],
    next: [
      '[Tests](../develop/testing.md): how to run and extend this.',
      '[Benchmarks](../develop/benchmarks.md): speed.',
    ],
  });
}

const introduction = (systems) => [
  '`npm run conformance` runs each trap at a daemon. With `--peers` it installs other systems and runs the same traps there, each ' +
    `${systems[0].runs} times:`,
  '```sh\nnpm run conformance -- --peers\nnpm run conformance -- --peers --only codex\nnpm run build && npm run docs\n```',
  'The first two commands write `test/conformance/peers/results`. The last one makes this page of it. Systems are installed into ' +
    '`~/.cache/shell-adapter/peers`.',
  markdownTable(
    ['system', 'version', ...Object.values(MARKS), 'measured'],
    systems.map((system) => [
      system.title,
      system.version,
      ...Object.keys(MARKS).map((outcome) => String(countOf(system, outcome))),
      system.date,
    ]),
  ),
  '✓ passed every time; ✗ failed every time; `~2/3` passed in two of three runs; – not applicable. `*`: some steps of the trap were ' +
    'left out, because they rest on what the system has no notion of.',
  markdownTable(
    ['system', 'interface', 'install'],
    systems.map(({ title, how, install }) => [title, how, code(install)]),
  ),
  `Machine: ${[...new Set(systems.map(({ machine }) => machine))].join('; ')}.`,
];

const countOf = ({ outcomes }, wanted) => Object.values(outcomes).filter(({ outcome }) => outcome === wanted).length;

const limits = () => [
  '## Limits of the method',
  [
    'The traps were collected for this daemon, which was changed until it passed them. The other systems were not made for them.',
    'Counts of different systems are not comparable: what is not applicable differs. Compare rows.',
    'Adapters are in `test/conformance/peers/adapters`, and were written by the authors of this daemon. A fault of an adapter looks like a fault of its system.',
    'Most systems are used as one-shots there. Traps about a shell that stays are not applicable to them.',
    'Where a system gives both streams as one text, their order is not compared.',
    'A command that is ended at its time-out may have any exit code. What counts is that the answer comes and nothing is left running.',
    'Background processes that outlive the end of a session count as a failure. Some systems leave them on purpose.',
    'Systems ran with the settings they ship, except telemetry, which is off, and codex’s sandbox, which is off too.',
    'Other systems have eight seconds more than a command takes for its answer; our daemon has four.',
    'A trap that looks at events or times beside the result checks that at our daemon only. A pass elsewhere says less there.',
    'A text goes to codex as one argument of `bash -c`, which the kernel limits to 128 KiB. Longer ones fail because of that.',
    'Some rules were written after the first results of codex: what needs a terminal, and an empty list of arguments, is left out there.',
    'There is no trap for one text that keeps the order of both streams. Most other systems give that alone; this daemon does with `output.merge`.',
    'Other programs ran on the machine at the same time. Outcomes that depend on time may be unsteady for that reason.',
  ]
    .map((line) => `- ${line}`)
    .join('\n'),
];

const trapTable = (traps, systems) =>
  markdownTable(
    ['', 'trap', ...systems.map(({ title }) => title)],
    traps.map(({ id, title }) => [
      id,
      escaped(title),
      ...systems.map(({ outcomes, runs }) => mark(outcomes[id], runs)),
    ]),
  );

function mark(result, runs) {
  if (result === undefined) return '';
  const { outcome, passed_runs, left_out } = result;
  return `${MARKS[outcome]}${outcome === 'unsteady' ? `${passed_runs}/${runs}` : ''}${left_out > 0 ? '*' : ''}`;
}

function seenAt({ title, outcomes }, traps) {
  const rows = traps.flatMap(({ id }) => {
    const { outcome, seen = '' } = outcomes[id] ?? {};
    return outcome === 'failed' || outcome === 'unsteady' ? [[id, code(seen.replaceAll('`', 'ˋ'))]] : [];
  });
  return rows.length === 0 ? [] : [`### ${title}`, markdownTable(['trap', 'seen'], rows)];
}

function reasonsAt({ title, outcomes }) {
  const ids = new Map();
  for (const [id, { outcome, seen }] of Object.entries(outcomes)) {
    if (outcome === 'not_applicable') ids.set(seen, [...(ids.get(seen) ?? []), id]);
  }
  if (ids.size === 0) return [];
  const rows = [...ids].map(([reason, traps]) => [reason, traps.join(' ')]);
  return [`### Not applicable to ${title}`, markdownTable(['reason', 'traps'], rows)];
}

/** Titles may have characters that mean something in Markdown or HTML. */
const escaped = (text) => text.replaceAll(/[<>*_`$\\]/g, (character) => `\\${character}`);
