import type { Directory } from '../model.js';
import { type AnalysisFacts, isCritical, isRawDevice, kindOf, mayBeCritical } from '../path-kinds.js';
import { resolvePath } from '../paths.js';
import { type ProgramExamples, type ProgramFamily, typedCode, typedScript, unless } from '../program-family.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { type Copies, copiesOf, judgeInto, judgeMembers } from '../subject/copying.js';
import { readNamedFiles, wordsOf } from '../subject/listed-files.js';
import { hasOption, parseArguments, tailOf, valueOfOption } from '../subject/options.js';
import { isInputName, isTextEditing } from '../subject/inline-source.js';
import { each, flags, type ProgramCall, type ProgramTable, valued } from '../subject/program-spec.js';
import { type Argument, literal } from '../words/argument.js';
import { isStandardProgram } from '../words/program-knowledge.js';
import { TEMPORARY } from '../variables/variables.js';
import { FD_OPTIONS, foundBelow, judgeFd, judgeFind } from './files-find.js';
import { judgeSed } from './files-sed.js';
import { judgeTar } from './files-tar.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  read: ['find . -name x', 'fd -e ts', 'sed -n 1,10p x'],
  write: [
    'objcopy a b',
    'mkdir -p a/b/c',
    'touch x',
    'tee x',
    'dos2unix x',
    'truncate x',
    'mktemp -d',
    'mkfifo x',
    'link x y',
    'pax -rw a b',
    "rename 's/a/b/' x",
    'split x',
    'patch -p1 < x',
    'gzip -k x',
    'unzip a.zip',
    'ranlib x',
    'tar -xf x.tar',
    'bsdtar -xf x.tar',
    'rmdir x',
    'gsed -i s/a/b/ x',
  ],
  interactive: ['mc'],
  destructive: [
    'cp x ~',
    'fallocate -l 1G /srv/x',
    'csplit -f /srv/x f 1',
    'zip -rm a.zip b',
    '7z x f -o/srv',
    'gfind . -delete',
    'rm x',
  ],
  privilege: ['chmod u+s x', 'chown ada x', 'mknod x'],
  persistence: ['strip /bin/ls', 'ar rc /etc/x.a b', 'cpio -idm -D /etc'],
  exfiltration: ['dd if=/dev/sda of=x'],
  obfuscated: ['sed -f -'],
};

/** Modes that run a program with its owner's rights. */
const SET_ID = /^(?:[0-7]?[2-7][0-7]{3}|[ugoa]*[+=][rwxXt]*s.*)$/;

/** `chmod`, `chown` and `chgrp`: judges the new modes and the files. */
function judgeChmod(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  const args = subject.args.filter(({ shape }) => !/^-[rwxXstugo,+=-]+$/.test(shape) || /^-[RvfcHLP]+$/.test(shape));
  const { options, operands } = parseArguments(args, {
    options: { '-R': {}, '--recursive': {}, ...valued('--from --reference') },
  });
  const isRecursive = options.some(({ name }) => name === '-R' || name === '--recursive');
  const references = options.filter(({ name }) => name === '--reference');
  const hasMode = args.length === subject.args.length && references.length === 0;
  if (label === 'chmod') {
    judgeMode(subject, hasMode ? operands[0] : undefined);
    for (const { value } of references) judgeReference(subject, value);
  }
  for (const file of hasMode ? operands.slice(1) : operands) {
    if (isRecursive) judgeDepth(subject, label, file);
    subject.write(file);
  }
}

function judgeMode(subject: CommandAnalysis, mode: Argument | undefined): void {
  if (mode?.value !== undefined && SET_ID.test(mode.value))
    subject.add('privilege', 'chmod sets the set-user-ID or set-group-ID bit');
}

function judgeReference(subject: CommandAnalysis, file: Argument | undefined): void {
  if (!isOwn(subject, file))
    subject.add('privilege', 'chmod copies the mode of another file, which may have the set-user-ID bit');
}

