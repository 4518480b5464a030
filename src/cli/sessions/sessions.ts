import type { AdapterClient } from '../../client/index.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { commandLineFor } from '../console/context.js';
import { EXIT, reportFailure, UsageError } from '../console/failure.js';
import { createCommand, examples, readNumber, type Subcommand } from '../console/subcommand.js';
import type { AttachOptions } from './follow-session.js';
import { renderSessions } from './session-table.js';
import type { TopOptions } from './show-top.js';

interface SessionsOptions extends DaemonOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/** `sessions`: lists the open sessions. */
export const sessionsSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'sessions'))
    .summary('list the open sessions')
    .description(
      'Lists the open sessions: what they run, where, for how long they have been there, and when and why ' +
        'they will end: unused (idle), without a client (disconnected), or too old (lifetime).',
    )
    .option('-w, --watch', 'follow them until Ctrl-C: a table on a terminal, otherwise a line for each change')
    .option('--json', 'print JSON; with --watch a line for each change')
    .addHelpText(
      'after',
      examples(
        'shell-adapter sessions',
        'shell-adapter sessions --watch',
        "shell-adapter sessions --json | jq -r '.sessions[].session_id'",
      ),
    )
    .action(async ({ json = false, watch = false, ...options }: SessionsOptions) => {
      if (watch) {
        const { watchSessions } = await import('./watch-sessions.js');
        await watchSessions(context, options, json);
        return;
      }
      const sessions = await withDaemon(options, context, (client) => client.listSessions());
      const text = json ? JSON.stringify({ sessions }, null, 2) : renderSessions(sessions, Date.now()).join('\n');
      await context.stdout.write(`${text}\n`);
    });

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

/** `attach`: follows a session. */
export const attachSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'attach'))
    .summary('follow a session')
    .description(
      'Shows what the commands of a session print, as it comes, until the session ends or Ctrl-C. The session goes on.',
    )
    .argument('<id>', 'the session')
    .option(
      '--from-seq <number>',
      'begin with this event; 0 shows all that is still kept',
      readNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true }),
    )
    .option(
      '--input',
      'type into what runs: at a terminal every key, Ctrl-] leaves; otherwise lines. Without it, nothing can be changed',
    )
    .option('--observe', 'only look: commands never wait for this client, and output that comes too fast is skipped')
    .option('--json', 'print each event as a line of JSON')
    .addHelpText('after', HELP)
    .action(async (id: string, options: AttachOptions) => {
      if (options.observe === true && options.input === true)
        throw new UsageError('--observe only looks: leave out --input, or follow the session without --observe');
      const { followSession } = await import('./follow-session.js');
      await followSession(context, id, options);
    });

const HELP = `${examples('shell-adapter attach session_ID', 'shell-adapter attach session_ID --from-seq 0 --json')}

Exit codes: 0 left by Ctrl-C, or the session has ended; 1 there is no such session, or the daemon has gone.`;

/** `top`: shows what runs and what it uses. */
export const topSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'top'))
    .summary('show what runs, and what it uses')
    .description(
      'Shows the machine, the sessions and the running commands with their CPU time and memory, every second until Ctrl-C.',
    )
    .option('--once', 'show them once; always so where the output is no terminal, unless --json is given')
    .option('--json', 'print a line of JSON for each change; with --once one object')
    .addHelpText(
      'after',
      examples('shell-adapter top', 'shell-adapter top --once', 'shell-adapter top --once --json | jq .host'),
    )
    .action(async (options: TopOptions) => {
      const { showTop } = await import('./show-top.js');
      await showTop(context, options);
    });
