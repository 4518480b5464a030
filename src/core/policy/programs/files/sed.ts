import { type Argument, literal } from '../../words/argument.js';
import { POLICY_LIMITS } from '../../model/limits.js';
import { parseArguments } from '../../subject/options.js';
import { each, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

const OPTIONS = {
  ...each('-e --expression', { value: 'text' } as const),
  ...each('-f --file', { value: 'read' } as const),
  ...each('-n -r -E -s -u -z --quiet --silent --regexp-extended --posix --null-data --debug --sandbox', {}),
  ...valued('-l --line-length'),
  ...each('-i --in-place', {}),
  '-I': {},
};

/** `sed`: its scripts may write files and run commands. Source: GNU sed manual, "Commands" (e, w, W, s///ew). */
export function judgeSed(subject: CommandAnalysis): void {
  const { options, operands, doubtful } = parseArguments(subject.args, { options: OPTIONS });
  const isSafe = options.some(({ name }) => name === '--sandbox');
  const inPlace = options.some(({ name }) => /^-(?:i|I|-in-place)/.test(name));
  if (subject.args.some(({ shape }) => /^(?:-[nrEsuz]*i|--in-place=).*\//.test(shape)))
    subject.add('obfuscated', 'sed writes backup files to another directory');
  const given = options.filter(({ name }) => name === '-e' || name === '--expression').map(({ value }) => value);
  const fromFile = options.find(({ name }) => name === '-f' || name === '--file');
  const isGiven = given.length > 0 || fromFile !== undefined;
  for (const script of isGiven ? given : operands.slice(0, 1)) if (script && !isSafe) judgeScript(subject, script);
  if (fromFile)
    subject.add('obfuscated', `sed runs a script from a file, which is not read: ${fromFile.value?.text ?? ''}`);
  const files = isGiven ? operands : operands.slice(1);
  for (const file of files) {
    if (inPlace) subject.write(file);
    else subject.read(file);
  }
  for (const argument of doubtful) if (argument.maySplit) subject.addUnknown(argument, 'an option of sed');
}

function judgeScript(subject: CommandAnalysis, script: Argument): void {
  // Text that is substituted into a script is mostly data; at its beginning it could be a command.
  const text = script.value ?? script.shape.replaceAll('\0', 'x');
  if (script.value === undefined && /^\0|[;{}\n]\s*\0|\0\s*$/.test(script.shape)) {
    subject.addUnknown(script, 'the script that sed runs');
  }
  for (const command of text.length > POLICY_LIMITS.maxScriptLength ? [undefined] : commandsOf(text)) {
    if (command === undefined) subject.add('obfuscated', 'sed runs a script that cannot be judged');
    else if (command.startsWith('e')) subject.add('obfuscated', 'sed runs commands');
    else if (command.startsWith('r')) subject.read(literal(command.slice(1).trim()));
    else if (command.startsWith('w')) {
      const file = command.slice(1).trim();
      subject.write({ ...script, value: file === '' ? undefined : file, shape: file, isGlob: false });
    }
  }
}

const ADDRESS = /^(?:\s|;|\d+|\$|[,~+!]|[{}])+/;

/**
 * The commands of a script that do more than edit text: `e…`, `w…`, `r…`, or undefined for a part that was not
 * understood.
 */
function commandsOf(script: string): readonly (string | undefined)[] {
  const found: (string | undefined)[] = [];
  let rest = script;
  while (rest !== '') {
    rest = rest.replace(ADDRESS, '');
    const [name = ''] = rest;
    if (name === '') break;
    if (name === '/' || name === '\\') {
      const delimiter = name === '/' ? '/' : (rest[1] ?? '');
      const after = textAfter(rest.slice(name === '/' ? 1 : 2), delimiter, true);
      if (after === undefined) return [...found, undefined];
      rest = after.replace(/^[IM]+/, '');
    } else if (name === 's' || name === 'y') {
      const [, delimiter = ''] = rest;
      const replacement = textAfter(rest.slice(2), delimiter, name === 's');
      const flags = replacement === undefined ? undefined : textAfter(replacement, delimiter, false);
      if (flags === undefined) return [...found, undefined];
      const [letters = ''] = /^[gpiImMe\d]*/.exec(flags) ?? [];
      if (letters.includes('e')) found.push('e');
      rest = flags.slice(letters.length);
      if (rest.startsWith('w')) return [...found, ...splitLine(rest)];
    } else if (name === '#' || 'aicrRbtT:lLqQvw'.includes(name) || name === 'W' || name === 'e') {
      const [line = ''] = rest.split('\n', 1);
      if (name === 'w' || name === 'W') found.push(`w${line.slice(1)}`);
      if (name === 'e' || name === 'r') found.push(line);
      if (name === 'R') found.push(`r${line.slice(1)}`);
      const endsAtSemicolon = 'btTlLqQv:'.includes(name);
      rest = rest.slice(endsAtSemicolon ? (/^[^;}\n]*/.exec(rest)?.[0].length ?? 1) : line.length);
    } else if ('=dDgGhHnNpPxzF'.includes(name)) rest = rest.slice(1);
    else return [...found, undefined];
  }
  return found;
}

const splitLine = (rest: string): readonly (string | undefined)[] => {
  const [line = '', ...more] = rest.split('\n');
  return [line, ...(more.length > 0 ? commandsOf(more.join('\n')) : [])];
};

/**
 * The text after the next delimiter that is neither escaped nor in the brackets of a pattern; undefined when it is
 * missing.
 */
function textAfter(text: string, delimiter: string, isPattern: boolean): string | undefined {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === delimiter) return text.slice(at + 1);
    else if (isPattern && text[at] === '[') at += (BRACKETS.exec(text.slice(at))?.[0].length ?? 1) - 1;
  }
  return undefined;
}

const BRACKETS = /^\[\^?\]?(?:\[:\w+:\]|[^\]])*\]/;
