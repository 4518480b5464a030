import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connect } from '../../../src/client/index.js';
import type { TestDaemon } from '../../support/daemon.js';
import { missing, Screen, startShipped } from './tmux.js';

const noTmux = missing('tmux') !== undefined;

describe.skipIf(noTmux)('exec --tty with the shipped configuration (needs tmux)', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startShipped();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const inWorkspace = (name: string) => join(daemon.workspace, name);
  const exec = (...command: string[]) => new Screen(daemon.url, ['exec', '--tty', ...command]);
  /** Answers the one question that is asked before a program starts that takes typed input. */
  async function confirmStart(screen: Screen, program: string): Promise<void> {
    await screen.until(new RegExp(`${program} takes typed input that the policy cannot judge[^]*run it\\? \\[y/N\\]`));
    screen.type('y');
    screen.press('Enter');
  }

  it.skipIf(missing('vim'))('vim edits and saves a file', async () => {
    using screen = exec('vim', 'edited.txt');
    await confirmStart(screen, 'vim');
    await screen.until(/^~$/m);
    screen.type('ihello from vim');
    await screen.until(/hello from vim/);
    screen.press('Escape');
    screen.type(':wq');
    screen.press('Enter');
    await screen.until(/\[exit 0\]/);
    expect(readFileSync(inWorkspace('edited.txt'), 'utf8')).toBe('hello from vim\n');
  });

  it.skipIf(missing('vim'))('vim draws itself again when the size changes', async () => {
    using screen = exec('vim', 'resized.txt');
    await confirmStart(screen, 'vim');
    await screen.until(/^~$/m);
    screen.resize(60, 12);
    screen.type(':set lines? columns?');
    screen.press('Enter');
    await screen.until(/lines=12\s+columns=60/);
    screen.press('Enter');
    screen.type(':q!');
    screen.press('Enter');
    await screen.until(/\[exit 0\]/);
  });

  it.skipIf(missing('less'))('less gets every key', async () => {
    writeFileSync(inWorkspace('long.txt'), Array.from({ length: 200 }, (_, at) => `line ${at + 1}\n`).join(''));
    using screen = exec('less', 'long.txt');
    await confirmStart(screen, 'less');
    await screen.until(/line 1\n/);
    screen.type('G');
    await screen.until(/line 200\n/);
    screen.press('PageUp');
    await screen.until(/line 150\n/);
    screen.type('q');
    await screen.until(/\[exit 0\]/);
  });

  it.skipIf(missing('top'))('top is not asked about, and ends with q', async () => {
    using screen = exec('top');
    await screen.until(/Tasks:[^]*PID/);
    screen.type('q');
    await screen.until(/\[exit 0\]/);
    expect(screen.text).not.toContain('[y/N]');
  });

  it.skipIf(missing('python3'))('python3 takes lines, and Ctrl-C', async () => {
    using screen = exec('python3');
    await confirmStart(screen, 'python3');
    await screen.until(/>>>$/m);
    screen.type('6 * 7');
    screen.press('Enter');
    await screen.until(/^42$/m);
    screen.type('import time; time.sleep(60)');
    screen.press('Enter');
    await screen.until(/sleep\(60\)\n/);
    screen.press('C-c');
    await screen.until(/KeyboardInterrupt/);
    screen.type('exit(3)');
    screen.press('Enter');
    await screen.until(/\[exit 3\]/);
  });

  it.for<[string, string[]]>([
    ['bash', ['bash', '--norc', '--noprofile']],
    ['zsh', ['zsh', '-f']],
  ])('%s runs what is typed without a further question, and knows its size', async ([name, command], { skip }) => {
    skip(missing(name) !== undefined, `${name} is not installed`);
    writeFileSync(inWorkspace('doomed'), '');
    using screen = exec(...command);
    await confirmStart(screen, name);
    await screen.until(/[$#%]$/m);
    screen.type('stty size; rm doomed');
    screen.press('Enter');
    await screen.until(/^30 100$/m);
    await expect.poll(() => existsSync(inWorkspace('doomed'))).toBe(false);
    screen.resize(72, 20);
    screen.type('clear; tput cols; tput lines');
    screen.press('Enter');
    await screen.until(/^72\n20$/m);
    screen.type('sleep 60');
    screen.press('Enter');
    await screen.until(/sleep 60\n/);
    screen.press('C-c');
    screen.press('Up', 'C-u');
    screen.type('exit 6');
    screen.press('Enter');
    await screen.until(/\[exit 6\]/);
    expect(screen.text).not.toContain('[y/N]');
  });

  it.for<[string, string, string]>([
    ['sqlite3', 'select 6 * 7;', '.quit'],
    ['bc', '6 * 7', 'quit'],
    ['node', '6 * 7', '.exit'],
  ])('%s takes statements', async ([program, statement, end], { skip }) => {
    skip(missing(program) !== undefined, `${program} is not installed`);
    using screen = exec(program);
    await confirmStart(screen, program);
    await screen.until(/\? \[y\/N\].*\n[^]*\S/);
    screen.type(statement);
    screen.press('Enter');
    await screen.until(/^42$/m);
    screen.type(end);
    screen.press('Enter');
    await screen.until(/\[exit 0\]/);
  });

  it('Ctrl-] leaves a command that was confirmed, and gives the terminal back', async () => {
    await using client = await connect(daemon.url);
    const { id } = await client.openSession();
    using screen = exec('--session', id, 'bash', '--norc', '--noprofile');
    await confirmStart(screen, 'bash');
    await screen.until(/[$#]$/m);
    screen.type('while :; do sleep 60; done');
    screen.press('Enter');
    await screen.until(/sleep 60; done\n/);
    screen.press('C-]');
    await screen.until(/\[exit 130\]/);
    // The command goes on, as it does when a connection is lost.
    expect(await client.listSessions()).toContainEqual(expect.objectContaining({ session_id: id, state: 'busy' }));
  });

  it('a refusal is shown, and nothing runs', async () => {
    using screen = exec('bash');
    await screen.until(/run it\?/);
    screen.type('n');
    screen.press('Enter');
    await screen.until(/not run: you have refused it\n\[exit 126\]/);
  });

  it('a line for a shell that was started later is asked about before its end is sent', async () => {
    writeFileSync(inWorkspace('inner'), 'exec bash --norc --noprofile\n');
    writeFileSync(inWorkspace('kept'), '');
    using screen = exec('sh', './inner');
    await screen.until(/[$#]$/m);
    screen.type('echo fi');
    screen.type('ne');
    screen.press('Enter');
    await screen.until(/^fine$/m);
    screen.type('rm kept');
    await screen.until(/[$#] rm kept$/m);
    screen.press('Enter');
    await screen.until(/this line has to be confirmed[^]*rm deletes[^]*Send it\? \[y\/N\]/);
    screen.type('n');
    screen.press('Enter');
    await screen.until(/not sent: you have refused it/);
    expect(existsSync(inWorkspace('kept'))).toBe(true);
    screen.press('Enter');
    await screen.until(/(?:Send it\? \[y\/N\][^]*){2}/);
    screen.type('y');
    screen.press('Enter');
    await expect.poll(() => existsSync(inWorkspace('kept'))).toBe(false);
    // A key that edits the line makes it unknown: this is asked about once, and covers all that follows.
    screen.press('Up');
    await screen.until(/bash takes typed input[^]*everything that is typed into this command\? \[y\/N\]/);
    // What is typed right after the answer is for the command.
    screen.press('y', 'Enter', 'C-u');
    screen.type('rm -f kept; exit 7');
    screen.press('Enter');
    await screen.until(/\[exit 7\]/);
  });

  it('what is typed in one go with an answer reaches the command', async () => {
    writeFileSync(inWorkspace('inner'), 'exec bash --norc --noprofile\n');
    writeFileSync(inWorkspace('doomed'), '');
    using screen = exec('sh', './inner');
    await screen.until(/[$#]$/m);
    screen.type('rm doomed');
    screen.press('Enter');
    await screen.until(/Send it\? \[y\/N\]/);
    screen.type('y\recho on\rexit 5\r');
    await screen.until(/^on$[^]*\[exit 5\]/m);
    expect(existsSync(inWorkspace('doomed'))).toBe(false);
  });

  it('without --tty, a command that reads from the terminal gets a hint', async () => {
    using screen = new Screen(daemon.url, ['exec', 'read -p "name? " x; echo "hi $x"']);
    await screen.until(/read reads from the terminal: run it with --tty to type into it/);
    await screen.until(/\[exit \d+\]/);
  });
});
