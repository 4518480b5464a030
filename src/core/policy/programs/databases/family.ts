import type { ProgramFamily } from '../../family/program-family.js';
import { anyOf } from '../../family/showing-patterns.js';
import { typedCode, unless, upTo } from '../../family/typing-rules.js';
import { each, valued } from '../../subject/program-spec.js';
import { EXAMPLES } from './examples.js';
import { judgeDatabase } from './judge.js';

/** Clients with the options of psql, mysql or sqlite3. */
const OTHER_CLIENTS = 'duckdb usql mycli pgcli litecli cqlsh sqlcmd';

/** Clients of databases. */
export const DATABASES: ProgramFamily = {
  name: 'databases',
  programs: {
    ...each('dropdb dropuser mysqladmin', { class: 'destructive', operands: 'text' }),
    ...each('pg_dump pg_dumpall mongodump mysqldump', {
      class: 'execute',
      operands: 'text',
      options: {
        ...each('-f --file -o --out -r --result-file', { value: 'write' }),
        ...valued('-h -p -U -d -u -n -t -F'),
      },
    }),
    ...each('pg_restore mongorestore', {
      class: 'execute',
      options: {
        ...each('-c --clean --drop', { class: 'destructive', reason: 'drops what is there' }),
        ...each('-f --file', { value: 'write' }),
        ...valued('-h -p -U -d -n -t -j --host --port --db --uri --dbname'),
      },
    }),
    ...each(`psql mysql mariadb sqlite3 mongosh mongo redis-cli clickhouse-client ${OTHER_CLIENTS}`, {
      class: 'execute',
      operands: 'text',
      judge: judgeDatabase,
    }),
  },
  showing: {
    mysqladmin: anyOf(
      'status|ping|version|extended-status|processlist|variables',
      String.raw`-[hPu] ?[\w.-]+`,
      String.raw`--(?:host|port|user)=[\w.-]+`,
    ),
  },
  typing: {
    sqlplus: typedCode(unless()),
    psql: typedCode(unless(/^(?:-[AtqXxanES1zwW0]*[cflV]|--(?:command|file|list).*)/)),
    ...each('mysql mariadb', typedCode(unless(/^(?:-[BNsrtvHXE]*[eV]|--execute.*)/))),
    ...each(
      'sqlite3 duckdb',
      typedCode(upTo(1, '-separator -nullvalue -newline -init -cmd -vfs -maxsize -mmap -lookaside')),
    ),
    ...each('mongosh mongo', typedCode(unless(/^--eval|^-f$|\.m?js$/))),
    ...each('clickhouse-client cqlsh', typedCode(unless(/^(?:-[eqf]|--(?:query|execute|file).*)/))),
    'redis-cli': typedCode(
      upTo(
        0,
        '-h -p -a -n -u -s -r -i -d -D -t --user --pass --cacert --cert --key',
        /^-v$|^--(?:scan|stat|bigkeys|memkeys|latency|rdb|pipe|eval|cluster|lru)/,
      ),
    ),
  },
  traits: { runnable: 'psql mysql sqlite3 redis-cli' },
  variables: [{ names: /^PSQLRC$/, class: 'obfuscated', what: 'makes an interpreter run other code' }],
  startupPaths: ['.psqlrc'],
  examples: EXAMPLES,
};
