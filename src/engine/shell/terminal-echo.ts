import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';

/** Longest wait for stty(1), in milliseconds: it takes a few. */
const LOOK_MS = 1000;

/** `echo` among the settings that `stty -a` prints, without a dash before it. */
const ECHOES = /(?:^|\s)echo(?:\s|$)/u;

/**
 * Whether a terminal echoes what is typed now: passwords are read without. False as well when that cannot be determined.
 * @param path of the terminal
 * @param searchPath PATH with stty(1)
 */
export async function showsTyped(path: string, searchPath: string): Promise<boolean> {
  let terminal: number;
  try {
    terminal = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    // The terminal was closed.
    return false;
  }
  try {
    const env = { PATH: searchPath, LC_ALL: 'C' };
    const child = spawn('stty', ['-a'], { stdio: [terminal, 'pipe', 'ignore'], env, timeout: LOOK_MS, cwd: '/' });
    let text = '';
    child.stdout?.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    return await new Promise((resolve) => {
      child.on('error', () => {
        resolve(false);
      });
      child.on('close', (code) => {
        resolve(code === 0 && ECHOES.test(text));
      });
    });
  } finally {
    closeSync(terminal);
  }
}
