import type { CommandAnalysis } from '../subject/command-analysis.js';
import { below, judgeMembers } from '../subject/copying.js';
import { readNamedFiles } from '../subject/listed-files.js';
import { hasOption, parseArguments, type ParsedArguments, valueOfOption } from '../subject/options.js';
import { each, valued } from '../subject/program-spec.js';
import { type Argument, literal, unknownArgument } from '../words/argument.js';

const OPTIONS = {
  ...each('-f --file', { value: 'text' } as const),
  ...each('-C --directory', { value: 'into' } as const),
  ...each('--transform --xform -s', { value: 'rename' } as const),
  '--one-top-level': {},
  ...each('--to-command --rsh-command --rmt-command --info-script --new-volume-script -F', { value: 'shell' } as const),
  ...each('-I --use-compress-program', { value: 'shell' } as const),
  ...each('-g --listed-incremental --index-file --volno-file', { value: 'write' } as const),
  '--checkpoint-action': { value: 'text' } as const,
  '--checkpoint': {},
  ...each('-P --absolute-names', {}),
  ...each('-x --extract --get -c --create -r --append -u --update -A --delete -t --list -d --diff', {}),
  '--remove-files': {},
  ...valued('-T -X -b -K -L -N -V --exclude --files-from --strip-components --owner --group --mode'),
};

/** `tar`: reads or writes an archive, and may run programs. */
export function judgeTar(subject: CommandAnalysis): void {
  const parsed = parseArguments(withDashes(subject.args), { options: OPTIONS });
  judgeRunOptions(subject, parsed);
  judgeLosses(subject, parsed);
  const archive = valueOfOption(parsed, '-f', '--file');
  if (archive && archive.value !== '-') judgeArchive(subject, archive, parsed);
  judgeFiles(subject, parsed);
  for (const argument of parsed.doubtful) subject.addUnknown(argument, 'an option of tar');
}

/** Options with which tar runs programs. */
function judgeRunOptions(subject: CommandAnalysis, { options }: ParsedArguments): void {
  for (const { name, spec, value } of options) {
    if (spec?.value === 'shell' && value) {
      subject.add('execute', `tar ${name} runs a program`);
      // The content of the archive is the command's input.
      subject.runText(value, `the command that tar ${name} runs`, { kind: 'unknown', what: 'tar' });
    }
    if (spec?.value === 'write' && value) subject.write(value);
    if (name === '--checkpoint-action') judgeAction(subject, value);
  }
}

/** Options with which tar overwrites or deletes files. */
function judgeLosses(subject: CommandAnalysis, parsed: ParsedArguments): void {
  const { operands } = parsed;
  if (hasOption(parsed, '-P', '--absolute-names'))
    subject.add('destructive', 'tar writes to any path that the archive names');
  if (!hasOption(parsed, '--remove-files')) return;
  if (operands.length === 0) subject.add('destructive', 'tar deletes the files that it packs');
  for (const file of operands) subject.remove(file, 'tar deletes', true);
}

/** The archive is a file, or a file of another machine. */
function judgeArchive(subject: CommandAnalysis, archive: Argument, parsed: ParsedArguments): void {
  if (hasOption(parsed, '-c', '--create', '-r', '--append', '-u', '--update', '-A', '--delete')) subject.write(archive);
  else subject.read(archive);
  if (/^[^/]*:/.test(archive.shape))
    subject.add(
      hasOption(parsed, '-c', '--create', '-r', '-u') ? 'exfiltration' : 'network',
      'tar uses another machine',
    );
}

/** A list with the names of files. */
function judgeList(subject: CommandAnalysis, list: Argument | undefined): void {
  if (list?.value === '-') readNamedFiles(subject);
  else if (list) subject.read(unknownArgument(list.text));
}

/** The files that tar extracts, or packs. */
function judgeFiles(subject: CommandAnalysis, parsed: ParsedArguments): void {
  judgeList(subject, valueOfOption(parsed, '-T', '--files-from'));
  if (!hasOption(parsed, '-x', '--extract', '--get')) {
    const isPacking = hasOption(parsed, '-c', '--create', '-r', '--append', '-u', '--update');
    const directory = valueOfOption(parsed, '-C', '--directory');
    for (const file of parsed.operands) {
      const place = directory && !file.shape.startsWith('/') ? below(directory, file) : file;
      if (isPacking) subject.readTree(place);
      else subject.read(file);
    }
    return;
  }
  judgeMembers(subject, parsed, parsed.operands);
  const top = valueOfOption(parsed, '--one-top-level');
  if (top) subject.write(top);
}

function judgeAction(subject: CommandAnalysis, value: Argument | undefined): void {
  if (value?.value === undefined)
    subject.add('obfuscated', 'tar --checkpoint-action runs a command that is known only at run time');
  else if (value.value.startsWith('exec=')) {
    subject.add('execute', 'tar --checkpoint-action runs a command');
    subject.inquiry.judgeText(value.value.slice('exec='.length), subject.scope);
  }
}

/** `tar xf file`: the first word may consist of options without a dash, whose values follow in the same order. */
function withDashes(args: readonly Argument[]): readonly Argument[] {
  const [first, ...rest] = args;
  if (first?.value === undefined || !/^[a-zA-Z]+$/.test(first.value)) return args;
  const words: Argument[] = [];
  const values = [...rest];
  for (const letter of first.value) {
    words.push(literal(`-${letter}`));
    const taken = 'fCFITXbgKLNV'.includes(letter) ? values.shift() : undefined;
    if (taken) words.push(taken);
  }
  return [...words, ...values];
}
