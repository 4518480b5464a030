import type { Answer } from '../../core/protocol/requests.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { alignColumns, onOneLine } from '../console/style.js';
import { createCommand, examples, type Subcommand } from '../console/subcommand.js';

/** Longest command line in the table, in characters. */
const MAX_COMMAND = 60;

interface PortsOptions extends DaemonOptions {
  readonly json?: boolean;
}

/** `ports`: lists the ports on which processes of sessions listen. */
export const portsSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'ports'))
    .summary('list the ports on which sessions listen')
    .description(
      'Lists the TCP ports on which processes of sessions listen. REACHABLE says whether programs of the machine can connect: the ' +
        'network of a sandbox may be its own.',
    )
    .argument('[session]', 'only those of a session')
    .option('--json', 'print JSON')
    .addHelpText('after', `${examples('shell-adapter ports', 'shell-adapter ports session_ID --json')}\n\n${EXITS}`)
    .action(async (session: string | undefined, { json = false, ...options }: PortsOptions) => {
      const { ports } = await withDaemon(options, context, (client) =>
        client.request('list_ports', { session_id: session }),
      );
      const text = json ? JSON.stringify({ ports }, null, 2) : renderPorts(ports).join('\n');
      await context.stdout.write(`${text}\n`);
    });

const EXITS = 'Exit codes: 0 they are listed, also when there is none; 1 it failed.';

/** Renders the table of ports, line by line. */
function renderPorts(ports: Answer<'list_ports'>['ports']): string[] {
  if (ports.length === 0) return ['No session listens on a port.'];
  const rows = ports.map(({ port, address, session_id, pid, on_machine, command }) => [
    String(port),
    address,
    on_machine ? 'yes' : 'no',
    session_id,
    String(pid),
    onOneLine(command, MAX_COMMAND),
  ]);
  return alignColumns([['PORT', 'ADDRESS', 'REACHABLE', 'SESSION', 'PID', 'COMMAND'], ...rows]);
}
