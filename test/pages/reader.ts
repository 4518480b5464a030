import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { ShellStart } from './typed-shell.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const git = (...args: string[]): string => execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' });
const listed = (...args: string[]): string[] =>
  git(...args, '-z')
    .split('\0')
    .filter(Boolean);

/** A folder for the homes of readers, which every user may enter; removed with all in it. */
export function makeHomes(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'shell-adapter-pages-'));
  execFileSync('chmod', ['755', path]);
  return {
    path,
    [Symbol.dispose]: () => {
      execFileSync('rm', ['-rf', path]);
    },
  };
}

/** An ordinary user with a home that has a clone in it and, before the first page, nothing else. */
export class Reader {
  readonly home: string;
  /** Where the clone is. */
  readonly clone: string;
  readonly #port: string | undefined;

  /**
   * @param home a directory that is not there yet
   * @param port where daemons listen that the page starts without one; undefined: where the page says
   */
  constructor(home: string, port: string | undefined) {
    this.home = home;
    this.clone = join(home, 'shell-adapter');
    this.#port = port;
  }

  /** Makes the home with a clone of the repository, changes that are not committed included. */
  cloneRepository(): void {
    this.makeHome();
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, this.clone]);
    for (const path of [
      ...listed('diff', '--name-only', 'HEAD'),
      ...listed('ls-files', '--others', '--exclude-standard'),
    ]) {
      rmSync(join(this.clone, path), { force: true });
      if (!existsSync(join(ROOT, path))) continue;
      mkdirSync(dirname(join(this.clone, path)), { recursive: true });
      cpSync(join(ROOT, path), join(this.clone, path));
    }
    this.#own('-R', this.home);
  }

  /** Makes the home of a reader who has the installation of another one, whose clone is used too, and nothing else. */
  shareInstallation(from: Reader): void {
    this.makeHome();
    symlinkSync(from.clone, this.clone);
    this.sharePackages(from);
    const names = ['.bashrc', '.local/bin', '.local/lib'];
    for (const name of names) execFileSync('cp', ['-a', join(from.home, name), join(this.home, name)]);
  }

  /** Gives the clone the dependencies that another reader has installed: that takes a minute of a processor. */
  shareDependencies(from: Reader): void {
    this.sharePackages(from);
    execFileSync('cp', ['-al', join(from.clone, 'node_modules'), this.clone]);
    // What says when they were installed must be newer than the clone, and not that of the other reader.
    const installed = join(this.clone, 'node_modules/.package-lock.json');
    execFileSync('cp', ['--remove-destination', join(from.clone, 'node_modules/.package-lock.json'), installed]);
    this.#own(installed);
  }

  /** Shares the packages that npm has fetched for another reader, so that it need not fetch them again. */
  sharePackages(from: Reader): void {
    symlinkSync(join(from.home, '.npm'), join(this.home, '.npm'));
  }

  /** Makes an empty home. */
  makeHome(): void {
    mkdirSync(join(this.home, '.local'), { recursive: true });
    this.#own(this.home, join(this.home, '.local'));
  }

  /** What git finds changed in the clone. */
  changesInClone(): string {
    const { env } = this.shell();
    const [program, ...args] = [...asOrdinaryUser(), 'git', '-C', this.clone, 'status', '--porcelain'];
    return execFileSync(program, args, { env, encoding: 'utf8' });
  }

  /** How a terminal of the reader starts. */
  shell(): ShellStart {
    const env = {
      HOME: this.home,
      PATH: pathOf(),
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      USER: 'reader',
      LOGNAME: 'reader',
      ...(this.#port !== undefined && { SHELL_ADAPTER_SOCKETIO_PORT: this.#port }),
    };
    const [program, ...args] = [...asOrdinaryUser(), 'bash', '--noediting', '-i'];
    return { program, args, cwd: this.home, env };
  }

  /** Whether a program succeeds for the reader. */
  can(script: string): boolean {
    const { env, cwd } = this.shell();
    const [program, ...args] = [...asOrdinaryUser(), 'sh', '-c', script];
    try {
      execFileSync(program, args, { env, cwd, stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  /** The processes that have the reader's home in their environment. */
  processes(): readonly { readonly pid: number; readonly commandLine: string }[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.flatMap((pid) => {
      try {
        const isOurs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${this.home}`);
        const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return isOurs ? [{ pid: Number(pid), commandLine }] : [];
      } catch {
        // It has ended, or belongs to another user.
        return [];
      }
    });
  }

  /** Ends what a page that failed has left running. */
  endProcesses(): void {
    for (const { pid } of this.processes()) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  #own(...args: string[]): void {
    if (isRoot) execFileSync('chown', [`${READER_ID}:${READER_ID}`, ...args]);
  }
}

const isRoot = process.getuid?.() === 0;

/**
 * The user that a reader is when the tests run as root: one that has no account. `nobody` would not do: its number also
 * stands for users of other namespaces, so the daemon takes it for nobody in particular.
 */
const READER_ID = '41087';

/** The start of a command line that makes an ordinary user of root. */
const asOrdinaryUser = (): readonly string[] =>
  isRoot ? ['setpriv', `--reuid=${READER_ID}`, `--regid=${READER_ID}`, '--clear-groups'] : [];

/** The usual directories, and the one that Node.js is in: the pages say that it is installed. */
function pathOf(): string {
  const usual = ['/usr/local/bin', '/usr/bin', '/bin'];
  const node = dirname(process.execPath);
  return [...(usual.includes(node) ? [] : [node]), ...usual].join(':');
}
