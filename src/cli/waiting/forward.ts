import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { untilStopped } from '../console/context.js';
import { CommandLineError } from '../console/failure.js';
import { createCommand, examples, readNumber, type Subcommand } from '../console/subcommand.js';

const MAX_PORT = 65_535;

interface ForwardOptions extends DaemonOptions {
  readonly localPort?: number;
}

/** `forward`: makes a port of a session a port of this machine. */
export const forwardSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'forward'))
    .summary('open a port of a session on this machine, for a browser')
    .description(
      'Listens on this machine, and passes HTTP and WebSocket on to a port on which a process of the session listens. The daemon ' +
        'has to allow it, by http.previews in its configuration. Programs of other users of this machine can use the port, too.',
    )
    .argument('<session>', 'the session')
    .argument('<port>', 'its TCP port', readNumber({ min: 1, max: MAX_PORT, isWhole: true }))
    .option(
      '--local-port <port>',
      'listen on this port; by default any free one',
      readNumber({ min: 0, max: MAX_PORT, isWhole: true }),
    )
    .addHelpText(
      'after',
      `${examples('shell-adapter forward session_ID 3000', 'shell-adapter forward session_ID 3000 --local-port 8000')}\n\n${EXITS}`,
    )
    .action(async (session: string, port: number, { localPort = 0, ...options }: ForwardOptions) => {
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
        await untilStopped(context, (signal) => aborted(signal));
      });
    });

const EXITS = 'Exit codes: 0 a signal has ended it; 1 it failed.';

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
