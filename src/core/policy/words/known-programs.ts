import { baseName } from '../paths/paths.js';
import { plainName } from './program-name.js';

/** What an unknown program may run that is given it, and a script can hardly be called. */
const RUNNABLE = new Set(
  `rm rmdir unlink shred truncate dd sudo doas su pkexec sh bash dash zsh ksh eval git docker podman kubectl terraform find
   xargs env chmod chown kill pkill killall systemctl crontab at curl wget nc ncat socat ssh scp rsync apt apt-get dnf yum
   python python3 perl ruby node php mv tee psql mysql sqlite3 redis-cli gh aws`.split(/\s+/),
);

/** Whether a word among arguments is more likely to be a program than a name of something else. */
export const isRunnable = (name: string): boolean => RUNNABLE.has(plainName(name)) || /^mkfs\b/.test(baseName(name));
