import { type DaemonOptions, withDaemonOptions } from './daemon-address.js';
import { EXIT, reportFailure } from './failure.js';
import { createCommand, examples, type Subcommand } from './subcommand.js';
import { withDaemon } from './with-daemon.js';

/** `close`: ends sessions. */
export const closeSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'close'))
    .summary('end sessions and everything in them')
    .description('Ends sessions, with every process in them.')
    .argument('<id...>', 'the sessions')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `${examples('shell-adapter close session_ID')}\n\nExit codes: 0 all are closed, 1 one could not be.`,
    )
    .action(async (ids: readonly string[], { json, ...options }: DaemonOptions & { json?: boolean }) => {
      const closed = await withDaemon(options, context, async (client) => {
        const settled = await Promise.allSettled(ids.map((id) => client.request('close_session', { session_id: id })));
        for (const outcome of settled) {
          if (outcome.status === 'rejected') await reportFailure(outcome.reason, context.stderr);
        }
        return settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.session_id] : []));
      });
      const text = json ? `${JSON.stringify({ closed }, null, 2)}\n` : closed.map((id) => `closed ${id}\n`).join('');
      await context.stdout.write(text);
      if (closed.length < ids.length) context.exitWith(EXIT.failed);
    });
