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
import { configurationOf } from '../connect/configuration.js';
import { commandLineFor, type Context } from '../console/context.js';
import { CommandLineError, UsageError } from '../console/failure.js';
import { formatSpan, table } from '../console/style.js';
import { type JsonOption, printAnswer } from '../console/subcommand.js';

/** Which tokens, and how the answer is printed. */
interface Tokens extends JsonOption {
  readonly config?: string;
}

interface NewToken {
  readonly role: Role;
  readonly name: string;
  readonly expires?: string;
  readonly runAs?: string;
}

/** @throws UsageError, CommandLineError, ConfigurationError */
export async function createToken(context: Context, options: Tokens & NewToken): Promise<void> {
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
  const issued = change(context, options, (files) => files.create({ name, role, lifeMs, runAs }));
  await printIssued(context, options, issued);
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

/** @throws ConfigurationError */
export async function listTokens(context: Context, options: Tokens): Promise<void> {
  const { tokens, problems } = filesOf(context, options).read();
  for (const problem of problems) await context.stderr.write(`shell-adapter: ${problem}\n`);
  await printAnswer(context, options, { tokens: tokens.map(publicFacts) }, () => renderTable(tokens, Date.now()));
}

/** @throws CommandLineError, ConfigurationError */
export async function revokeToken(context: Context, options: Tokens, name: string): Promise<void> {
  const token = change(context, options, (files) => files.revoke(name));
  await printAnswer(context, options, { revoked: publicFacts(token) }, () => `revoked ${token.name}`);
}

/** @throws CommandLineError, ConfigurationError */
export async function rotateToken(context: Context, options: Tokens, name: string): Promise<void> {
  const issued = change(context, options, (files) => files.rotate(name));
  await printIssued(context, options, issued);
}

function filesOf(context: Context, { config }: Tokens): TokenFiles {
  return new TokenFiles(configurationOf(context, config).adapter.stateDirectory);
}

function change<T>(context: Context, options: Tokens, work: (files: TokenFiles) => T): T {
  try {
    return work(filesOf(context, options));
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error;
    throw new CommandLineError(error.message, {
      hint: `\`${commandLineFor(context, { config: options.config })('token list')}\` lists the tokens.`,
      cause: error,
    });
  }
}

const printIssued = (context: Context, options: Tokens, { secret, token }: IssuedToken): Promise<void> =>
  printAnswer(context, options, { token: secret, ...publicFacts(token) }, () => secret);

const publicFacts = ({ id, name, role, run_as, created_at, expires_at }: Token) => ({
  id,
  name,
  role,
  ...(run_as !== undefined && { run_as }),
  created_at,
  expires_at,
});

function renderTable(tokens: readonly Token[], now: number): string[] {
  const hasUsers = tokens.some(({ run_as: user }) => user !== undefined);
  const rows = tokens.map((token) => {
    const { name, role, run_as: user = '', id, created_at: created, expires_at: end } = token;
    const left = end === null ? 'never' : `in ${formatSpan(Date.parse(end) - now)}`;
    const times = [formatSpan(now - Date.parse(created)), hasExpired(token, now) ? 'expired' : left];
    return [name, role, ...(hasUsers ? [user] : []), ...times, id];
  });
  const head = ['NAME', 'ROLE', ...(hasUsers ? ['USER'] : []), 'AGE', 'EXPIRES', 'ID'];
  return table(head, rows, 'There is no token.');
}
