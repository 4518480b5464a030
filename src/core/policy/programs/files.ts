import type { Directory } from '../model.js';
import { type AnalysisFacts, isCritical, isRawDevice, kindOf, mayBeCritical } from '../path-kinds.js';
import { resolvePath } from '../paths.js';
import type { ProgramFamily } from '../program-catalog.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { below, type Copies, copiesOf, isOwn, judgeInto, judgeMembers } from '../subject/roles.js';
import { isInputName, isTextEditing } from '../subject/inline-source.js';
import { readNamedFiles, wordsOf } from '../subject/listed-files.js';
import { hasOption, parseArguments, tailOf, valueOfOption } from '../subject/options.js';
import { type ParsedArguments, type ProgramCall, valued } from '../subject/program-spec.js';
import { type Argument, unknownArgument } from '../words/argument.js';
import { isStandardProgram } from '../words/program-knowledge.js';
import { TEMPORARY } from '../words/variables.js';
import { foundBelow, judgeFd, judgeFind } from './files-find.js';
import { judgeScript, judgeScriptFile } from './files-sed.js';

const ENTRIES = String.raw`
mkdir mkfifo <write>: write
  -m --mode = text
  e.g. mkdir -p a/b/c: write; mkfifo x: write
touch <write>: write
  -d -t -r --date --reference --time = text
  is unread
  e.g. touch x: write
tee sponge <write>: write
  rule tee
  is runnable of tee
  e.g. tee x: write
dos2unix unix2dos setfacl chattr setfattr chcon link ranlib rmdir <write>: write
  is runnable unread of rmdir
  e.g. dos2unix x: write; link x y: write; ranlib x: write; rmdir x: write
truncate <write>: write
  -s -r --size --reference = text
  is runnable
  e.g. truncate x: write
cp mv ln install <text>: write
  -t --target-directory = into
  -S -m -o -g --suffix --mode --owner --group = text
  --strip-program = program
  rule copy
  is links
  is runnable of mv
  e.g. cp x ~: destructive
mktemp <write>: write
  -p --tmpdir = write
  --suffix = text
  e.g. mktemp -d: write
fallocate <write>: write
  -l -o --length --offset = text
  e.g. fallocate -l 1G /srv/x: destructive
objcopy <read... write>: write
  -I -O -B -j -R --input-target --output-target = text
  e.g. objcopy a b: write
strip <write>: write
  -o = write
  -F -I -O -K -N -R = text
  e.g. strip /bin/ls: persistence
rename prename file-rename <edits write>: write
  e.g. rename 's/a/b/' x: write
split <read... write>: write
  --filter = shell
  -a -b -C -l -n --bytes --lines --number = text
  e.g. split x: write
csplit: write
  -f --prefix = write
  -n -b = text
  e.g. csplit -f /srv/x f 1: destructive
patch <write>: write
  -o --output -r --reject-file -d --directory = write
  -p -i --input --strip = text
  writes x
  e.g. patch -p1 < x: write
gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma lz4 compress <write>: write
  -S -T --suffix --threads -b = text
  e.g. gzip -k x: write
zip <output read>: write
  -r -R --recurse-paths --recurse-patterns <output tree>
  -m --move ! destructive deletes the files that it packs
  -TT --unzip-command = shell
  e.g. zip -rm a.zip b: destructive; zip -r - ~/.ssh: exfiltration
unzip <text members>: write
  -d = into
  -o -q -n -u -j -l -v -t -p -c -C -L -U -X -a -b -f -D -K -V
  -P -x = text
  is links
  e.g. unzip a.zip: write
unar: write
  e.g. unar x.zip: write
7z 7za 7zz rar unrar: write
  -sdel -df ! destructive deletes the files that it packs
  -so -si
  a u <read tree>: write
    -sdel -df ! destructive deletes the files that it packs
    -so -si
  e x <read members>: write
    -o =? into
    -so -si
  e.g. 7z x f -o/srv: destructive
ar <text>: write
  when /^--plugin/ ! obfuscated ar loads code
  rule ar
  e.g. ar rc /etc/x.a b: persistence
cpio <text>: write
  -D --directory = into
  -O -F --file = write
  --absolute-filenames --rsh-command --to-stdout ! destructive writes to any path that the archive names
  -H --format -C -E -I -M -R = text
  rule cpio
  is links
  e.g. cpio -idm -D /etc: persistence
pax <text>: write
  -f = write
  -s = rename
  -b -o -p -x -B -E -G -T -U = text
  rule pax
  e.g. pax -rw a b: write
tar bsdtar <text>: write
  bundled
  -f --file = text
  -C --directory = into
  --transform --xform -s = rename
  --to-command --rsh-command --rmt-command --info-script --new-volume-script -F -I --use-compress-program = filter \
      ! execute
  --checkpoint-action = action
  -g --listed-incremental --index-file --volno-file = write
  -T --files-from = names
  -P --absolute-names ! destructive writes to any path that the archive names
  -X -b -K -L -N -V --exclude --strip-components --owner --group --mode = text
  --one-top-level --checkpoint --remove-files -x --extract --get -c --create -r --append -u --update -A --delete \
      -t --list -d --diff
  rule tar
  is links
  e.g. tar -xf x.tar: write; bsdtar -xf x.tar: write
sed gsed <script read>: read
  -e --expression = script
  -f --file = script-file
  -i -I --in-place <script write>
  -l --line-length = text
  when /^(?:-[nrEsuz]*i|--in-place=).*\// ! obfuscated {it} writes backup files to another directory
  unknown words are quoted operands
  typed code script
  is edits of sed
  e.g. sed -n 1,10p x: read; gsed -i s/a/b/ x: write; sed -f -: obfuscated
find gfind <text>: read
  rule find
  is runnable of find
  finds below
  e.g. find . -name x: read; gfind . -delete: destructive
fd fdfind: read
  -e -t -d -E -g --extension --type --exclude --max-depth = text
  rule fd
  e.g. fd -e ts: read
chmod <text>: write
  rule chmod
  is runnable unread
  e.g. chmod u+s x: privilege
chown chgrp <text>: privilege changes the owner of files
  rule chmod
  is runnable of chown
  is unread
  e.g. chown ada x: privilege
rm remove remove_directory unlink shred wipe srm trash trash-put <remove>: read
  -r -R --recursive <remove-tree>
  -n -s --iterations --size = text
  --no-preserve-root ! fatal allows deleting the root directory
  -f -i -I -v -d --force --dir --preserve-root --one-file-system
  when no operand ! destructive {it} deletes files
  unknown words are operands
  is runnable of rm unlink shred
  is unread of rm unlink
  e.g. rm x: destructive
dd <text>: write
  rule dd
  is runnable
  e.g. dd if=/dev/sda of=x: exfiltration
mknod: privilege
  e.g. mknod x: privilege
mc ranger nnn lf vifm:
  typed code on terminal always
  e.g. mc: interactive
`;

