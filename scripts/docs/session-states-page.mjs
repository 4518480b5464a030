// docs/develop/states-of-a-session.md: the states of a session, drawn from its function of transitions.
import { markdownTable } from '../../dist/core/markdown.js';
import { EVENTS, STATES, transition } from '../../dist/engine/session/session-state.js';
import { code, renderPage } from './page.mjs';

const REST = [{ name: 'idle' }, { name: 'replacing', pending: 1 }, { name: 'closed' }];
/** Each state, with each that may follow a command in flight. */
const SAMPLES = [
  { name: 'opening' },
  ...REST,
  { name: 'failed' },
  ...['running', 'ending', 'settling'].flatMap((name) => REST.map((next) => ({ name, run: {}, next }))),
];

/** The transitions between different states: `from`, `to`, and the events. */
function transitions() {
  const events = new Map();
  for (const [from, to] of Object.keys(STATES).flatMap((name) => Object.keys(STATES).map((other) => [name, other]))) {
    const types = Object.keys(EVENTS).filter((type) =>
      SAMPLES.some((sample) => sample.name === from && transition(sample, { type, run: {}, why: '' }).name === to),
    );
    if (from !== to && types.length > 0) events.set(`${from} --> ${to}`, types);
  }
  return events;
}

const diagram = () =>
  [
    '```mermaid',
    'stateDiagram-v2',
    '  [*] --> opening',
    ...[...transitions()].map(([arrow, types]) => `  ${arrow}: ${types.join(', ')}`),
    '  closed --> [*]',
    '```',
  ].join('\n');

const tableOf = (head, meanings) =>
  markdownTable(
    [head, 'meaning'],
    Object.entries(meanings).map(([name, meaning]) => [code(name), meaning]),
  );

/** Renders the page. */
export const renderSessionStates = () =>
  renderPage({
    title: 'States of a session',
    purpose: 'What a session does at each moment, and what changes that.',
    source: 'src/engine/session/session-state.ts',
    sections: [
      diagram(),
      'A session starts the next command of its queue only when it is `idle`. While a command is in flight (`running`, `ending`, `settling`), the state also says what ' +
        'follows its result: `idle`, `replacing` or `closed`. A session that is closed or reset during a command thus ends the command first. Resets are counted: ' +
        'the session is `replacing` until the last one is complete.',
      'One function, `transition`, takes a state and an event and returns the next state. The compiler checks that it handles each state.',
      '## States',
      tableOf('state', STATES),
      '## Events',
      tableOf('event', EVENTS),
    ],
    next: [
      '[Life of a command](life-of-a-command.md): the phases of a command, and what happens at its end.',
      '[Architecture](architecture.md)',
    ],
  });
