// docs/reference/warnings.md: every code in `warnings` with its meaning and next step.
import { markdownTable } from '../../dist/core/markdown.js';
import { COMMAND_WARNINGS, SESSION_WARNINGS } from '../../dist/core/warnings.js';
import { code, renderPage } from './page.mjs';

const tableOf = (warnings) =>
  markdownTable(
    ['code', 'meaning', 'next step', '`exec` prints it'],
    Object.entries(warnings).map(([name, { meaning, next, printed }]) => [
      code(name),
      meaning,
      next,
      printed === 'always' ? 'always' : 'on a terminal',
    ]),
  );

/** Renders the page. */
export const renderWarnings = () =>
  renderPage({
    title: 'Warnings',
    purpose: 'What each code in `warnings` of a result means, and what to do next.',
    source: 'src/core/warnings.ts',
    sections: [
      'A warning is `{ "code", "message" }`: a note on a result, beside its exit code and output. The message has the details. ' +
        'Codes are never renamed, and never used for something else. New ones may be added: show the message of a code that you do not know. ' +
        '`shell-adapter exec` prints them on standard error: always, or only on a terminal.',
      '## Commands',
      'In `warnings` of the result of the command. Answers to requests about files have those about checkpoints.',
      tableOf(COMMAND_WARNINGS),
      '## States of a session',
      'After the last command of a series the daemon checks the session, without running anything. A finding is in `warnings` of the next result, once, ' +
        'in the event `health_warning`, and in `warnings` of `get_session` while it holds.',
      tableOf(SESSION_WARNINGS),
    ],
    next: [
      '[Error codes](errors.md): why a request failed.',
      '[Troubleshooting](../guide/troubleshooting.md): symptoms and remedies.',
    ],
  });
