import type { Answer } from '../../client/index.js';
import type { Configuration } from '../../config/model/configuration.js';
import { loadConfiguration } from '../../config/read/load.js';
import { ConfigurationError } from '../../config/model/problems.js';
import { examinedSettings, runsCommands } from '../../config/derive.js';
import { examineLlmProviders } from '../../doctor/llm.js';
import { examineMachine } from '../../doctor/doctor.js';
import type { Finding } from '../../doctor/finding.js';
import { examineApprovals, examineUsers } from '../../doctor/engine.js';
import { findConfiguration, trustAdvice } from '../connect/configuration.js';
import { commandLineFor, type Context, quoteWord } from '../console/context.js';
import { type DaemonOptions, describeDashboard, givenUrl, urlOf } from '../connect/daemon-address.js';
import { EXIT } from '../console/failure.js';
import { alignColumns, paint } from '../console/style.js';
import { type JsonOption, printAnswer } from '../console/subcommand.js';
import { findStatus } from '../connect/with-daemon.js';

/**
 * Runs all checks, and prints what they have found.
 * @throws UsageError when the given address of the daemon is invalid
 */
export async function printFindings(context: Context, options: DaemonOptions & JsonOption): Promise<void> {
  const findings = await examine(context, options);
  const isHealthy = findings.every(({ status }) => status !== 'missing');
  await printAnswer(context, options, { ok: isHealthy, checks: findings }, () => render(context, findings));
  context.exitWith(isHealthy ? EXIT.ok : EXIT.failed);
}

const COLOURS = { ok: 'green', warn: 'yellow', missing: 'red' } as const;

function render({ stdout }: Context, findings: readonly Finding[]): string[] {
  const lines = alignColumns(findings.map(({ status, name, detail }) => [status, name, detail]));
  const indent = ' '.repeat(lines[0]?.indexOf(findings[0]?.name ?? '') ?? 0);
  const body = findings.flatMap(({ status, fix }, index) => {
    const line = lines[index] ?? '';
    const shown = paint(stdout, COLOURS[status], status) + line.slice(status.length);
    return fix === undefined ? [shown] : [shown, `${indent}fix: ${fix}`];
  });
  return [...body, '', summarize(findings)];
}

function summarize(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const missing = count('missing');
  if (missing > 0) return `${missing} of ${findings.length} checks found something essential missing.`;
  const warnings = count('warn');
  return warnings === 0 ? 'Everything is there.' : `Everything essential is there; warnings: ${warnings}.`;
}

/** Runs all checks: the machine, the configuration, and a running daemon. */
async function examine(context: Context, options: DaemonOptions): Promise<readonly Finding[]> {
  const { configuration, findings } = examineConfiguration(context, options);
  const { env } = context;
  const toolEnv = configuration?.childEnvironment ?? { PATH: env['PATH'] ?? '' };
  const running = configuration && runsCommands(configuration) ? configuration : undefined;
  const llm = running ? examineLlmProviders(running.llm, toolEnv) : [];
  const machine = await examineMachine({
    env: toolEnv,
    ...(configuration ? examinedSettings(configuration) : { ...NO_SETTINGS, searchPath: env['PATH'] ?? '' }),
  });
  const installed: Finding = { name: 'version', status: 'ok', detail: `shell-adapter ${context.version}` };
  return [
    installed,
    ...machine,
    ...(await llm),
    ...findings,
    ...(running ? await examineState(running) : []),
    ...(await examineDaemon(context, options, configuration)),
  ];
}

/** Examines what the daemon has in its state directory. */
async function examineState({ adapter, childEnvironment }: Configuration): Promise<readonly Finding[]> {
  const { stateDirectory } = adapter;
  const users = await examineUsers({ stateDirectory, path: childEnvironment['PATH'] ?? '' });
  return [...examineApprovals(stateDirectory), ...users];
}

const NO_SETTINGS = {
  defaultShell: 'bash',
  platform: 'auto',
  directories: {},
  sandbox: undefined,
  limits: undefined,
  privateFiles: {},
  runsCommands: true,
  cluster: undefined,
} as const;

function examineConfiguration(
  context: Context,
  { config }: DaemonOptions,
): { readonly configuration?: Configuration; readonly findings: readonly Finding[] } {
  const name = 'configuration';
  try {
    const source = findConfiguration(context, config);
    const { file = 'none', why, untrusted } = source;
    const ignored: Finding = { name, status: 'warn', detail: `${untrusted} is ignored`, fix: trustAdvice(context) };
    const findings: Finding[] = [{ name, status: 'ok', detail: `${file} (${why})` }];
    return {
      configuration: loadConfiguration(source),
      findings: untrusted === undefined ? findings : [...findings, ignored],
    };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const [first = '', ...problems] = error.message.split('\n').map((line) => line.trim());
    const detail = [first, problems.join('; ')].join(' ').trim();
    const fix = 'correct it; `shell-adapter config check FILE` tells when it is right';
    return { findings: [{ name, status: 'missing', detail, fix }] };
  }
}

/** Checks the daemon that the options specify, and its differences from one that `serve` would start here. */
async function examineDaemon(
  context: Context,
  options: DaemonOptions,
  configuration: Configuration | undefined,
): Promise<readonly Finding[]> {
  const name = 'daemon';
  const url = givenUrl(options, context)?.url ?? (configuration && urlOf(configuration.socketio));
  if (url === undefined) return [{ name, status: 'warn', detail: 'not looked for: its port is not known' }];
  const found = await findStatus(options, context);
  if (found.state === 'unknown') {
    return [{ name, status: 'warn', detail: found.why, ...(found.hint !== undefined && { fix: found.hint }) }];
  }
  if (found.state === 'stopped') {
    return [
      { name, status: 'warn', detail: `none answers at ${url}`, fix: `start one: ${serveCommand(context, options)}` },
    ];
  }
  const { status } = found;
  const running = `version ${status.adapter_version}, process ${status.pid}, answers at ${url}`;
  return [
    { name, status: 'ok', detail: running },
    { name: 'daemon file', status: 'ok', detail: status.configuration_file ?? 'none: the defaults' },
    { name: 'daemon workspace', status: 'ok', detail: status.workspace_directory },
    { name: 'daemon dashboard', status: 'ok', detail: describeDashboard(status.dashboard, url) },
    ...compareDaemon(context, status, configuration),
  ];
}

/** The command line that starts a daemon with the given configuration. */
const serveCommand = (context: Context, { config }: DaemonOptions): string =>
  commandLineFor(context, { config })('serve');

/** A finding if the running daemon has other settings than those that were checked. */
function compareDaemon(
  { programName }: Context,
  status: Answer<'daemon_status'>,
  configuration: Configuration | undefined,
): readonly Finding[] {
  const differences = differencesOf(status, configuration);
  if (differences.length === 0) return [];
  const detail = `the daemon has another ${differences.join(' and ')} than the checks above are about`;
  const file = quoteWord(status.configuration_file ?? 'FILE');
  return [
    { name: 'daemon differs', status: 'warn', detail, fix: `name its file: ${programName} doctor --config ${file}` },
  ];
}

/** Names of the settings in which the running daemon differs from one that `serve` would start here. */
function differencesOf(status: Answer<'daemon_status'>, configuration: Configuration | undefined): string[] {
  const pairs = [
    ['configuration file', status.configuration_file, configuration?.file ?? null],
    ['workspace', status.workspace_directory, configuration?.adapter.workspaceDirectory],
    ['state directory', status.state_directory, configuration?.adapter.stateDirectory],
  ] as const;
  return pairs.flatMap(([what, theirs, ours]) => (theirs === ours ? [] : [what]));
}