/** Modes that run a program with its owner's rights. */
const SET_ID = /^(?:[0-7]?[2-7][0-7]{3}|[ugoa]*[+=][rwxXt]*s.*)$/;

/** `chmod`, `chown` and `chgrp`: judges the new modes and the files. */
function judgeChmod(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  const args = subject.args.filter(({ shape }) => !/^-[rwxXstugo,+=-]+$/.test(shape) || /^-[RvfcHLP]+$/.test(shape));
  const { options, operands } = parseArguments(args, valued('--from --reference'));
  const isRecursive = options.some(({ name }) => name === '-R' || name === '--recursive');
  const references = options.filter(({ name }) => name === '--reference');
  const hasMode = args.length === subject.args.length && references.length === 0;
  if (label === 'chmod') {
    judgeMode(subject, hasMode ? operands[0] : undefined);
    for (const { value } of references) judgeReference(subject, value);
  }
  for (const file of hasMode ? operands.slice(1) : operands) {
    if (isRecursive) judgeDepth(subject, file);
    subject.write(file);
  }
}

function judgeMode(subject: CommandAnalysis, mode: Argument | undefined): void {
  if (mode?.value !== undefined && SET_ID.test(mode.value)) subject.does('sets the set-user-ID or set-group-ID bit');
}

function judgeReference(subject: CommandAnalysis, file: Argument | undefined): void {
  // The permissions of a file in the workspace were set by a user.
  if (!file || !isOwn(subject, file))
    subject.does('copies the mode of another file, which may have the set-user-ID bit');
}

/** A recursive change of a directory on which the machine depends cannot be undone. */
function judgeDepth(subject: CommandAnalysis, file: Argument): void {
  const { facts } = subject.inquiry;
  const mayBeFatal = file.isGlob ? mayBeCritical : isCritical;
  for (const path of file.value === undefined ? [] : resolvePath(file.value, subject.scope.directories)) {
    if (path !== undefined && mayBeFatal(path, facts) && kindOf(path, facts) !== 'workspace')
      subject.does('changes everything in a directory on which the machine depends', path);
  }
}

/** `cp`, `mv`, `ln` and `install`: files are read, and created at the last operand, or in the target directory. */
function judgeCopy(subject: CommandAnalysis, call: ProgramCall): void {
  const { program } = subject;
  if (program === 'install') judgeInstalledMode(subject, call);
  if (program === 'install' && hasOption(call, '-d', '--directory')) {
    for (const directory of call.operands) subject.write(directory);
    return;
  }
  const copies = copiesOf(call);
  const isRecursive = program === 'cp' && hasOption(call, '-r', '-R', '-a', '--recursive', '--archive');
  if (copies.target)
    judgeInto(subject, copies.target, copies.sources, isRecursive || mayBeTree(program, copies.target));
  judgeSources(subject, copies, isRecursive);
}

