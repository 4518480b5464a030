import { resolve } from 'node:path';

import type { Command } from 'commander';

import type { Answer } from '../../core/protocol/requests.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import { createCommand, examples, readVariable, sandboxOption, type Subcommand } from '../console/subcommand.js';
import { type DaemonOptions, withDaemonOptions } from '../connect/daemon-address.js';

import type { Context } from '../console/context.js';
import { withDaemon } from '../connect/with-daemon.js';

interface OpenOptions extends DaemonOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly shell?: string;
  readonly sandbox?: SandboxProfile;
  readonly label?: string;
  readonly login?: boolean;
  readonly rcfile?: string;
  readonly environment?: string;
  readonly json?: boolean;
}

/** `open`: opens a session, for `exec --session`. */
export const openSubcommand: Subcommand = (context) =>
  withStartup(withDaemonOptions(createCommand(context, 'open')))
    .summary('open a session and print its id')
    .description(
      'Opens a session and prints its id. It stays open until it is closed, or until it has been unused for ' +
        'session_idle_timeout, or open for session_max_lifetime of the configuration. `sessions` shows when that is.',
    )
    .option('--cwd <directory>', 'where it starts; by default in the workspace of the daemon')
    .option(
      '--env <name=value>',
      'a variable for it; may be repeated; without a value, the one from here',
      readVariable(context),
    )
    .option('--shell <shell>', 'bash, zsh, sh, fish, or pwsh (untested), or the path of one')
    .addOption(sandboxOption())
    .option('--label <text>', 'a name for people')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples(
        'id=$(shell-adapter open)',
        'shell-adapter exec --session "$id" cd /tmp',
        'shell-adapter exec --session "$id" pwd',
        'shell-adapter open --environment node20',
      ),
    )
    .action(async (options: OpenOptions) => {
      const answer = await open(options, context);
      await context.stdout.write(options.json ? `${JSON.stringify(answer, null, 2)}\n` : `${answer.session_id}\n`);
    });

const withStartup = (command: Command): Command =>
  command
    .option('--login', 'read the startup files of a login shell first')
    .option('--rcfile <file>', 'read this file first, such as ~/.bashrc')
    .option('--environment <name>', 'run the init of this environment of the configuration first');

/** Opens the session; a startup that has failed is told on stderr. */
async function open(
  { cwd, rcfile, env, shell, sandbox, label, login, environment, ...options }: OpenOptions,
  context: Context,
): Promise<Answer<'open_session'>> {
  const path = (given: string | undefined) => (given === undefined ? undefined : resolve(context.cwd, given));
  const session = {
    keep_while: 'used' as const,
    cwd: path(cwd),
    rcfile: path(rcfile),
    env,
    shell,
    sandbox,
    label,
    login,
    environment,
  };
  const answer = await withDaemon(options, context, (client) => client.request('open_session', session));
  const { startup } = answer;
  if (startup && startup.exit_code !== 0) {
    const how = `its startup ended with ${startup.exit_code ?? startup.status}`;
    await context.stderr.write(`shell-adapter: ${how}\n${startup.stderr}`);
  }
  return answer;
}
