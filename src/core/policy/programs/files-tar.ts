import type { CommandAnalysis } from '../subject/command-analysis.js';
import { readNamedFiles } from '../subject/listed-files.js';
import { hasOption, valueOfOption } from '../subject/options.js';
import type { ParsedArguments, ProgramCall } from '../subject/program-spec.js';
import { below, judgeMembers } from '../subject/roles.js';
import { type Argument, unknownArgument } from '../words/argument.js';

/** `tar`: reads or writes an archive, whose files are extracted or packed. */
export function judgeTar(subject: CommandAnalysis, call: ProgramCall): void {
  if (hasOption(call, '--remove-files')) judgeRemoval(subject, call);
  const archive = valueOfOption(call, '-f', '--file');
  if (archive && archive.value !== '-') judgeArchive(subject, archive, call);
  if (hasOption(call, '-x', '--extract', '--get')) {
    judgeMembers(subject, call, call.operands);
    const top = valueOfOption(call, '--one-top-level');
    if (top) subject.write(top);
  } else judgePacked(subject, call);
}

function judgeRemoval(subject: CommandAnalysis, { operands }: ParsedArguments): void {
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

function judgePacked(subject: CommandAnalysis, call: ParsedArguments): void {
  const isPacking = hasOption(call, '-c', '--create', '-r', '--append', '-u', '--update');
  const directory = valueOfOption(call, '-C', '--directory');
  for (const file of call.operands) {
    const place = directory && !file.shape.startsWith('/') ? below(directory, file) : file;
    if (isPacking) subject.readTree(place);
    else subject.read(file);
  }
}

export function judgeNames(subject: CommandAnalysis, list: Argument): void {
  if (list.value === '-') readNamedFiles(subject);
  else subject.read(unknownArgument(list.text));
}

/** A command that gets the content of the archive as its input. */
export function judgeFilter(subject: CommandAnalysis, command: Argument, label: string): void {
  subject.runText(command, `the command that ${label} runs`, { kind: 'unknown', what: 'tar' });
}

export function judgeAction(subject: CommandAnalysis, { value }: Argument): void {
  if (value === undefined)
    subject.add('obfuscated', 'tar --checkpoint-action runs a command that is known only at run time');
  else if (value.startsWith('exec=')) {
    subject.add('execute', 'tar --checkpoint-action runs a command');
    subject.inquiry.judgeText(value.slice('exec='.length), subject.scope);
  }
}
