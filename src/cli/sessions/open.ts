import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import { readVariable } from '../options/environment-option.js';
import { sandboxOption } from '../options/sandbox-option.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';
import { createCommand, examples, type Subcommand } from '../options/subcommand.js';
import { resolve } from 'node:path';
import { withDaemon } from '../connect/with-daemon.js';

interface OpenOptions extends DaemonOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly shell?: string;
  readonly sandbox?: SandboxProfile;
  readonly label?: string;
  readonly json?: boolean;
}

/** `open`: opens a session, for `exec --session`. */
export const openSubcommand: Subcommand = (context) =>
  withDaemonOptions(createCommand(context, 'open'))
    .summary('open a session and print its id')
    .description(
      'Opens a session and prints its id. It stays open until it is closed, or until it has been unused for as long as ' +
        'the configuration allows (reconnect_grace, session_idle_timeout, session_max_lifetime).',
    )
    .option('--cwd <directory>', 'where it starts; by default in the workspace of the daemon')
    .option(
      '--env <name=value>',
      'a variable for it; may be repeated; without a value, the one from here',
      readVariable(context),
    )
    .option('--shell <shell>', 'bash, zsh or sh, or the path of one')
    .addOption(sandboxOption())
    .option('--label <text>', 'a name for people')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'id=$(shell-adapter open)',
        'shell-adapter exec --session "$id" cd /tmp',
        'shell-adapter exec --session "$id" pwd',
      ),
    )
    .action(async ({ cwd, env, shell, sandbox, label, json, ...options }: OpenOptions) => {
      const directory = cwd === undefined ? undefined : resolve(context.cwd, cwd);
      const answer = await withDaemon(options, context, (client) =>
        client.request('open_session', { cwd: directory, env, shell, sandbox, label }),
      );
      await context.stdout.write(json ? `${JSON.stringify(answer, null, 2)}\n` : `${answer.session_id}\n`);
    });
