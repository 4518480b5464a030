import { judgeChmod } from '../special/chmod.js';
import { judgeCopy } from '../special/copy.js';
import { judgeDd } from '../special/dd.js';
import { judgeRemoval } from '../special/remove.js';
import { judgeSed } from '../special/sed.js';
import { judgeTar } from '../special/tar.js';
import { judgeFind } from '../special/find.js';
import { each, type ProgramTable, valued } from './spec.js';

const compressor = { class: 'write', operands: 'write', options: valued('-S -T --suffix --threads -b') } as const;

/** Programs that change files. */
export const FILES: ProgramTable = {
  ...each('mkdir', { class: 'write', operands: 'write', options: valued('-m --mode') }),
  touch: { class: 'write', operands: 'write', options: valued('-d -t -r --date --reference --time') },
  ...each('tee sponge dos2unix unix2dos setfacl chattr setfattr chcon', { class: 'write', operands: 'write' }),
  truncate: { class: 'write', operands: 'write', options: valued('-s -r --size --reference') },
  ...each('cp mv ln install', { class: 'write', operands: 'text', judge: judgeCopy }),
  ...each('mktemp mkfifo', { class: 'write', operands: 'text' }),
  split: {
    class: 'write',
    options: { '--filter': { value: 'shell' }, ...valued('-a -b -C -l -n --bytes --lines --number') },
  },
  csplit: { class: 'write', options: valued('-f -n -b --prefix') },
  patch: {
    class: 'write',
    options: {
      ...each('-o --output -r --reject-file', { value: 'write' }),
      ...valued('-p -d -i --directory --input --strip'),
    },
  },
  ...each('gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma lz4 compress', compressor),
  zip: { class: 'write', options: each('-TT --unzip-command', { value: 'shell' }) },
  unzip: { class: 'write', options: { '-d': { value: 'write' }, ...valued('-P -x') } },
  ...each('7z 7za rar unrar unar', { class: 'write' }),
  ...each('ar cpio pax', { class: 'write' }),
  tar: { class: 'write', operands: 'text', judge: judgeTar },
  bsdtar: { class: 'write', operands: 'text', judge: judgeTar },
  sed: { class: 'read', operands: 'text', judge: judgeSed },
  gsed: { class: 'read', operands: 'text', judge: judgeSed },
  find: { class: 'read', operands: 'text', judge: judgeFind },
  gfind: { class: 'read', operands: 'text', judge: judgeFind },
  chmod: { class: 'write', operands: 'text', judge: judgeChmod },
  ...each('chown chgrp', { class: 'privilege', reason: 'gives files away', operands: 'text', judge: judgeChmod }),
  ...each('rm unlink rmdir shred wipe srm trash trash-put', {
    class: 'destructive',
    operands: 'text',
    judge: judgeRemoval,
  }),
  dd: { class: 'write', operands: 'text', judge: judgeDd },
  mknod: { class: 'privilege' },
};
