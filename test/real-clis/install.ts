import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Some hundred megabytes each. */
const INSTALL_TIMEOUT_MS = 600_000;

const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'shell-adapter/real-clis');

/**
 * Installs a tool from npm into the cache of this user, unless that version is there.
 * @param spec package with version: `@scope/name@1.2.3`
 * @returns path of its program
 */
export function install(name: string, spec: string): string {
  const [, packageName = '', version = ''] = /^(.+)@([^@]+)$/.exec(spec) ?? [];
  const folder = join(CACHE, name);
  if (installedVersion(folder, packageName) !== version) {
    mkdirSync(folder, { recursive: true });
    // --force: the newest ones ask for a later Node.js than they need.
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', '--force', spec];
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: INSTALL_TIMEOUT_MS });
  }
  return join(folder, 'node_modules/.bin', name);
}

function installedVersion(folder: string, packageName: string): string | undefined {
  const file = join(folder, 'node_modules', packageName, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
