import type { ProgramFamily } from '../program-catalog.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { judgeOption, parseArguments, type ParsedArguments, tailOf } from '../subject/options.js';
import { each, flags, parseBeforeOperand, subcommandsIn, valued, type ValueRole } from '../subject/program-spec.js';
import type { Argument } from '../words/argument.js';

const ENTRIES = String.raw`
dropdb dropuser <text>: destructive
  e.g. dropdb x: destructive
mysqladmin <text>: destructive
  shows any status|ping|version|extended-status|processlist|variables | -[hPu] ?[\w.-]+ | \
      --(?:host|port|user)=[\w.-]+
  e.g. mysqladmin -h x status: read
pg_dump pg_dumpall mongodump mysqldump <text>: execute
  -f --file -o --out -r --result-file = write
  -h -p -U -d -u -n -t -F = text
  e.g. pg_dump -f x.sql db: execute
pg_restore mongorestore: execute
  -c --clean --drop ! destructive drops what is there
  -f --file = write
  -h -p -U -d -n -t -j --host --port --db --uri --dbname = text
  e.g. pg_restore -d db x: execute
psql <text>: execute
  rule database
  typed code unless /^(?:-[AtqXxanES1zwW0]*[cflV]|--(?:command|file|list).*)/
  is runnable
  e.g. psql -c 'select 1': execute; psql: interactive
mysql mariadb <text>: execute
  rule database
  typed code unless /^(?:-[BNsrtvHXE]*[eV]|--execute.*)/
  is runnable of mysql
  e.g. mysql: interactive
sqlite3 duckdb <text>: execute
  rule database
  typed code upto 1 valued -separator -nullvalue -newline -init -cmd -vfs -maxsize -mmap -lookaside
  is runnable of sqlite3
  e.g. sqlite3 x: interactive
mongosh mongo <text>: execute
  rule database
  typed code unless /^--eval|^-f$|\.m?js$/
  e.g. mongosh: interactive
redis-cli <text>: execute
  rule database
  typed code upto 0 unless /^-v$|^--(?:scan|stat|bigkeys|memkeys|latency|rdb|pipe|eval|cluster|lru)/ valued -h -p \
      -a -n -u -s -r -i -d -D -t --user --pass --cacert --cert --key
  is runnable
  e.g. redis-cli: interactive
clickhouse-client cqlsh <text>: execute
  rule database
  typed code unless /^(?:-[eqf]|--(?:query|execute|file).*)/
  e.g. clickhouse-client: interactive
usql mycli pgcli litecli sqlcmd <text>: execute
  rule database
  e.g. usql x: execute
sqlplus:
  typed code always
  e.g. sqlplus: interactive
`;

const STATEMENTS = { value: 'text' } as const;
const FLAGS =
  '-header -noheader -column -csv -json -line -list -table -box -markdown -html -tabs -readonly -batch -bail -echo -safe';
const OPTIONS = {
  ...each(FLAGS, {}),
  ...valued('-separator -nullvalue -newline'),
  ...each('-c -e -Q -q --command --execute --eval -cmd -x', STATEMENTS),
  ...each('-L --log-file', { value: 'write' } as const),
  ...each('-f --file', { value: 'read' } as const),
  ...each('--pager', { value: 'shell' } as const),
  ...each('--init-command', { value: 'code' } as const),
  ...valued('-h -p -P -U -d -u -D -o -S --host --port --user --username --dbname --database --output'),
};