/** A recursive change of a directory on which the machine depends cannot be undone. */
function judgeDepth(subject: CommandAnalysis, label: string, file: Argument): void {
  const { facts } = subject.inquiry;
  const mayBeFatal = file.isGlob ? mayBeCritical : isCritical;
  for (const path of file.value === undefined ? [] : resolvePath(file.value, subject.scope.directories)) {
    if (path !== undefined && mayBeFatal(path, facts) && kindOf(path, facts) !== 'workspace')
      subject.addFatal(`${label} changes everything in a directory on which the machine depends: ${path}`);
  }
}

/** Whether a file is in the workspace, so that its existing permissions were set by a user. */
function isOwn({ inquiry, scope }: CommandAnalysis, file: Argument | undefined): boolean {
  if (file?.value === undefined) return false;
  return resolvePath(file.value, scope.directories).every((path) => kindOf(path, inquiry.facts) === 'workspace');
}

/** Options of `cp`, `mv`, `ln` and `install`. */
const COPY_OPTIONS = {
  ...each('-t --target-directory', { value: 'into' } as const),
  ...valued('-S -m -o -g --suffix --mode --owner --group'),
  '--strip-program': { value: 'program' } as const,
};

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
  if (mode && SET_ID.test(mode.shape)) subject.add('privilege', 'install sets the set-user-ID or set-group-ID bit');
}

/** Judges the files that are copied, moved or linked. */
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
      subject.add('persistence', `ln links to a path that must not be changed: ${path}`);
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

/** Judges one path that a moved file may have. */
function judgeMovedPath(subject: CommandAnalysis, source: Argument, path: Directory): void {
  const { facts } = subject.inquiry;
  const kind = kindOf(path, facts);
  if (path !== undefined && isIndispensable(path, facts)) subject.remove(source, 'mv moves', true);
  else if (kind !== 'workspace' && kind !== 'scratch') subject.add('destructive', `mv moves ${path ?? source.text}`);
  if (path === facts.workspace) subject.add('destructive', `mv moves the workspace: ${path}`);
}

