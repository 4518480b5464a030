import { judgeChmod } from './chmod.js';
import { COPY_OPTIONS, judgeCopy } from './copy.js';
import { judgeDd } from './dd.js';
import { isTextEditing } from '../../subject/perl-code.js';
import { judgeRemoval } from './remove.js';
import { judgeSed } from './sed.js';
import { judgeTar } from './tar.js';
import { FD_OPTIONS, judgeFd, judgeFind } from './find.js';
import { literal } from '../../words/argument.js';
import { hasOption, tailOf } from '../../subject/options.js';
import { judgeInto, judgeMembers } from '../../subject/copying.js';
import { readNamedFiles, wordsOf } from '../../subject/listed-files.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { each, flags, type ProgramCall, type ProgramTable, valued } from '../../subject/program-spec.js';

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
export const SPECS: ProgramTable = {
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
