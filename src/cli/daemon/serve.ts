import { Option } from 'commander';

import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, examples, readNumber, type Subcommand } from '../console/subcommand.js';
import type { ServeOptions } from './run-daemon.js';

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

/** `stop`: stops the daemon. */
export const stopSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'stop'))
    .summary('stop the daemon, and wait until it has ended')
    .description(
      'Stops the daemon at the address, as Ctrl-C does where it was started: its clients are told, and all commands and ' +
        'sessions end, also those that adapter.detach has outlive it. Returns when all have ended. It has to be a process of ' +
        'this user, on this machine.',
    )
    .addHelpText('after', STOP_HELP)
    .action(async (options: DaemonOptions) => {
      const { stopDaemon } = await import('./restart-daemon.js');
      await stopDaemon(context, options);
    });

const STOP_HELP = `${examples('shell-adapter stop', 'shell-adapter stop --url http://127.0.0.1:9000')}

Exit codes: 0 stopped, or none was running; 1 the daemon could not be stopped, 2 wrong usage.`;

/** `restart`: stops the daemon, and starts it again in the same way. */
export const restartSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'restart'))
    .summary('start the daemon again, as after an upgrade')
    .description(
      'Stops the daemon at the address, and starts it again with the same arguments, environment and directory, in the ' +
        'background. With `adapter.detach: true` sessions and running commands go on meanwhile; otherwise they end. It has ' +
        'to be a process of this user, on this machine.',
    )
    .addHelpText('after', RESTART_HELP)
    .action(async (options: DaemonOptions) => {
      const { restartDaemon } = await import('./restart-daemon.js');
      await restartDaemon(context, options);
    });

const RESTART_HELP = `${examples('shell-adapter restart', 'shell-adapter restart --url http://127.0.0.1:9000')}

Exit codes: 0 the daemon runs again, 1 it could not be stopped or started, 2 wrong usage.`;

/** `version`: prints the version of this program; `status` prints that of the daemon. */
export const versionSubcommand: Subcommand = (context) =>
  createCommand(context, 'version')
    .summary('print the version')
    .description('Prints the version of this program. `status` prints that of the daemon.')
    .addHelpText('after', examples('shell-adapter version'))
    .action(() => context.stdout.write(`${context.version}\n`));
