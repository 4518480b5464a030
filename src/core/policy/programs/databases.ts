import type { ProgramFamily } from '../program-catalog.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { subcommandsIn } from '../subject/options.js';
import type { ProgramCall, ProgramSpec } from '../subject/program-spec.js';
import type { Argument } from '../words/argument.js';

const ENTRIES = String.raw`
%client: read
  -c -e -Q -q -x --command --execute --eval -cmd --init-command = statement
  -L --log-file = write-or-pipe
  -f --file = read
  --pager = shell
  -h -p -P -U -d -u -D -S --host --port --user --username --dbname --database = text
  -header -noheader -column -csv -json -line -list -table -box -markdown -html -tabs -readonly -batch -bail -echo \
      -safe
  -separator -nullvalue -newline = text
  unknown words are operands
  rule input
dropdb dropuser mysqladmin <text>: destructive
  shows any status|ping|version|extended-status|processlist|variables | -[hPu] ?[\w.-]+ | \
      --(?:host|port|user)=[\w.-]+ of mysqladmin
  e.g. dropdb x: destructive; mysqladmin -h x status: read
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
  like %client
  -o --output = write-or-pipe
  typed code unless /^(?:-[AtqXxanES1zwW0]*[cflV]|--(?:command|file|list).*)/
  is runnable
  e.g. psql -c 'select 1': execute; psql: interactive
mysql mariadb mongosh mongo clickhouse-client cqlsh usql mycli pgcli litecli sqlcmd <text>: execute
  like %client
  typed code unless /^(?:-[BNsrtvHXE]*[eV]|--execute.*)/ of mysql mariadb
  typed code unless /^--eval|^-f$|\.m?js$/ of mongosh mongo
  typed code unless /^(?:-[eqf]|--(?:query|execute|file).*)/ of clickhouse-client cqlsh
  is runnable of mysql
  e.g. mysql: interactive; mongosh: interactive; clickhouse-client: interactive; usql x: execute
sqlite3 duckdb <read statement>: execute
  like %client
  -init = code
  -vfs -maxsize -mmap -lookaside = text
  typed code upto 1
  is runnable of sqlite3
  e.g. sqlite3 x: interactive
redis-cli <text>: execute
  --eval --functions-rdb = code
  --rdb = write
  -x -c -e -2 -3 --tls --raw --no-raw --quoted-input --csv --json --no-auth-warning --askpass --insecure
  -h -p -t -s -a -u -r -i -n -d -D -X --user --pass --sni --cacert --cacertdir --cert --key --tls-ciphers \
      --show-pushes --pattern --count --lru-test --intrinsic-latency --memkeys-samples --verbose --cluster = text
  stops
  unknown words are operands
  rule redis
  typed code upto 0 unless /^-v$|^--(?:scan|stat|bigkeys|memkeys|latency|rdb|pipe|eval|cluster|lru)/
  is runnable
  e.g. redis-cli: interactive
sqlplus:
  typed code always
  e.g. sqlplus: interactive
`;

/** One statement, or client command, that only reads. */
const READ_ONLY_STATEMENT =
  /^\s*(?:(?:select|explain|show|describe|desc|values)\b[^;]*;?\s*|\\(?:d\S*|l|z)\b[^|;`\\]*|\.(?:tables|schema|databases|indexes|headers|mode|dbinfo)\b[^\n;]*)$/i;

/** Effects that even a query can have. */
const SIDE_EFFECTS =
  /\b(?:into\s+(?:out|dump)file|load_file|pg_\w+|lo_\w+|dblink|copy|program|load_extension|writefile|readfile|edit|sleep)\b/i;

const READ_ONLY_REDIS = /^(?:get|keys|ttl|info|ping|scan|type|exists|[^a-z].*)$/i;

const isReadOnly = (statement: string): boolean => READ_ONLY_STATEMENT.test(statement) && !SIDE_EFFECTS.test(statement);

/** Statements may change data, or run programs on this machine. */
function judgeStatement(subject: CommandAnalysis, { value, text }: Argument): void {
  if (value === undefined || !isReadOnly(value)) subject.does('runs statements that cannot be judged', text);
}

function judgeInput(subject: CommandAnalysis): void {
  const { stdin } = subject.command;
  const isHarmless = !stdin || stdin.kind === 'file' || (stdin.kind === 'text' && isReadOnly(stdin.text));
  if (!isHarmless) subject.does('runs statements that cannot be judged');
}

/** redis-cli: the first word is the command. */
function judgeRedis(subject: CommandAnalysis, { args }: ProgramCall, { options = {} }: ProgramSpec): void {
  for (const { name } of subcommandsIn(args, options)) {
    if (!READ_ONLY_REDIS.test(name.value ?? '')) subject.does('runs statements that cannot be judged', name.text);
  }
  judgeInput(subject);
}

export const DATABASES: ProgramFamily = {
  name: 'databases',
  entries: ENTRIES,
  rules: {
    judges: { input: judgeInput, redis: judgeRedis },
    roles: { statement: { takenFor: 'statements for a database', judge: judgeStatement } },
  },
  variables: [{ names: /^PSQLRC$/, class: 'obfuscated', what: 'makes an interpreter run other code' }],
  startupPaths: '.psqlrc',
};
