import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { vi } from 'vitest';
import { parse } from 'yaml';

import type { DaemonSettings } from '../../support/daemon.js';
import { TestDaemon } from '../../support/daemon.js';
import { MAIN } from '../cli/support.js';

/** How long a screen may take to show what it has to, in milliseconds. */
const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 50;

/** Why a test that needs a program is skipped; undefined when it is installed. */
export const missing = (...programs: string[]): string | undefined =>
  programs.find((program) => spawnSync('sh', ['-c', 'command -v "$0"', program]).status !== 0);

type Section = Record<string, unknown>;

/** A daemon with the configuration that is shipped, but for its port and folders. */
export async function startShipped(confirmation: Section = {}): Promise<TestDaemon> {
  const file = fileURLToPath(new URL('../../../config/shell_adapter.yaml', import.meta.url));
  const shipped = parse(readFileSync(file, 'utf8')) as Record<string, Section>;
  delete shipped['adapter']?.['workspace_directory'];
  delete shipped['logging']?.['log_file_path'];
  delete shipped['socketio']?.['port'];
  const home = mkdtempSync(join(tmpdir(), 'shell-adapter-home-'));
  const settings = { ...shipped, confirmation: { ...shipped['confirmation'], ...confirmation } } as DaemonSettings;
  // Editors and shells keep their histories there.
  const daemon = await TestDaemon.start({ settings, env: { HOME: home } });
  void daemon.exited.then(() => {
    rmSync(home, { recursive: true, force: true });
  });
  return daemon;
}

/** The command line on a terminal that tmux emulates: what a person would see, and the keys that one would press. */
export class Screen implements Disposable {
  static #count = 0;
  readonly #server = `shell-adapter-test-${process.pid}-${(Screen.#count += 1)}`;

  /** @param url address of the daemon */
  constructor(url: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(?:SHELL_ADAPTER_|TMUX|NO_COLOR$|CI$|npm_)/.test(name),
    );
    const script = '"$@"; echo "[exit $?]"; exec cat >/dev/null';
    execFileSync(
      'tmux',
      this.#args('-f', '/dev/null', 'new-session', '-d', '-x', '100', '-y', '30', 'sh', '-c', script, 'sh').concat([
        process.execPath,
        MAIN,
        ...args,
      ]),
      { env: { ...Object.fromEntries(own), SHELL_ADAPTER_URL: url, ...env } },
    );
  }

  /** What the screen shows. */
  get text(): string {
    return execFileSync('tmux', this.#args('capture-pane', '-p'), { encoding: 'utf8' });
  }

  /** What tmux knows about the terminal: its format variables, such as `#{alternate_on}`. */
  format(variables: string): string {
    return execFileSync('tmux', this.#args('display-message', '-p', variables), { encoding: 'utf8' }).trimEnd();
  }

  /** Types text as it is. */
  type(text: string): void {
    // A semicolon at the end would separate commands of tmux.
    execFileSync('tmux', this.#args('send-keys', '-l', '--', text.replace(/;$/, '\\;')));
  }

  /** Presses keys by their names in tmux, such as `Enter`, `Escape`, `C-c`, `Up`. */
  press(...keys: string[]): void {
    execFileSync('tmux', this.#args('send-keys', ...keys));
  }

  resize(columns: number, rows: number): void {
    execFileSync('tmux', this.#args('resize-window', '-x', String(columns), '-y', String(rows)));
  }

  /** Waits until the screen matches. */
  async until(pattern: RegExp): Promise<void> {
    await vi.waitFor(
      () => {
        const { text } = this;
        if (!pattern.test(text)) throw new Error(`the screen has no ${String(pattern)}:\n${text}`);
      },
      { timeout: PATIENCE_MS, interval: LOOK_EVERY_MS },
    );
  }

  [Symbol.dispose](): void {
    spawnSync('tmux', this.#args('kill-server'));
  }

  #args(...args: string[]): string[] {
    return ['-L', this.#server, ...args];
  }
}
