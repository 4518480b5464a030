import { Option } from 'commander';

import type { Answer, RequestInput } from '../../core/protocol/requests.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { EXIT, UsageError } from '../console/failure.js';
import { createCommand, examples, readNumber, type Subcommand } from '../console/subcommand.js';

const MAX_PORT = 65_535;
/** Longest wait, in seconds. */
const MAX_TIMEOUT_S = 3600;
/** Shortest and longest time of a still screen, in seconds. */
const MIN_STILL_S = 0.05;
const MAX_STILL_S = 60;

type Waited = Answer<'wait_for'>;

interface WaitOptions extends DaemonOptions {
  readonly port?: number;
  readonly path?: string;
  readonly session?: string;
  readonly command?: string;
  readonly pattern?: string;
  readonly stream?: 'stdout' | 'stderr';
  readonly screenText?: string;
  readonly screenStill?: number;
  readonly regex?: boolean;
  readonly timeout?: number;
  readonly json?: boolean;
}

/** `wait`: waits for a port, a path, an output, a screen, or the end of a command. */
export const waitSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'wait'))
    .summary('wait for a port, a file, an output, a screen or the end of a command')
    .description(
      'Waits for the first of these that comes. Prints the line with the pattern, or the screen, when one of them was waited for.',
    )
    .option('--port <port>', 'something listens on this port', readNumber({ min: 1, max: MAX_PORT, isWhole: true }))
    .option('--path <path>', 'it exists on the machine of the daemon; relative to the session, or to the workspace')
    .option('--command <id>', 'this command has ended, or has printed the pattern')
    .option('--pattern <text>', 'the command has printed this, within one line')
    .addOption(new Option('--stream <stream>', 'where it prints the pattern').choices(['stdout', 'stderr']))
    .option('-s, --session <id>', 'the port, path or screen of this session')
    .option('--screen-text <text>', 'the screen shows this, within one line')
    .option(
      '--screen-still <seconds>',
      'nothing on the screen has changed for so long',
      readNumber({ min: MIN_STILL_S, max: MAX_STILL_S, isWhole: false }),
    )
    .option('--regex', 'the pattern and the text are regular expressions of RE2')
    .option(
      '--timeout <seconds>',
      'give up after so long; by default after 30',
      readNumber({ min: 0, max: MAX_TIMEOUT_S, isWhole: false }),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action((options: WaitOptions) => wait(context, options));

const HELP = `${examples(
  'shell-adapter wait --port 8080 --timeout 60',
  "shell-adapter wait --command command_ID --pattern 'listening on'",
  'shell-adapter wait --session session_ID --screen-still 0.5',
)}

Exit codes: 0 it has come, 1 the command ended before it, or it failed, 124 the time is over.`;

async function wait(context: Context, { json = false, ...options }: WaitOptions): Promise<void> {
  const problem = problemOf(options);
  if (problem !== undefined) {
    throw new UsageError(problem, { hint: `(${context.programName} wait --help explains it)` });
  }
  const waited = await withDaemon(options, context, (client) => client.request('wait_for', requestFor(options)));
  await context.stdout.write(json ? `${JSON.stringify(waited, null, 2)}\n` : shownText(waited));
  if (!waited.met) context.exitWith(waited.condition === null ? EXIT.execTimedOut : EXIT.failed);
}

/** What is wrong with the options; undefined when nothing is. */
function problemOf({ port, path, command, session, pattern, ...options }: WaitOptions): string | undefined {
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

function requestFor(options: WaitOptions): RequestInput<'wait_for'> {
  const { port, path, session, command, pattern, stream, regex, screenText, screenStill, timeout } = options;
  return {
    port,
    path,
    session_id: session,
    command_id: command,
    pattern,
    stream,
    regex,
    screen_text: screenText,
    screen_stable_ms: milliseconds(screenStill),
    timeout_ms: milliseconds(timeout),
  };
}

const milliseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.round(seconds * 1000);

function shownText({ match, screen }: Waited): string {
  if (match) return `${match.text}\n`;
  return screen ? `${screen.text}\n` : '';
}
