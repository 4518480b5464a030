// docs/reference/events.md: every event with its fields.
import { markdownTable } from '../../dist/core/markdown.js';
import { renderPayload } from '../../dist/core/descriptions/message-tables.js';
import { events } from '../../dist/core/protocol/results.js';
import { code, renderPage } from './page.mjs';

const SHAPES_PAGE = 'protocol.md';

/** Renders the page. */
export const renderEvents = () =>
  renderPage({
    title: 'Events',
    purpose: 'Every event that the daemon sends without being asked for an answer, with its fields.',
    source: 'src/core/protocol/events.ts',
    sections: [
      'Events of a session go to the clients that opened it or attached to it. Events may get new fields at any time: ignore fields that you do not know.',
      markdownTable(
        ['event', 'when it is sent'],
        Object.entries(events).map(([name, { summary }]) => [`[${code(name)}](#${name})`, summary]),
      ),
      ...Object.entries(events).map(
        ([name, { summary, schema }]) => `## ${code(name)}\n\n${summary}\n\n${renderPayload(schema, SHAPES_PAGE)}`,
      ),
    ],
    next: [
      '[Wire protocol](protocol.md): requests, and the shapes that events share with answers.',
      '[Sessions](../guide/sessions.md): streamed output and reconnecting.',
    ],
  });
