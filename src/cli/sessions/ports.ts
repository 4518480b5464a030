import type { Answer } from '../../client/index.js';
import { MAX_PORT } from '../../core/protocol/bounds.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { DAEMON_OPTIONS, requesting } from '../connect/requesting.js';
import { withDaemon } from '../connect/with-daemon.js';
import { type Context, untilStopped } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { onOneLine, table } from '../console/style.js';
import { JSON_OPTION, type Subcommand, wholeNumber } from '../console/subcommand.js';

/** Longest command line in the table, in characters. */
const MAX_COMMAND = 60;

const ports = requesting('list_ports', {
  summary: 'list the ports on which sessions listen',
  description:
    'Lists the TCP ports on which processes of sessions listen. REACHABLE says whether programs of the machine can connect: the ' +
    'network of a sandbox may be its own.',
  arguments: [['[session]', 'only those of a session', { field: 'session_id' }]],
  options: [...DAEMON_OPTIONS, JSON_OPTION],
  examples: ['shell-adapter ports', 'shell-adapter ports session_ID --json'],
  exitCodes: '0 they are listed, also when there is none; 1 it failed.',
  text: renderPorts,
});

function renderPorts({ ports: found }: Answer<'list_ports'>): string[] {
  const rows = found.map(({ port, address, session_id, pid, on_machine, command }) => [
    String(port),
    address,
    on_machine ? 'yes' : 'no',
    session_id,
    String(pid),
    onOneLine(command, MAX_COMMAND),
  ]);
  return table(['PORT', 'ADDRESS', 'REACHABLE', 'SESSION', 'PID', 'COMMAND'], rows, 'No session listens on a port.');
}

const forward: Subcommand = {
  summary: 'open a port of a session on this machine, for a browser',
  description:
    'Listens on this machine, and passes HTTP and WebSocket on to a port on which a process of the session listens. The daemon ' +
    'has to allow it, by http.previews in its configuration. Programs of other users of this machine can use the port, too.',
  arguments: [
    ['<session>', 'the session'],
    ['<port>', 'its TCP port', { read: wholeNumber(1, MAX_PORT) }],
  ],
  options: [
    ...DAEMON_OPTIONS,
    ['--local-port <port>', 'listen on this port; by default any free one', { read: wholeNumber(0, MAX_PORT) }],
  ],
  examples: ['shell-adapter forward session_ID 3000', 'shell-adapter forward session_ID 3000 --local-port 8000'],
  exitCodes: '0 a signal has ended it; 1 it failed.',
  run: forwardPort,
};

async function forwardPort(
  context: Context,
  { localPort = 0, ...options }: DaemonOptions & { readonly localPort?: number },
  session: string,
  port: number,
): Promise<void> {
  await withDaemon(options, context, async (client, address) => {
    // Says what is wrong before a browser shows it.
    const { path, command } = await client.request('preview_port', { session_id: session, port });
    const [{ DaemonHttp }, { LocalPreview }] = await Promise.all([
      import('../connect/daemon-http.js'),
      import('./local-preview.js'),
    ]);
    using daemon = new DaemonHttp(address);
    await using preview = new LocalPreview(daemon, path);
    const origin = await preview.listen(localPort).catch((cause: unknown) => {
      const { message } = cause as Error;
      throw new CommandLineError(`port ${localPort} cannot be listened on: ${message}`, { cause });
    });
    await context.stdout.write(`${origin} shows port ${port} of ${session} (${command})\n`);
    if (context.stdout.isTerminal) await context.stderr.write('Ctrl-C ends it.\n');
    await untilStopped(context, (_signal, stopped) => stopped);
  });
}

export const portsSubcommands = { ports, forward };
