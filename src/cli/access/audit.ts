import { type Command, InvalidArgumentError } from 'commander';

import { AUDIT_EVENTS } from '../../core/audit-events.js';
import type { AuditOptions, SearchOptions, TailOptions } from './read-audit.js';
import { createCommand, createGroup, examples, readNumber, type Subcommand } from '../console/subcommand.js';

/** Lines that `tail` shows by default. */
const TAIL_LINES = 20;

/** `audit`: reads the audit log of a daemon, whether or not the daemon runs. */
export const auditSubcommand: Subcommand = (context) =>
  createGroup(context, 'audit')
    .summary('verify and read the audit log')
    .description('Verifies and reads the audit log of a daemon, which its configuration names. No daemon is needed.')
    .addCommand(verifyCommand(context))
    .addCommand(tailCommand(context))
    .addCommand(searchCommand(context));

const withAuditOptions = (command: Command): Command =>
  command
    .option('-c, --config <file>', 'the configuration file of the daemon')
    .option('--file <path>', 'the audit log itself, instead of the one that the configuration names')
    .option('--json', 'print JSON');

const verifyCommand: Subcommand = (context) =>
  withAuditOptions(createCommand(context, 'audit verify'))
    .summary('verify that no record was changed, moved or removed')
    .description(
      'Walks the chain of records through all files, the oldest first, and names the first that is not in order.',
    )
    .addHelpText('after', VERIFY_HELP)
    .action(async (options: AuditOptions) => {
      const { verifyAuditLog } = await import('./read-audit.js');
      await verifyAuditLog(context, options);
    });

const tailCommand: Subcommand = (context) =>
  withAuditOptions(createCommand(context, 'audit tail'))
    .summary('show the latest records')
    .description('Shows the latest records, and with --follow those to come.')
    .option('-n, --lines <number>', 'how many', readNumber({ min: 0, max: 1_000_000, isWhole: true }), TAIL_LINES)
    .option('-f, --follow', 'go on until it is interrupted')
    .addHelpText('after', examples('shell-adapter audit tail -n 50', 'shell-adapter audit tail --follow --json'))
    .action(async (options: TailOptions) => {
      const { tailAuditLog } = await import('./read-audit.js');
      await tailAuditLog(context, options);
    });

const searchCommand: Subcommand = (context) =>
  withAuditOptions(createCommand(context, 'audit search'))
    .summary('find records')
    .description('Shows the records that match all given options, oldest first.')
    .option('--principal <name>', 'name or id of a token, or local')
    .option('--session <id>', 'of this session')
    .option('--command-id <id>', 'of this command')
    .option('--event <name>', `one of ${Object.keys(AUDIT_EVENTS).join(', ')}`, readEvent)
    .option('--since <time>', 'from then on: a date and time, or 90s, 15m, 2h, 7d ago', readTime)
    .option('--until <time>', 'until then, likewise', readTime)
    .option('--text <text>', 'with this text anywhere')
    .addHelpText(
      'after',
      examples(
        'shell-adapter audit search --since 2h --event command_started',
        "shell-adapter audit search --text 'rm -rf' --json",
      ),
    )
    .action(async (options: SearchOptions) => {
      const { searchAuditLog } = await import('./read-audit.js');
      await searchAuditLog(context, options);
    });

function readEvent(text: string): string {
  if (Object.hasOwn(AUDIT_EVENTS, text)) return text;
  throw new InvalidArgumentError(`The events are ${Object.keys(AUDIT_EVENTS).join(', ')}.`);
}

const SPAN_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readTime(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  // Date.parse accepts texts that are not dates: it parses "10" as a month.
  const date = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : NaN;
  const time = digits === undefined ? date : Date.now() - Number(digits) * (SPAN_MS[unit] ?? NaN);
  if (!Number.isNaN(time)) return time;
  throw new InvalidArgumentError('It looks like 2026-01-31T12:00:00Z, or like 15m for fifteen minutes ago.');
}

const VERIFY_HELP = `
A gap that a full disk has made is counted and no fault. One that tells of a hand is: records that were cut off, a file that
was replaced. A program that can write both the log and the file beside it (.head) can forge both: keep copies elsewhere.
${examples('shell-adapter audit verify', 'shell-adapter audit verify --json | jq .fault')}

Exit codes: 0 in order, 1 not in order, 2 wrong usage.`;
