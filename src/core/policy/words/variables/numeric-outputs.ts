import type { ParsedScript, SyntaxNode } from 'unbash';

/** Programs that print one number and nothing else, by the text of their arguments. */
const NUMBER_PRINTERS: Readonly<Record<string, RegExp>> = {
  wc: /^(?:-[clmw]|--(?:bytes|lines|chars|words))$/,
  nproc: /^(?:--all)?$/,
  date: /^(?:-u )?["']?\+(?:%[sYmdHMSNjuwyV])+["']?$/,
  id: /^-[ugr]+$/,
  getconf: /^\w+$/,
  tput: /^(?:cols|lines|colors)$/,
  stat: /^(?:-L )?(?:-c|--format=?) ?["']?%[sYXZahiu]["']? /,
  git: /^rev-list --count \S+$/,
  grep: /^(?:-[a-zA-Z]*c[a-zA-Z]*|--count)(?: -\S+)* (?:"[^"]*"|'[^']*'|[^\s'"]+)(?: [^\s-]\S*)?$/,
  pgrep: /^(?:-\w+ )*-\w*c\w* \S+$/,
  seq: /^\d+(?: \d+){0,2}$/,
};

/** Programs whose first column is a number. */
const NUMBER_COLUMNS: Readonly<Record<string, RegExp>> = {
  wc: /^-[clmw]\b/,
  du: /^(?:-[skbma]+|--[a-z-]+)(?: |$)/,
  cksum: /./,
};

/** Filters that leave the first column. */
const FIRST_COLUMN: Readonly<Record<string, RegExp>> = {
  cut: /^(?:-d ?["']? ["']? )?-f ?1$/,
  awk: /^'\{ ?print \$1;? ?\}'$/,
};

/** A simple command. */
interface Call {
  readonly name: string;
  /** Text of its arguments. */
  readonly args: string;
}

/**
 * Whether a substitution certainly prints numbers.
 * @param isOwnName whether a program may be an alias or a function here
 */
export function printsNumbers(script: ParsedScript | undefined, isOwnName: (name: string) => boolean): boolean {
  const parts = pipelineOf(script);
  const last = callOf(parts.at(-1), isOwnName);
  if (!last) return false;
  if (isListed(NUMBER_PRINTERS, last)) return true;
  const before = callOf(parts.at(-2), isOwnName);
  return before !== undefined && isListed(FIRST_COLUMN, last) && isListed(NUMBER_COLUMNS, before);
}

const isListed = (table: Readonly<Record<string, RegExp>>, { name, args }: Call): boolean =>
  table[name]?.test(args) === true;

/** The commands of a script that is one pipeline; none for others. */
function pipelineOf(script: ParsedScript | undefined): readonly SyntaxNode[] {
  const [statement, ...others] = script?.commands ?? [];
  if (!statement || others.length > 0 || statement.background === true) return [];
  const { command } = statement;
  return command.type === 'Pipeline' ? command.commands : [command];
}

/** Name and arguments of a simple command without assignments; its redirections only choose what is read. */
function callOf(node: SyntaxNode | undefined, isOwnName: (name: string) => boolean): Call | undefined {
  if (node?.type !== 'Command') return undefined;
  const { name, prefix, suffix } = node;
  if (!name || name.parts || isOwnName(name.value)) return undefined;
  if (prefix.some(({ type }) => type === 'Assignment')) return undefined;
  const words = suffix.flatMap((part) => (part.type === 'Word' ? [part.text] : []));
  return { name: name.value, args: words.join(' ') };
}
