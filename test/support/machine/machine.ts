import { readFileSync } from 'node:fs';
import { arch, availableParallelism, userInfo } from 'node:os';

/** What results were measured on: `Node.js 20.1.0, Debian GNU/Linux 12 x64, 2 cores, as root`. */
export const machine = (): string =>
  `Node.js ${process.versions.node}, ${systemName()} ${arch()}, ${availableParallelism()} cores, as ${
    userInfo().uid === 0 ? 'root' : 'an ordinary user'
  }`;

const systemName = (): string =>
  /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform;
