import type { Finding } from '../../doctor/finding.js';
import type { Context } from '../console/context.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { EXIT } from '../console/failure.js';
import { alignColumns, paint } from '../console/style.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

interface DoctorOptions extends DaemonOptions {
  readonly json?: boolean;
}

/** `doctor`: examines this machine. Works without a daemon. */
export const doctorSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'doctor'))
    .summary('check what this machine supports')
    .description('Checks everything that the daemon needs or can use, and says how to get what is missing.')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (options: DoctorOptions) => {
      const { examine } = await import('./examine.js');
      const findings = await examine(context, options);
      const isHealthy = findings.every(({ status }) => status !== 'missing');
      const text = options.json
        ? JSON.stringify({ ok: isHealthy, checks: findings }, null, 2)
        : render(context, findings);
      await context.stdout.write(`${text}\n`);
      context.exitWith(isHealthy ? EXIT.ok : EXIT.failed);
    });

const COLOURS = { ok: 'green', warn: 'yellow', missing: 'red' } as const;

function render({ stdout }: Context, findings: readonly Finding[]): string {
  const lines = alignColumns(findings.map(({ status, name, detail }) => [status, name, detail]));
  const indent = ' '.repeat(lines[0]?.indexOf(findings[0]?.name ?? '') ?? 0);
  const body = findings.flatMap(({ status, fix }, index) => {
    const line = lines[index] ?? '';
    const shown = paint(stdout, COLOURS[status], status) + line.slice(status.length);
    return fix === undefined ? [shown] : [shown, `${indent}fix: ${fix}`];
  });
  return [...body, '', summarize(findings)].join('\n');
}

function summarize(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const missing = count('missing');
  if (missing > 0) return `${missing} of ${findings.length} checks found something essential missing.`;
  const warnings = count('warn');
  return warnings === 0 ? 'Everything is there.' : `Everything essential is there; warnings: ${warnings}.`;
}

const HELP = `${examples('shell-adapter doctor', 'shell-adapter doctor --json | jq .checks')}

Exit codes: 0 everything essential is there, 1 something essential is missing.`;
