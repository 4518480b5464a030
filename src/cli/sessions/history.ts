import type { AdapterClient } from '../../client/index.js';
import { formatBytes } from '../checkpoints/checkpoint-output.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { alignColumns, formatSpan, onOneLine } from '../console/style.js';
import { createCommand, examples, readNumber, type Subcommand } from '../console/subcommand.js';
import type { LiveCommand } from './live-state.js';

/** Longest command line in the table, in characters. */
const MAX_COMMAND = 80;
/** Most commands that one request returns. */
const PAGE = 200;
/** Most commands that can be asked for: the daemon keeps fewer. */
export const MAX_LIMIT = 100_000;
const DEFAULT_LIMIT = 50;

interface HistoryOptions extends DaemonOptions {
  readonly limit: number;
  readonly owner?: string;
  readonly running?: boolean;
  readonly json?: boolean;
}

/** `history`: lists commands. */
export const historySubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'history'))
    .summary('list the last commands')
    .description(
      'Lists commands, the newest first: those that run, and those whose output the daemon still keeps. The audit log has all.',
    )
    .argument('[session]', 'only those of a session')
    .option(
      '-n, --limit <number>',
      'most commands to list',
      readNumber({ min: 1, max: MAX_LIMIT, isWhole: true }),
      DEFAULT_LIMIT,
    )
    .option('--owner <name>', 'only those of a token; `local` for clients without one')
    .option('--running', 'only those that have not ended')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'shell-adapter history',
        'shell-adapter history session_ID --limit 10',
        "shell-adapter history --json | jq '.commands[] | select(.exit_code != 0).command'",
      ),
    )
    .action(async (session: string | undefined, { json = false, ...options }: HistoryOptions) => {
      const commands = await withDaemon(options, context, (client) => listCommands(client, session, options));
      const text = json ? JSON.stringify({ commands }, null, 2) : renderHistory(commands, Date.now()).join('\n');
      await context.stdout.write(`${text}\n`);
    });

/** Lists commands, the newest first; of a session, if one is given. */
export async function listCommands(
  client: AdapterClient,
  session: string | undefined,
  { limit, owner, running = false }: Pick<HistoryOptions, 'limit' | 'owner' | 'running'>,
): Promise<LiveCommand[]> {
  const found: LiveCommand[] = [];
  let before: string | undefined;
  do {
    const page = await client.request('list_commands', {
      session_id: session,
      owner,
      state: running ? 'running' : undefined,
      before,
      limit: Math.min(PAGE, limit - found.length),
    });
    found.push(...page.commands);
    before = page.next ?? undefined;
  } while (before !== undefined && found.length < limit);
  return found;
}

/** Renders the table of commands, line by line. */
function renderHistory(commands: readonly LiveCommand[], now: number): string[] {
  if (commands.length === 0) return ['No command is known.'];
  const rows = commands.map((command) => {
    const {
      command_id: id,
      owner,
      state,
      exit_code: code,
      duration_ms: ms,
      stdout_bytes: out,
      stderr_bytes: err,
    } = command;
    const ago = formatSpan(now - Date.parse(command.accepted_at));
    const end = state === 'ended' ? String(code) : state;
    const took = ms < MIN_SPAN_MS ? `${Math.round(ms)}ms` : formatSpan(ms);
    return [id, owner, ago, end, took, formatBytes(out), formatBytes(err), lineOf(command)];
  });
  return alignColumns([['COMMAND', 'OWNER', 'AGO', 'EXIT', 'TOOK', 'STDOUT', 'STDERR', 'TEXT'], ...rows]);
}

/** Shorter times are shown in milliseconds. */
const MIN_SPAN_MS = 1000;

/** The command on one line, with its arguments. */
export const lineOf = ({ command, args = [] }: LiveCommand): string =>
  onOneLine([command, ...args].join(' '), MAX_COMMAND);
