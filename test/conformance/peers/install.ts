import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import type { Peer } from './peer.js';

/** Some hundred megabytes each. */
const INSTALL_TIMEOUT_MS = 600_000;

const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'shell-adapter/peers');

/** Folder of this user's cache into which a peer is installed. */
export const folderOf = ({ name, version }: Peer): string => join(CACHE, `${name}-${version}`);

/** Installs a peer, unless that version is there. No install scripts of packages are run: they download browsers. */
export function install(peer: Peer): void {
  const folder = folderOf(peer);
  const note = join(folder, 'installed.txt');
  const command = installCommand(peer);
  if (existsSync(note) && readFileSync(note, 'utf8') === command) return;
  mkdirSync(folder, { recursive: true });
  if ('script' in peer.install) peer.install.script(folder);
  else {
    const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', [...args, ...peer.install.npm], {
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: INSTALL_TIMEOUT_MS,
    });
  }
  writeFileSync(note, command);
}

/** How a user installs it by hand. */
export const installCommand = ({ install: how }: Peer): string =>
  'npm' in how ? `npm install --ignore-scripts ${how.npm.join(' ')}` : how.command;
