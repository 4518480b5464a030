import { baseName } from '../paths/paths.js';
import { plainName } from './program-name.js';

/** Programs that an unknown program may run when it is given their name, and that are unlikely names of scripts. */
const RUNNABLE = new Set(
  `rm rmdir unlink shred truncate dd sudo doas su pkexec sh bash dash zsh ksh eval git docker podman kubectl terraform find
   xargs env chmod chown kill pkill killall systemctl crontab at curl wget nc ncat socat ssh scp rsync apt apt-get dnf yum
   python python3 perl ruby node php mv tee psql mysql sqlite3 redis-cli gh aws`.split(/\s+/),
);

/** Whether a word among arguments is more likely to be a program than another kind of name. */
export const isRunnable = (name: string): boolean => RUNNABLE.has(plainName(name)) || /^mkfs\b/.test(baseName(name));
