import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Time in which a program that cannot open a browser says so, in milliseconds. */
const LAUNCH_MS = 1500;

/** Programs that open a browser, by preference: command lines in which `%s` is the address, or which end before it. */
export function browsersOf(env: Readonly<NodeJS.ProcessEnv>): readonly string[] {
  const named = (env['BROWSER'] ?? '').split(':').filter((command) => command.trim() !== '');
  const hasDisplay = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some(
    (display) => display !== undefined && display !== '',
  );
  return [...named, ...(hasDisplay ? ['xdg-open'] : [])];
}

/**
 * A file that leads a browser to an address. Only this user can read it; the arguments of a process, which all users can
 * read, have its path alone. Disposing it removes it.
 */
export class RedirectFile implements Disposable {
  /** Its `file:` URL. */
  readonly url: string;
  readonly #directory: string;

  constructor(target: string, env: Readonly<NodeJS.ProcessEnv>) {
    // Made with mode 700.
    this.#directory = mkdtempSync(join(env['XDG_RUNTIME_DIR'] || tmpdir(), 'shell-adapter-dashboard-'));
    const file = join(this.#directory, 'open.html');
    writeFileSync(file, redirectTo(target), { mode: 0o600, flag: 'wx' });
    this.url = pathToFileURL(file).href;
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Opens an address by the first of these programs that can; returns false when none can. */
export async function openBrowser(url: string, commands: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  for (const command of commands) if (await launch(url, command, env)) return true;
  return false;
}

/** Starts a program, and waits shortly whether it fails: some run as long as the browser does. */
function launch(url: string, command: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const words = command.trim().split(/\s+/);
  const [program = '', ...args] = words.some((word) => word.includes('%s'))
    ? words.map((word) => word.replaceAll('%s', url))
    : [...words, url];
  const child = spawn(program, args, { env, stdio: 'ignore', detached: true });
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(true);
    }, LAUNCH_MS);
    const settle = (hasStarted: boolean) => {
      clearTimeout(timer);
      resolve(hasStarted);
    };
    child.once('error', () => {
      settle(false);
    });
    child.once('exit', (code) => {
      settle(code === 0);
    });
    child.unref();
  });
}

function redirectTo(target: string): string {
  const escaped = target.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${escaped}">
<title>shell-adapter</title>
<p><a href="${escaped}">Open the dashboard</a></p>
`;
}
