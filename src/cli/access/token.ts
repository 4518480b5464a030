import { type Command, Option } from 'commander';

import { ROLE_NAMES, ROLES } from '../../core/principal.js';
import type { Context } from '../console/context.js';
import { createCommand, createGroup, examples, type Subcommand } from '../console/subcommand.js';
import type { CreateTokenOptions, TokenOptions } from './manage-tokens.js';

/**
 * `token`: creates, lists, rotates and revokes the tokens of a daemon. Works without a daemon; a running one applies
 * the change.
 */
export const tokenSubcommand: Subcommand = (context) =>
  createGroup(context, 'token')
    .summary('create, list, revoke and rotate tokens')
    .description(
      'Creates, lists, revokes and rotates the tokens of a daemon, which are files in its state_directory. A running daemon ' +
        'applies a change at once: the connections of a revoked or rotated token end.',
    )
    .addCommand(createTokenCommand(context))
    .addCommand(listCommand(context))
    .addCommand(revokeCommand(context))
    .addCommand(rotateCommand(context));

/** Adds the options that all token commands share. */
const withTokenOptions = (command: Command): Command =>
  command.option('-c, --config <file>', 'the configuration file of the daemon').option('--json', 'print JSON');

const createTokenCommand = (context: Context): Command =>
  withTokenOptions(createCommand(context, 'token create'))
    .summary('create a token and print it')
    .description('Creates a token and prints it. Only its hash is kept: it cannot be shown again.')
    .addOption(new Option('--role <role>', 'what it may do').choices(ROLE_NAMES).makeOptionMandatory())
    .requiredOption('--name <name>', 'a name for people, by which it is revoked')
    .option('--run-as <user>', 'run what it starts as this user of the machine; the daemon has to be root')
    .option('--expires <span>', 'how long it lives: 90d, 12h, 30m, 4w; by default until it is revoked')
    .addHelpText('after', CREATE_HELP)
    .action(async (options: CreateTokenOptions) => {
      const { createToken } = await import('./manage-tokens.js');
      await createToken(context, options);
    });

const listCommand = (context: Context): Command =>
  withTokenOptions(createCommand(context, 'token list'))
    .summary('list the tokens')
    .description('Lists the tokens: names, roles and times, nothing that opens anything.')
    .addHelpText(
      'after',
      examples('shell-adapter token list', "shell-adapter token list --json | jq -r '.tokens[].name'"),
    )
    .action(async (options: TokenOptions) => {
      const { listTokens } = await import('./manage-tokens.js');
      await listTokens(context, options);
    });

const revokeCommand = (context: Context): Command =>
  withTokenOptions(createCommand(context, 'token revoke'))
    .summary('revoke a token')
    .description('Revokes a token. Its connections end at once, its sessions after reconnect_grace.')
    .argument('<name>', 'the name of the token, or its id')
    .addHelpText('after', examples('shell-adapter token revoke laptop'))
    .action(async (name: string, options: TokenOptions) => {
      const { revokeToken } = await import('./manage-tokens.js');
      await revokeToken(context, name, options);
    });

const rotateCommand = (context: Context): Command =>
  withTokenOptions(createCommand(context, 'token rotate'))
    .summary('give a token a new secret and print it')
    .description('Gives a token a new secret and prints it. The old secret ends; sessions, role and expiry stay.')
    .argument('<name>', 'the name of the token, or its id')
    .addHelpText('after', examples('shell-adapter token rotate laptop'))
    .action(async (name: string, options: TokenOptions) => {
      const { rotateToken } = await import('./manage-tokens.js');
      await rotateToken(context, name, options);
    });

const CREATE_HELP = `
Roles:
${Object.entries(ROLES)
  .map(([role, meaning]) => `  ${role.padEnd(10)}${meaning}`)
  .join('\n')}
${examples(
  'shell-adapter token create --role agent --name ci --expires 90d',
  'shell-adapter token create --role agent --name alice --run-as alice',
  'export SHELL_ADAPTER_TOKEN=$(shell-adapter token create --role viewer --name dashboard)',
)}`;
