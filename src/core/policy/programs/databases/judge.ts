import { parseArguments } from '../../subject/options.js';
import { each, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

const STATEMENTS = { value: 'text' } as const;
const FLAGS =
  '-header -noheader -column -csv -json -line -list -table -box -markdown -html -tabs -readonly -batch -bail -echo -safe';
const OPTIONS = {
  ...each(FLAGS, {}),
  ...valued('-separator -nullvalue -newline'),
  ...each('-c -e --command --execute --eval -cmd -x', STATEMENTS),
  ...valued('-h -p -P -U -d -u -D -f -o -S --host --port --user --username --dbname --database --file --output'),
};

/** One statement, or client command, that only reads. */
const READ_ONLY_STATEMENT =
  /^\s*(?:(?:select|explain|show|describe|desc|values)\b[^;]*;?\s*|\\(?:d\S*|l|z)\b[^|;`\\]*|\.(?:tables|schema|databases|indexes|headers|mode|dbinfo)\b[^\n;]*)$/i;

/** Effects that even a query can have. */
const SIDE_EFFECTS =
  /\b(?:into\s+(?:out|dump)file|load_file|pg_\w+|lo_\w+|dblink|copy|program|load_extension|writefile|readfile|edit|sleep)\b/i;

/** Clients of databases: their statements may change data, or run programs on this machine. */
export function judgeDatabase(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  const { options, operands } = parseArguments(subject.args, { options: OPTIONS });
  const given = options.filter(({ spec, name }) => spec === STATEMENTS || name === '-cmd').map(({ value }) => value);
  const isFirstName = label !== 'redis-cli';
  const statements = [...given, ...(label === 'sqlite3' || !isFirstName ? operands.slice(isFirstName ? 1 : 0) : [])];
  for (const statement of statements) {
    if (!statement) continue;
    const { value } = statement;
    const isReadOnly = value !== undefined && READ_ONLY_STATEMENT.test(value) && !SIDE_EFFECTS.test(value);
    const isSafe =
      label === 'redis-cli' ? /^(?:get|keys|ttl|info|ping|scan|type|exists|[^a-z].*)$/i.test(value ?? '') : isReadOnly;
    if (!isSafe) subject.add('obfuscated', `${label} runs statements that cannot be judged: ${statement.text}`);
    if (!isFirstName) break;
  }
  const { stdin } = subject.command;
  if (
    stdin &&
    stdin.kind !== 'file' &&
    !(stdin.kind === 'text' && READ_ONLY_STATEMENT.test(stdin.text) && !SIDE_EFFECTS.test(stdin.text))
  ) {
    subject.add('obfuscated', `${label} runs statements that cannot be judged`);
  }
}