function judgeReplacedDevice(subject: CommandAnalysis, target: string): void {
  if (target.startsWith('/dev/') && !target.startsWith('/dev/shm'))
    subject.add('destructive', `mv replaces a device by a file: ${target}`);
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

const OPTIONS = {
  ...each('-r -R --recursive -f --force -i -I -v -d --dir --preserve-root --one-file-system', {}),
  ...valued('-n -s --iterations --size'),
};

/** `rm` and similar programs: judges the files that are deleted. */
function judgeRemoval(subject: CommandAnalysis): void {
  const { options, operands } = parseArguments(subject.args, { options: OPTIONS });
  const names = options.map(({ name }) => name);
  const isRecursive = names.some((name) => ['-r', '-R', '--recursive'].includes(name));
  // Without this option, GNU rm refuses "/" itself.
  if (names.some((name) => name.startsWith('--no-p')))
    subject.addFatal('rm --no-preserve-root allows deleting the root directory');
  if (operands.length === 0) subject.add('destructive', `${subject.program ?? 'it'} deletes files`);
  for (const operand of operands) subject.remove(operand, `${subject.program ?? 'it'} deletes`, isRecursive);
}

const compressor = { class: 'write', operands: 'write', options: valued('-S -T --suffix --threads -b') } as const;

/** `zip`: the archive is the first operand, its members follow. */
function judgeZip(subject: CommandAnalysis): void {
  const [archive, ...files] = subject.args.filter(({ shape }) => !shape.startsWith('-'));
  if (archive && archive.value !== '-') subject.write(archive);
  const isRecursive = subject.args.some(({ shape }) => /^(?:-[a-zA-Z]*[rR]|--recurse)/.test(shape));
  for (const file of files) {
    if (isRecursive) subject.readTree(file);
    else subject.read(file);
  }
  if (subject.args.some(({ shape }) => /^(?:-[a-zA-Z]*m[a-zA-Z]*|--move)$/.test(shape)))
    subject.add('destructive', 'zip deletes the files that it packs');
}

/** Perl's `rename` runs its first operand as code; only a plain substitution is known. */
function judgeRename(subject: CommandAnalysis): void {
  const [code, ...files] = subject.args.filter(({ shape }) => !shape.startsWith('-'));
  const isCode = /[^\w.-]/.test(code?.shape ?? '');
  if (isCode && !isTextEditing(code?.value ?? '')) subject.add('obfuscated', 'rename runs code that cannot be judged');
  for (const file of files) subject.write(file);
}

/** `tee`: its input is written to the files. */
function judgeTee(subject: CommandAnalysis): void {
  const { stdin } = subject.command;
  const text = stdin?.kind === 'text' && stdin.isCertain ? stdin.text : undefined;
  for (const file of subject.args) if (!file.shape.startsWith('-')) subject.noteWritten(file, text);
}

/** `7z` and the like: an operation, the archive, and files that are packed or unpacked. */
function judgeArchiver(subject: CommandAnalysis, { args }: ProgramCall): void {
  const [operation, , ...files] = args.filter(({ shape }) => !shape.startsWith('-'));
  const directory = args.find(({ shape }) => /^-o./.test(shape));
  const into = directory
    ? [{ name: '-o', spec: { value: 'into' } as const, value: tailOf(directory, '-o'.length) }]
    : [];
  if (/^[au]$/.test(operation?.shape ?? '')) for (const file of files) subject.readTree(file);
  if (/^[ex]$/.test(operation?.shape ?? '')) judgeMembers(subject, { options: into }, files);
  if (args.some(({ shape }) => shape === '-sdel' || shape === '-df'))
    subject.add('destructive', 'deletes the files that it packs');
}

const CPIO_OPTIONS = {
  ...each('-D --directory', { value: 'into' } as const),
  ...each('-O -F --file', { value: 'write' } as const),
  ...each('--absolute-filenames --rsh-command --to-stdout', {
    class: 'destructive',
    reason: 'writes to any path that the archive names',
  } as const),
  ...valued('-H --format -C -E -I -M -R'),
} as const;

/** `cpio`: with `-p` it copies the files that its input names, with `-i` it unpacks those that its operands name. */
function judgeCpio(subject: CommandAnalysis, call: ProgramCall): void {
  readNamedFiles(subject);
  const [directory] = call.operands;
  if (directory && hasOption(call, '-p', '--pass-through'))
    judgeInto(subject, directory, wordsOf(subject.command.stdin) ?? [], true);
  else if (hasOption(call, '-i', '--extract')) judgeMembers(subject, call, call.operands);
}

const PAX_OPTIONS = {
  ...each('-f', { value: 'write' } as const),
  '-s': { value: 'rename' } as const,
  ...valued('-b -o -p -x -B -E -G -T -U'),
} as const;

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

/** A program that writes files of unknown names in the current directory. */
function writesHere(subject: CommandAnalysis): void {
  subject.write(literal('x'));
}

/** Programs that change files. */
const SPECS: ProgramTable = {
  ...each('mkdir', { class: 'write', operands: 'write', options: valued('-m --mode') }),
  touch: { class: 'write', operands: 'write', options: valued('-d -t -r --date --reference --time') },
  ...each('tee sponge', { class: 'write', operands: 'write', judge: judgeTee }),
  ...each('dos2unix unix2dos setfacl chattr setfattr chcon', { class: 'write', operands: 'write' }),
  truncate: { class: 'write', operands: 'write', options: valued('-s -r --size --reference') },
  ...each('cp mv ln install', { class: 'write', operands: 'text', options: COPY_OPTIONS, judge: judgeCopy }),
  mktemp: {
    class: 'write',
    operands: 'write',
    options: { ...each('-p --tmpdir', { value: 'write' }), ...valued('--suffix') },
  },
  mkfifo: { class: 'write', operands: 'write', options: valued('-m --mode') },
  fallocate: { class: 'write', operands: 'write', options: valued('-l -o --length --offset') },
  link: { class: 'write', operands: 'write' },
  objcopy: {
    class: 'write',
    operands: 'last-written',
    options: valued('-I -O -B -j -R --input-target --output-target'),
  },
  strip: { class: 'write', operands: 'write', options: { '-o': { value: 'write' }, ...valued('-F -I -O -K -N -R') } },
  ...each('rename prename file-rename', {
    class: 'write',
    operands: 'text',
    judge: judgeRename,
  }),
  split: {
    class: 'write',
    operands: 'last-written',
    options: { '--filter': { value: 'shell' }, ...valued('-a -b -C -l -n --bytes --lines --number') },
  },
  csplit: { class: 'write', options: { ...each('-f --prefix', { value: 'write' }), ...valued('-n -b') } },
  patch: {
    class: 'write',
    operands: 'write',
    judge: writesHere,
    options: {
      ...each('-o --output -r --reject-file -d --directory', { value: 'write' }),
      ...valued('-p -i --input --strip'),
    },
  },
  ...each('gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma lz4 compress', compressor),
  zip: { class: 'write', operands: 'text', options: each('-TT --unzip-command', { value: 'shell' }), judge: judgeZip },
  unzip: {
    class: 'write',
    operands: 'members',
    options: {
      '-d': { value: 'into' },
      ...flags('-o -q -n -u -j -l -v -t -p -c -C -L -U -X -a -b -f -D -K -V'),
      ...valued('-P -x'),
    },
  },
  ...each('7z 7za 7zz rar unrar unar', {
    class: 'write',
    judge: judgeArchiver,
  }),
  ar: {
    class: 'write',
    operands: 'text',
    judge: (subject) => {
      if (subject.args.some(({ shape }) => shape.startsWith('--plugin'))) subject.add('obfuscated', 'ar loads code');
      const [operation, ...files] = subject.args.filter(({ shape }) => !shape.startsWith('--'));
      for (const file of files) {
        if (/^-?[tpx]/.test(operation?.shape ?? '')) subject.read(file);
        else subject.write(file);
      }
    },
  },
  ranlib: { class: 'write', operands: 'write' },
  cpio: { class: 'write', operands: 'text', options: CPIO_OPTIONS, judge: judgeCpio },
  pax: { class: 'write', operands: 'text', options: PAX_OPTIONS, judge: judgePax },
  tar: { class: 'write', operands: 'text', judge: judgeTar },
  bsdtar: { class: 'write', operands: 'text', judge: judgeTar },
  sed: { class: 'read', operands: 'text', judge: judgeSed },
  gsed: { class: 'read', operands: 'text', judge: judgeSed },
  find: { class: 'read', operands: 'text', judge: judgeFind },
  gfind: { class: 'read', operands: 'text', judge: judgeFind },
  ...each('fd fdfind', {
    class: 'read',
    options: FD_OPTIONS,
    judge: judgeFd,
  }),
  chmod: { class: 'write', operands: 'text', judge: judgeChmod },
  ...each('chown chgrp', {
    class: 'privilege',
    reason: 'changes the owner of files',
    operands: 'text',
    judge: judgeChmod,
  }),
  // It removes empty directories only.
  rmdir: { class: 'write', operands: 'write' },
  ...each('rm remove remove_directory unlink shred wipe srm trash trash-put', {
    // An option to delete changes the class.
    class: 'read',
    operands: 'text',
    judge: judgeRemoval,
  }),
  dd: { class: 'write', operands: 'text', judge: judgeDd },
  mknod: { class: 'privilege' },
};

/** Programs that create, change, move, pack or delete files, or that search for files. */
export const FILES: ProgramFamily = {
  name: 'files',
  programs: SPECS,
  typing: {
    ...each('sed gsed', typedCode(typedScript)),
    ...each('mc ranger nnn lf vifm', typedCode(unless(), 'terminal')),
  },
  traits: {
    runnable: 'rm rmdir unlink shred truncate dd find chmod chown mv tee',
    edits: 'sed',
    links: 'ln mv cp install tar bsdtar unzip cpio',
    unread: 'rm rmdir unlink touch chmod chown chgrp',
  },
  finds: each('find gfind', foundBelow),
  substitutions: [[/^\$\(mktemp(?: -[dq])*\)$/, TEMPORARY]],
  variables: [{ names: /^(?:TAR_OPTIONS|ZIPOPT)$/, class: 'obfuscated', what: 'adds options to a program' }],
  examples: EXAMPLES,
};
