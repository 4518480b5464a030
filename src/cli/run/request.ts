import type { RequestInput, RequestName } from '../../client/index.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { UsageError } from '../console/failure.js';
import { readStandardInput } from '../console/standard-input.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

/** What to do about input that is no payload. */
const STDIN_HINTS = {
  tooLarge: 'Give a smaller payload: the daemon has a bound for messages.',
  notText: 'Give the payload as JSON in UTF-8.',
};

/** `request`: makes any request of the protocol. */
export const requestSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'request'))
    .summary('make a request of the protocol, and print its answer')
    .description(
      'Makes a request of the protocol, and prints its answer as JSON. `shell-adapter protocol` describes all requests. What a request creates goes ' +
        'with the connection unless its fields say otherwise: a session needs "keep_while": "used".',
    )
    .argument('<name>', 'such as list_sessions')
    .argument('[payload]', 'the fields as a JSON object; - reads them from standard input', '{}')
    .addHelpText('after', HELP)
    .action(async (name: string, payload: string, options: DaemonOptions) => {
      const fields = parse(payload === '-' ? await readStandardInput(context, STDIN_HINTS) : payload, context);
      // The daemon knows which names and fields there are: it says what was wrong.
      const answer = await withDaemon(options, context, (client) =>
        client.request(name as RequestName, fields as RequestInput<RequestName>),
      );
      await context.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
    });

const HELP = `${examples(
  'shell-adapter request list_sessions',
  `shell-adapter request read_file '{"path":"README.md"}'`,
  'shell-adapter request execute_command - <request.json',
)}

Exit codes: 0 it was answered, 1 the daemon refused it or it failed, 2 wrong usage.`;

function parse(text: string, { programName }: Context): object {
  const hint = `Give a JSON object, such as '{"session_id":"…"}' (${programName} request --help explains it).`;
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`the payload is not JSON: ${(cause as SyntaxError).message}`, { hint, cause });
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new UsageError('the payload is JSON, but not an object', { hint });
  }
  return fields;
}