/** One statement, or client command, that only reads. */
const READ_ONLY_STATEMENT =
  /^\s*(?:(?:select|explain|show|describe|desc|values)\b[^;]*;?\s*|\\(?:d\S*|l|z)\b[^|;`\\]*|\.(?:tables|schema|databases|indexes|headers|mode|dbinfo)\b[^\n;]*)$/i;

/** Effects that even a query can have. */
const SIDE_EFFECTS =
  /\b(?:into\s+(?:out|dump)file|load_file|pg_\w+|lo_\w+|dblink|copy|program|load_extension|writefile|readfile|edit|sleep)\b/i;

/** Commands of redis-cli that only read. */
const READ_ONLY_REDIS = /^(?:get|keys|ttl|info|ping|scan|type|exists|[^a-z].*)$/i;

const isReadOnly = (statement: string): boolean => READ_ONLY_STATEMENT.test(statement) && !SIDE_EFFECTS.test(statement);

/** Clients of databases: their statements may change data, or run programs on this machine. */
function judgeDatabase(subject: CommandAnalysis): void {
  if (subject.program === 'redis-cli') {
    judgeRedis(subject);
    return;
  }
  const { options, operands } = parseArguments(subject.args, { options: OPTIONS });
  const given = options.flatMap(({ spec, name, value }) =>
    value && (spec === STATEMENTS || name === '-cmd') ? [value] : [],
  );
  judgeFiles(subject, options, operands);
  // The first operand of sqlite3 is the file.
  judgeStatements(subject, isEmbedded(subject) ? [...given, ...operands.slice(1)] : given);
  judgeInput(subject);
}

/** Whether the database is a file. */
const isEmbedded = ({ program }: CommandAnalysis): boolean => program === 'sqlite3' || program === 'duckdb';

/** Files that a client writes, and the database of sqlite3. */
function judgeFiles(
  subject: CommandAnalysis,
  options: ParsedArguments['options'],
  operands: ParsedArguments['operands'],
): void {
  if (isEmbedded(subject) && operands[0]) subject.read(operands[0]);
  for (const { name, spec, value } of options) {
    const isOutput = subject.program === 'psql' && /^(?:-o|--output)$/.test(name);
    if (value) judgeValue(subject, isOutput ? 'write' : spec?.value, value);
  }
}

/** The value of an option: a file, a command, or statements. */
function judgeValue(subject: CommandAnalysis, role: ValueRole | undefined, value: Argument): void {
  const label = `the command that ${subject.program ?? 'it'} runs`;
  if (role === 'read') subject.read(value);
  else if (role === 'shell') subject.runText(value, label);
  else if (role === 'code') judgeStatements(subject, [value]);
  else if (role === 'write' && value.shape.startsWith('|')) subject.runText(tailOf(value, 1), label);
  else if (role === 'write') subject.write(value);
}

function judgeStatements(subject: CommandAnalysis, statements: readonly Argument[]): void {
  for (const { value, text } of statements) {
    if (value === undefined || !isReadOnly(value))
      subject.add('obfuscated', `${subject.program ?? 'it'} runs statements that cannot be judged: ${text}`);
  }
}

/** The statements on standard input. */
function judgeInput(subject: CommandAnalysis): void {
  const { stdin } = subject.command;
  const isHarmless = !stdin || stdin.kind === 'file' || (stdin.kind === 'text' && isReadOnly(stdin.text));
  if (!isHarmless) subject.add('obfuscated', `${subject.program ?? 'it'} runs statements that cannot be judged`);
}

/** Options of redis-cli. */
const REDIS_OPTIONS = {
  ...each('--eval --functions-rdb', { value: 'code' } as const),
  '--rdb': { value: 'write' } as const,
  ...flags('-x -c -e -2 -3 --tls --raw --no-raw --quoted-input --csv --json --no-auth-warning --askpass --insecure'),
  ...valued('-h -p -t -s -a -u -r -i -n -d -D -X --user --pass --sni --cacert --cacertdir --cert --key --tls-ciphers'),
  ...valued('--show-pushes --pattern --count --lru-test --intrinsic-latency --memkeys-samples --verbose --cluster'),
};

/** redis-cli: the first word is the command. */
function judgeRedis(subject: CommandAnalysis): void {
  const { options } = parseBeforeOperand(subject.args, REDIS_OPTIONS);
  for (const { name, spec, value } of options) if (spec) judgeOption(subject, spec, `redis-cli ${name}`, value);
  for (const { name } of subcommandsIn(subject.args, REDIS_OPTIONS)) {
    if (!READ_ONLY_REDIS.test(name.value ?? ''))
      subject.add('obfuscated', `redis-cli runs statements that cannot be judged: ${name.text}`);
  }
  judgeInput(subject);
}

/** Clients of databases. */
export const DATABASES: ProgramFamily = {
  name: 'databases',
  entries: ENTRIES,
  rules: { judges: { database: judgeDatabase } },
  variables: [{ names: /^PSQLRC$/, class: 'obfuscated', what: 'makes an interpreter run other code' }],
  startupPaths: '.psqlrc',
};
