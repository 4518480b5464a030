import type { AdapterClient } from '../../client/index.js';
import { commandLineFor } from '../console/command-line.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { EXIT, reportFailure, UsageError } from '../console/failure.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

/** The sessions that this client may close: its own; for an admin, all. */
async function ownSessions(client: AdapterClient): Promise<string[]> {
  const { caller } = await client.request('daemon_status', {});
  const sessions = await client.listSessions();
  return sessions
    .filter(({ owner }) => caller.role === 'admin' || owner === caller.name)
    .map(({ session_id: id }) => id);
}

interface CloseOptions extends DaemonOptions {
  readonly json?: boolean;
  readonly all?: boolean;
}

/** `close`: closes sessions. */
export const closeSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'close'))
    .summary('end sessions and everything in them')
    .description('Ends sessions, with every process in them.')
    .argument('[id...]', 'the sessions')
    .option('--all', 'every session that this client may close')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `${examples('shell-adapter close session_ID', 'shell-adapter close --all')}\n\nExit codes: 0 all are closed, 1 one could not be.`,
    )
    .action(async (given: readonly string[], { json, all = false, ...options }: CloseOptions) => {
      if (given.length > 0 === all) {
        const hint = `(${context.programName} close --help explains it)`;
        throw new UsageError('give the ids of sessions, or --all', { hint });
      }
      const { closed, failed } = await withDaemon(options, context, async (client) => {
        const ids = all ? await ownSessions(client) : given;
        const settled = await Promise.allSettled(ids.map((id) => client.request('close_session', { session_id: id })));
        for (const outcome of settled) {
          if (outcome.status === 'rejected')
            await reportFailure(outcome.reason, context.stderr, commandLineFor(context, options));
        }
        const done = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.session_id] : []));
        return { closed: done, failed: settled.length - done.length };
      });
      const text = json ? `${JSON.stringify({ closed }, null, 2)}\n` : closed.map((id) => `closed ${id}\n`).join('');
      await context.stdout.write(text);
      if (failed > 0) context.exitWith(EXIT.failed);
    });