/** What is moved or linked may be a directory; a target with a slash at its end is one that is there. */
const mayBeTree = (program: string | undefined, { shape }: Argument): boolean =>
  (program === 'mv' || program === 'ln') && !shape.endsWith('/');

/** `install -m`: the mode may let other users run a program as its owner. */
function judgeInstalledMode(subject: CommandAnalysis, call: ProgramCall): void {
  const mode = valueOfOption(call, '-m', '--mode');
  if (mode && SET_ID.test(mode.shape)) subject.does('sets the set-user-ID or set-group-ID bit');
}

function judgeSources(subject: CommandAnalysis, { sources, target }: Copies, isRecursive: boolean): void {
  for (const source of sources) {
    if (target) noteCopied(subject, source, target);
    if (subject.program === 'ln') judgeLinked(subject, source);
    else if (isRecursive) subject.readTree(source);
    else subject.read(source);
    if (subject.program === 'mv') judgeMoved(subject, source, target);
  }
}

/** Records the content of a copy, which may be that of the input. */
function noteCopied(subject: CommandAnalysis, source: Argument, target: Argument): void {
  const stdin = isInputName(source.value) ? subject.command.stdin : undefined;
  if (stdin && stdin.kind !== 'file')
    subject.noteWritten(target, stdin.kind === 'text' && stdin.isCertain ? stdin.text : undefined);
  else subject.inquiry.written.noteCopy(stdin?.file ?? source, target, subject.scope.directories);
}

/** A later write to a link changes the target of the link. */
function judgeLinked(subject: CommandAnalysis, source: Argument): void {
  const paths = source.value === undefined ? [] : resolvePath(source.value, subject.scope.directories);
  for (const path of paths) {
    if (path !== undefined && mustNotChange(path, subject.inquiry.facts))
      subject.does('links to a path that must not be changed', path);
  }
}

function mustNotChange(path: string, facts: AnalysisFacts): boolean {
  const kind = kindOf(path, facts);
  if (kind === 'startup' || kind === 'protected' || kind === 'device') return true;
  // A link to a standard program only gives it another name.
  if (kind === 'system' && !isStandardProgram(path)) return true;
  return isIndispensable(path, facts);
}

/** Whether the machine does not work without it. */
const isIndispensable = (path: string, facts: AnalysisFacts): boolean => isCritical(path, facts) || isRawDevice(path);

/** A moved file no longer exists at its source. */
function judgeMoved(subject: CommandAnalysis, source: Argument, target: Argument | undefined): void {
  judgeReplacedDevice(subject, target?.value ?? '');
  if (source.value === undefined) {
    subject.addUnknown(source, 'the file that mv moves');
    return;
  }
  for (const path of resolvePath(source.value, subject.scope.directories)) judgeMovedPath(subject, source, path);
}

function judgeMovedPath(subject: CommandAnalysis, source: Argument, path: Directory): void {
  const { facts } = subject.inquiry;
  const kind = kindOf(path, facts);
  if (path !== undefined && isIndispensable(path, facts)) subject.remove(source, 'mv moves', true);
  else if (kind !== 'workspace' && kind !== 'scratch') subject.does('moves {what}', path ?? source.text);
  if (path === facts.workspace) subject.does('moves the workspace', path);
}

function judgeReplacedDevice(subject: CommandAnalysis, target: string): void {
  if (target.startsWith('/dev/') && !target.startsWith('/dev/shm')) subject.does('replaces a device by a file', target);
}

/** `dd`: judges its operands, which are `name=value`. */
function judgeDd(subject: CommandAnalysis): void {
  for (const arg of subject.args) {
    if (arg.shape.startsWith('of=')) {
      const file = tailOf(arg, 'of='.length);
      subject.write(file);
      subject.noteWritten(file);
    } else if (arg.shape.startsWith('if=')) subject.read(tailOf(arg, 'if='.length));
    else if (arg.value === undefined) subject.addUnknown(arg, 'an operand of dd');
  }
}

/** Perl's `rename` runs its first operand as code; only a plain substitution is known. */
function judgeEdits(subject: CommandAnalysis, { shape, value }: Argument): void {
  if (/[^\w.-]/.test(shape) && !isTextEditing(value ?? '')) subject.does('runs code that cannot be judged');
}

