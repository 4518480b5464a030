import { readConfiguration, skipRuleTests } from '../../config/read/read.js';
import type { Role } from '../../core/principal.js';
import {
  hasExpired,
  isTokenName,
  isUserName,
  readLife,
  RUN_AS_ROLE,
  type Token,
  TOKEN_NAME_RULE,
} from '../../core/token.js';
import { AdapterError } from '../../core/errors.js';
import { findUser } from '../../engine/system/find-user.js';
import { type IssuedToken, TokenFiles } from '../../services/access/token-files.js';
import { findConfiguration } from '../connect/configuration-file.js';
import { commandLineFor, type Context } from '../console/context.js';
import { CommandLineError, UsageError } from '../console/failure.js';
import { alignColumns, formatSpan } from '../console/style.js';

/** Options of all token commands. */
export interface TokenOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Options of `token create`. */
export interface CreateTokenOptions extends TokenOptions {
  readonly role: Role;
  readonly name: string;
  readonly expires?: string;
  readonly runAs?: string;
}

/**
 * Creates a token and prints it.
 * @throws UsageError, CommandLineError, ConfigurationError
 */
export async function createToken(context: Context, options: CreateTokenOptions): Promise<void> {
  const { role, name, expires, runAs } = options;
  if (!isTokenName(name)) {
    throw new UsageError(`--name: ${JSON.stringify(name)} is no name of a token: ${TOKEN_NAME_RULE}`);
  }
  const lifeMs = expires === undefined ? undefined : readLife(expires);
  if (expires !== undefined && lifeMs === undefined) {
    const hint = 'A whole number and a unit (s, m, h, d, w), up to a hundred years: 90d, 12h, 30m.';
    throw new UsageError(`--expires: ${JSON.stringify(expires)} is no span of time`, { hint });
  }
  if (runAs !== undefined) await assertUser(runAs, role);
  await printIssued(
    context,
    options,
    change(context, options, () => filesOf(context, options).create({ name, role, lifeMs, runAs })),
  );
}

/** @throws UsageError for a user as which no token can run */
async function assertUser(name: string, role: Role): Promise<void> {
  const refuse = (why: string, hint?: string): never => {
    throw new UsageError(`--run-as: ${why}`, hint === undefined ? {} : { hint });
  };
  if (role !== RUN_AS_ROLE) {
    refuse(
      `the role ${role} reaches sessions of other users`,
      `A token with a user of its own has the role ${RUN_AS_ROLE}.`,
    );
  }
  const user = isUserName(name) ? await findUser(name) : undefined;
  if (!user) {
    refuse(
      `this machine has no user ${JSON.stringify(name)}`,
      'The name of a user is needed, not its number: `getent passwd` lists them.',
    );
  } else if (user.uid === 0) {
    refuse(`${name} is root`, 'A token of a daemon that root runs is root without --run-as.');
  }
}

/**
 * Prints the tokens.
 * @throws ConfigurationError
 */
export async function listTokens(context: Context, options: TokenOptions): Promise<void> {
  const { tokens, problems } = filesOf(context, options).read();
  for (const problem of problems) await context.stderr.write(`shell-adapter: ${problem}\n`);
  const text = options.json
    ? JSON.stringify({ tokens: tokens.map(publicFacts) }, null, 2)
    : renderTable(tokens, Date.now());
  await context.stdout.write(`${text}\n`);
}

/**
 * Revokes a token.
 * @throws CommandLineError, ConfigurationError
 */
export async function revokeToken(context: Context, name: string, options: TokenOptions): Promise<void> {
  const token = change(context, options, () => filesOf(context, options).revoke(name));
  const text = options.json ? JSON.stringify({ revoked: publicFacts(token) }, null, 2) : `revoked ${token.name}`;
  await context.stdout.write(`${text}\n`);
}

/**
 * Replaces the secret of a token.
 * @throws CommandLineError, ConfigurationError
 */
export async function rotateToken(context: Context, name: string, options: TokenOptions): Promise<void> {
  await printIssued(
    context,
    options,
    change(context, options, () => filesOf(context, options).rotate(name)),
  );
}

function filesOf(context: Context, { config }: TokenOptions): TokenFiles {
  const { adapter } = readConfiguration(findConfiguration(context, config), skipRuleTests);
  return new TokenFiles(adapter.stateDirectory);
}

function change<T>(context: Context, { config }: TokenOptions, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error;
    throw new CommandLineError(error.message, {
      hint: `\`${commandLineFor(context, config === undefined ? {} : { config })('token list')}\` lists the tokens.`,
      cause: error,
    });
  }
}

async function printIssued({ stdout }: Context, { json }: TokenOptions, issued: IssuedToken): Promise<void> {
  const { secret, token } = issued;
  await stdout.write(json ? `${JSON.stringify({ token: secret, ...publicFacts(token) }, null, 2)}\n` : `${secret}\n`);
}

const publicFacts = ({ id, name, role, run_as, created_at, expires_at }: Token) => ({
  id,
  name,
  role,
  ...(run_as !== undefined && { run_as }),
  created_at,
  expires_at,
});

function renderTable(tokens: readonly Token[], now: number): string {
  if (tokens.length === 0) return 'There is no token.';
  const hasUsers = tokens.some(({ run_as: user }) => user !== undefined);
  const rows = tokens.map((token) => {
    const { name, role, run_as: user = '', id, created_at: created, expires_at: end } = token;
    const left = end === null ? 'never' : `in ${formatSpan(Date.parse(end) - now)}`;
    const times = [formatSpan(now - Date.parse(created)), hasExpired(token, now) ? 'expired' : left];
    return [name, role, ...(hasUsers ? [user] : []), ...times, id];
  });
  return alignColumns([['NAME', 'ROLE', ...(hasUsers ? ['USER'] : []), 'AGE', 'EXPIRES', 'ID'], ...rows]).join('\n');
}
