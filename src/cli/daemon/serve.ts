import { Option } from 'commander';

import type { ServeOptions } from './run-daemon.js';
import { createCommand, examples, readNumber, type Subcommand } from '../options/subcommand.js';

/** `serve`: runs the daemon in the foreground. */
export const serveSubcommand: Subcommand = (context) =>
  createCommand(context, 'serve')
    .summary('start the daemon, in the foreground')
    .description(
      'Starts the daemon in the foreground. When it is ready it prints "listening on http://HOST:PORT" on standard ' +
        'output; its log goes to the log file and to standard error.',
    )
    .option('-c, --config <file>', 'the configuration file')
    .option('-w, --workspace <directory>', 'where sessions start; created when it is missing')
    .option('--host <address>', 'the address to listen on')
    .option('--port <number>', 'the port; 0 takes any that is free', readNumber({ min: 0, max: 65_535, isWhole: true }))
    .option('--example', 'print a line to try and a link to the dashboard, even when the output is no terminal')
    .option('--no-example', 'print neither')
    // How a daemon starts the process that holds its sessions.
    .addOption(new Option('--hold-in <directory>').hideHelp())
    .addOption(new Option('--hold-as <name>').hideHelp())
    .addHelpText('after', HELP)
    .action(async (options: ServeOptions) => {
      const { runDaemon } = await import('./run-daemon.js');
      await runDaemon(context, options);
    });

const HELP = `
Signals:
  SIGHUP            read the configuration again; a file with errors changes nothing
  SIGTERM, SIGINT   tell the clients, end all commands and sessions, exit within 5 seconds;
                    with adapter.detach commands and sessions go on
  the same again    exit at once
  of a worker, the first SIGTERM drains it: it ends when its sessions and commands
  have ended, after cluster.drain_timeout, or with the second SIGTERM
${examples('shell-adapter serve --workspace ~/work', 'shell-adapter serve --config ~/strict.yaml --port 0')}

Exit codes: 0 stopped by a signal, 1 could not start or not end in time, 2 wrong usage,
128+n a second signal n.`;
