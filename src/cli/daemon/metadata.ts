import type { Answer } from '../../client/index.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { alignColumns, formatSpan } from '../console/style.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';
import { withDaemon } from '../connect/with-daemon.js';

/** `metadata`: prints facts about the machine that runs the commands. */
export const metadataSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'metadata'))
    .summary('describe the machine and shell that commands run on')
    .description('Describes the machine and the shell that commands run on, and the limits of the daemon.')
    .option('--json', 'print JSON, as `shell_metadata` answers')
    .addHelpText('after', examples('shell-adapter metadata', 'shell-adapter metadata --json | jq -r .operating_system'))
    .action(async ({ json, ...options }: DaemonOptions & { json?: boolean }) => {
      const metadata = await withDaemon(options, context, (client) => client.metadata());
      const text = json ? JSON.stringify(metadata, null, 2) : alignColumns(describe(metadata)).join('\n');
      await context.stdout.write(`${text}\n`);
    });

const BYTES_PER_GIB = 1024 ** 3;
const inGib = (bytes: number | null): string =>
  bytes === null ? 'unknown' : `${(bytes / BYTES_PER_GIB).toFixed(1)} GiB`;

const describeSandbox = ({ profile, configured, reason }: Answer<'shell_metadata'>['sandbox']): string =>
  reason === null ? profile : `${profile}, not ${configured} as configured: ${reason}`;

function describe(metadata: Answer<'shell_metadata'>): string[][] {
  const { limits } = metadata;
  return [
    ['system', metadata.operating_system],
    ['kernel', `${metadata.kernel} (${metadata.architecture}), platform ${metadata.platform}`],
    ['host', `${metadata.hostname}, user ${metadata.user}`],
    ['processors', String(metadata.cpus)],
    ['memory', `${inGib(metadata.memory_available_bytes)} available of ${inGib(metadata.memory_bytes)}`],
    ['disk', `${inGib(metadata.disk_free_bytes)} free of ${inGib(metadata.disk_bytes)}`],
    ['workspace', metadata.workspace_directory],
    ['shell', metadata.shell],
    ...metadata.shells.map(({ name, path, version }) => [`  ${name}`, `${path}, ${version}`]),
    ['sandbox', describeSandbox(metadata.sandbox)],
    ['sessions', `at most ${limits.max_sessions}, for ${formatSpan(limits.session_max_lifetime_ms)}`],
    [
      'commands',
      `for ${formatSpan(limits.command_timeout_ms)}, up to ${formatSpan(limits.command_max_lifetime_ms)} if they ask for it, at most ${limits.queue_limit} waiting in a session`,
    ],
    [
      'output',
      `${limits.max_output_size} characters; of more, the first ${limits.begin_output_size} and last ${limits.end_output_size}`,
    ],
    ['messages', `at most ${limits.max_message_bytes} bytes`],
    ['version', `shell-adapter ${metadata.adapter_version}, protocol ${metadata.protocol_version}`],
  ];
}