/** `tee`: its input is written to the files. */
function judgeTee(subject: CommandAnalysis): void {
  const { stdin } = subject.command;
  const text = stdin?.kind === 'text' && stdin.isCertain ? stdin.text : undefined;
  for (const file of subject.args) if (!file.shape.startsWith('-')) subject.noteWritten(file, text);
}

/** `cpio`: with `-p` it copies the files that its input names, with `-i` it unpacks those that its operands name. */
function judgeCpio(subject: CommandAnalysis, call: ProgramCall): void {
  readNamedFiles(subject);
  const [directory] = call.operands;
  if (directory && hasOption(call, '-p', '--pass-through'))
    judgeInto(subject, directory, wordsOf(subject.command.stdin) ?? [], true);
  else if (hasOption(call, '-i', '--extract')) judgeMembers(subject, call, call.operands);
}

/** `pax`: `-r` unpacks, `-w` packs, both together copy the operands into the last one. */
function judgePax(subject: CommandAnalysis, call: ProgramCall): void {
  readNamedFiles(subject);
  const isPacking = hasOption(call, '-w');
  const isUnpacking = hasOption(call, '-r');
  const sources = isPacking && isUnpacking ? call.operands.slice(0, -1) : isPacking ? call.operands : [];
  for (const source of sources) subject.readTree(source);
  const target = call.operands.at(-1);
  if (isPacking && isUnpacking && target) judgeInto(subject, target, sources, true);
  if (isUnpacking) judgeMembers(subject, call, isPacking ? [] : call.operands);
}

/** `ar`: an operation, the archive, and its members. */
function judgeAr(subject: CommandAnalysis, { args }: ProgramCall): void {
  const [operation, ...files] = args.filter(({ shape }) => !shape.startsWith('--'));
  for (const file of files) {
    if (/^-?[tpx]/.test(operation?.shape ?? '')) subject.read(file);
    else subject.write(file);
  }
}

/** `tar`: reads or writes an archive, whose files are extracted or packed. */
function judgeTar(subject: CommandAnalysis, call: ProgramCall): void {
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
  if (operands.length === 0) subject.does('deletes the files that it packs');
  for (const file of operands) subject.remove(file, 'tar deletes', true);
}

/** The archive is a file, or a file of another machine. */
function judgeArchive(subject: CommandAnalysis, archive: Argument, parsed: ParsedArguments): void {
  if (hasOption(parsed, '-c', '--create', '-r', '--append', '-u', '--update', '-A', '--delete')) subject.write(archive);
  else subject.read(archive);
  if (/^[^/]*:/.test(archive.shape))
    subject.does(
      hasOption(parsed, '-c', '--create', '-r', '-u') ? 'sends files to another machine' : 'uses another machine',
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

function judgeNames(subject: CommandAnalysis, list: Argument): void {
  if (list.value === '-') readNamedFiles(subject);
  else subject.read(unknownArgument(list.text));
}

/** A command that gets the content of the archive as its input. */
function judgeFilter(subject: CommandAnalysis, command: Argument, label: string): void {
  subject.runText(command, `the command that ${label} runs`, { kind: 'unknown', what: 'tar' });
}

function judgeAction(subject: CommandAnalysis, { value }: Argument, label: string): void {
  if (value === undefined) subject.does('runs a command that is known only at run time', '', label);
  else if (value.startsWith('exec=')) {
    subject.does('runs a command', '', label);
    subject.inquiry.judgeText(value.slice('exec='.length), subject.scope);
  }
}

/** Programs that create, change, move, pack or delete files, or that search for files. */
export const FILES: ProgramFamily = {
  name: 'files',
  entries: ENTRIES,
  rules: {
    judges: {
      tee: judgeTee,
      copy: judgeCopy,
      ar: judgeAr,
      cpio: judgeCpio,
      pax: judgePax,
      tar: judgeTar,
      find: judgeFind,
      fd: judgeFd,
      chmod: judgeChmod,
      dd: judgeDd,
    },
    roles: {
      edits: { takenFor: 'code that changes names', judge: judgeEdits },
      script: { takenFor: 'a script of sed', slot: 'program', risk: 'writes', judge: judgeScript },
      'script-file': { takenFor: 'a script that is not read', slot: 'program', judge: judgeScriptFile },
      filter: { takenFor: 'a command that gets the content of the archive', risk: 'executes', judge: judgeFilter },
      action: { takenFor: 'what tar does at a checkpoint', judge: judgeAction },
      names: { takenFor: 'a list of files', judge: judgeNames },
    },
    finds: { below: foundBelow },
  },
  substitutions: [[/^\$\(mktemp(?: -[dq])*\)$/, TEMPORARY]],
  variables: [{ names: /^(?:TAR_OPTIONS|ZIPOPT)$/, class: 'obfuscated', what: 'adds options to a program' }],
};
