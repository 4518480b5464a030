import type { Answer } from '../../client/index.js';
import { MAX_PORT, MAX_STABLE_MS, MAX_WAIT_MS, MIN_STABLE_MS } from '../../core/protocol/bounds.js';
import { DAEMON_OPTIONS, requesting } from '../connect/requesting.js';
import type { Context } from '../console/context.js';
import { EXIT, UsageError } from '../console/failure.js';
import { JSON_OPTION, seconds, wholeNumber } from '../console/subcommand.js';

export const waitSubcommand = requesting('wait_for', {
  summary: 'wait for a port, a file, an output, a screen or the end of a command',
  description:
    'Waits for the first of these that comes. Prints the line with the pattern, or the screen, when one of them was waited for.',
  options: [
    ...DAEMON_OPTIONS,
    ['--port <port>', 'something listens on this port', { read: wholeNumber(1, MAX_PORT), field: 'port' }],
    [
      '--path <path>',
      'it exists on the machine of the daemon; relative to the session, or to the workspace',
      { field: 'path' },
    ],
    ['--command <id>', 'this command has ended, or has printed the pattern', { field: 'command_id' }],
    ['--pattern <text>', 'the command has printed this, within one line', { field: 'pattern' }],
    ['--stream <stream>', 'where it prints the pattern', { choices: ['stdout', 'stderr'], field: 'stream' }],
    ['-s, --session <id>', 'the port, path or screen of this session', { field: 'session_id' }],
    ['--screen-text <text>', 'the screen shows this, within one line', { field: 'screen_text' }],
    [
      '--screen-still <seconds>',
      'nothing on the screen has changed for so long',
      { read: seconds(MIN_STABLE_MS, MAX_STABLE_MS), field: 'screen_stable_ms' },
    ],
    ['--regex', 'the pattern and the text are regular expressions of RE2', { field: 'regex' }],
    [
      '--timeout <seconds>',
      'give up after so long; by default after 30',
      { read: seconds(0, MAX_WAIT_MS), field: 'timeout_ms' },
    ],
    JSON_OPTION,
  ],
  examples: [
    'shell-adapter wait --port 8080 --timeout 60',
    "shell-adapter wait --command command_ID --pattern 'listening on'",
    'shell-adapter wait --session session_ID --screen-still 0.5',
  ],
  exitCodes: '0 it has come, 1 the command ended before it, or it failed, 124 the time is over.',
  payload: assertConsistent,
  text: ({ match, screen }: Answer<'wait_for'>) => match?.text ?? screen?.text ?? [],
  after: (context, { met, condition }) => {
    if (!met) context.exitWith(condition === null ? EXIT.execTimedOut : EXIT.failed);
  },
});

interface Conditions {
  readonly port?: number;
  readonly path?: string;
  readonly command?: string;
  readonly session?: string;
  readonly pattern?: string;
  readonly screenText?: string;
  readonly screenStill?: number;
}

/** @throws UsageError when the options do not fit together */
function assertConsistent({ programName }: Context, conditions: Conditions): object {
  const problem = problemOf(conditions);
  if (problem === undefined) return {};
  throw new UsageError(problem, { hint: `(${programName} wait --help explains it)` });
}

/** What is wrong with the options; undefined when nothing is. */
function problemOf({ port, path, command, session, pattern, ...options }: Conditions): string | undefined {
  const isScreen = options.screenText !== undefined || options.screenStill !== undefined;
  const where = command ?? session;
  if (!isScreen && [port, path, command].every((each) => each === undefined)) {
    return 'give what to wait for: --port, --path, --command, --screen-text or --screen-still';
  }
  if (pattern !== undefined && command === undefined) {
    return '--pattern is searched in the output of a command: give --command';
  }
  return isScreen && where === undefined
    ? 'a screen is that of a session or of a command: give --session or --command'
    : undefined;
}
