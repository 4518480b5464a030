import { setTimeout as delay } from 'node:timers/promises';

import { type IPty, spawn } from 'node-pty';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { TerminalEcho } from '../../../../src/engine/shell/terminal-echo.js';

const SETTLE_MS = 20;

let terminal: IPty & { readonly _pty?: string };
let path: string;
let echo: TerminalEcho;

/** Types a line into the shell, and waits until it says that it has come to its end. */
async function run(line: string): Promise<void> {
  let output = '';
  const listening = terminal.onData((data) => (output += data));
  terminal.write(`${line}; echo "do"ne\n`);
  while (!/^done/mu.test(output)) await delay(SETTLE_MS);
  listening.dispose();
}

beforeEach(async () => {
  terminal = spawn('sh', [], { env: { PATH: process.env['PATH'] ?? '', PS1: '' } });
  path = terminal._pty ?? '';
  echo = new TerminalEcho(process.env['PATH'] ?? '');
  await run('true');
});
afterEach(() => {
  echo[Symbol.dispose]();
  terminal.kill('SIGKILL');
});

it('says whether a terminal echoes now, each time it is asked', async () => {
  expect(await echo.showsTyped(path)).toBe(true);
  await run('stty -echo');
  expect(await Promise.all([echo.showsTyped(path), echo.showsTyped('/dev/pts/none')])).toEqual([false, false]);
  await run('stty echo');
  expect(await echo.showsTyped(path)).toBe(true);
});

it('says whether a terminal takes a secret: a line without echo', async () => {
  expect(await echo.takesSecret(path)).toBe(false);
  await run('stty -echo');
  expect(await echo.takesSecret(path)).toBe(true);
  await run('stty -icanon');
  expect([await echo.takesSecret(path), await echo.takesSecret('/dev/pts/none')]).toEqual([false, false]);
});

it('says no once it is disposed of, without a helper program, and of no terminal', async () => {
  const asked = echo.showsTyped(path);
  echo[Symbol.dispose]();
  expect(await asked).toBe(false);
  const without = new TerminalEcho('/nowhere');
  expect(await without.showsTyped(path)).toBe(false);
  expect(await echo.showsTyped('/dev/null')).toBe(false);
});
