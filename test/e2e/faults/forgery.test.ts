import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import { PROCESS_HANG_MS } from '../../support/hang.js';
import { timed } from '../../support/measure.js';
import type { WireClient } from '../../support/wire.js';

let client: WireClient;

useDaemon((started) => ({ client } = started), { settings: { adapter: { kill_grace: 0.5 } } });

/** A guess at the driver's report and at the terminal fence; the real ones carry 128 random bits. */
const GUESS = 'AAAAAAAAAAAAAAAAAAAAAA';
const FORGERIES = [
  `printf '${GUESS} 0 0 /\\0'`,
  `printf '\\033]7711;a${GUESS}\\a\\033]7711;z${GUESS}\\a'`,
  `printf 'ready 0 0 /\\0idle 0 0 /\\0'`,
  `printf '__EXIT_CODE__:0\\nEXITCODESTART0EXITCODEEND\\n\\001\\001\\001x\\n'`,
];

describe('F29: forged ends', () => {
  it.each(FORGERIES)('F29: %s does not end a command early, on pipes or on the terminal', async (print) => {
    const id = await client.openSession();
    for (const tty of [false, true]) {
      const command = `${print}; ${print} >&2; ${print} >/dev/tty; sleep 0.3; echo last; false`;
      const { ms, value } = await timed(() => client.run(command, id, { tty, output: { encoding: 'base64' } }));
      const text = Buffer.from(value.stdout, 'base64').toString();
      expect(value).toMatchObject({ exit_code: 1, status: 'completed', session_state: 'alive' });
      expect(text.trimEnd().endsWith('last')).toBe(true);
      expect(ms).toBeGreaterThanOrEqual(300);
      expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', exit_code: 0 });
    }
    await client.request('close_session', { session_id: id });
  });

  it('F29: the terminal’s bytes come back as they are, a guessed fence included', async () => {
    const id = await client.openSession();
    const fence = `\x1b]7711;z${GUESS}\x07`;
    const result = await client.run(`printf 'a\\033]7711;z${GUESS}\\ab'`, id, { tty: true });
    expect(result).toMatchObject({ stdout: `a${fence}b`, exit_code: 0 });
    await client.request('close_session', { session_id: id });
  });
});

describe('F29: changes to the shell that commands depend on', () => {
  it.each([
    ['set -x', 'set -x'],
    ['set -v', 'set -v'],
    ['a DEBUG trap', "trap 'echo DBG >/dev/null' DEBUG"],
    ['a DEBUG trap that prints', "trap 'printf D' DEBUG"],
    ['an ERR trap', "trap 'echo ERR' ERR"],
    ['a RETURN trap', "set -T; trap 'echo RET' RETURN"],
    ['PS1, PS2, PS4', "PS1='$(echo forged)' PS2='> ' PS4='$(echo forged)'"],
    ['PROMPT_COMMAND unset', 'unset PROMPT_COMMAND'],
    ['PROMPT_COMMAND as an array', "PROMPT_COMMAND=('echo x' 'echo y')"],
    ['PROMPT_COMMAND readonly', 'readonly PROMPT_COMMAND'],
    ['exec to a file', 'exec >/dev/null'],
    ['exec of both to a file', 'exec >/dev/null 2>&1'],
    ['stdin closed', 'exec <&-'],
    ['every descriptor closed', 'for n in {0..255}; do eval "exec $n>&-"; done'],
  ])('F29: after %s the next command ends when it ends, with its own code', async (_, change) => {
    const id = await client.openSession();
    expect(await client.run(change, id, { timeout_ms: 5000 })).toMatchObject({ timed_out: false });
    const { ms, value } = await timed(() => client.run('sleep 0.2; (exit 5)', id, { timeout_ms: 5000 }));
    expect(value).toMatchObject({ exit_code: 5, status: 'completed' });
    expect(ms).toBeGreaterThanOrEqual(200);
    const { stdout } = await client.run('command printf "%s\\n" exact', id);
    expect(stdout.replace(/^D*/, '').replaceAll('DBG\n', '')).toBe('exact\n');
    await client.request('close_session', { session_id: id });
  });
});

describe('F29: text that is not finished', () => {
  it.each([
    ['echo "abc', 'an unclosed quote'],
    ["echo 'abc", 'an unclosed single quote'],
    ['cat <<EOF\nline', 'a heredoc without its end'],
    ['if true; then echo x', 'an unfinished if'],
    ['(echo x', 'an unclosed parenthesis'],
    ['echo $(echo x', 'an unclosed substitution'],
    ['f() {', 'an unfinished function'],
    ['echo x |', 'a pipe to nothing'],
    ['}', 'a brace too many'],
    ['done', 'a word out of place'],
    ['echo a \\', 'a backslash at the end'],
  ])('F29: %j (%s) is answered at once, and the session goes on', async (command) => {
    const id = await client.openSession();
    expect(await client.run(command, id)).toMatchObject({ status: 'completed', session_state: 'alive' });
    expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', exit_code: 0 });
    await client.request('close_session', { session_id: id });
  });

  it('F29: a program that waits for input it will not get: time-out, and the session goes on', async () => {
    const id = await client.openSession();
    expect(await client.run('cat', id, { timeout_ms: 300 })).toMatchObject({ status: 'timed_out', exit_code: 124 });
    expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', session_state: 'alive' });
    const waiting = client.run('read -r line; echo "$line"', id, { command_id: `read-${id}` });
    await client.event('awaiting_input', ({ command_id }) => command_id === `read-${id}`);
    expect((await client.request('signal_command', { session_id: id, signal: 'SIGINT' })).error).toBeUndefined();
    expect(await waiting).toMatchObject({ status: 'interrupted', exit_code: 130 });
    expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', session_state: 'alive' });
    await client.request('close_session', { session_id: id });
  });
});

describe('F29: an interrupt in the moment in which a command starts', () => {
  it.each(['sleep 301', 'read -r line', 'while :; do :; done'])(
    'F29: %s is ended by it or goes on, but it is never lost, and the same shell answers',
    async (command) => {
      const id = await client.openSession();
      const shell = (await client.run('echo $$', id)).stdout;
      for (let time = 0; time < 40; time += 1) {
        const running = client.run(command, id, { timeout_ms: 5000 });
        const until = performance.now() + time / 20;
        while (performance.now() < until);
        const { error } = await client.request('signal_command', { session_id: id, signal: 'SIGINT' });
        if (error) await client.request('signal_command', { session_id: id, signal: 'SIGINT' });
        // A program that is just being started may miss it, as with Ctrl-C on a terminal; the next one reaches it.
        const again = setTimeout(
          () => void client.request('signal_command', { session_id: id, signal: 'SIGINT' }),
          1000,
        );
        const result = await running;
        clearTimeout(again);
        expect(result).toMatchObject({ status: 'interrupted', exit_code: 130, session_state: 'alive' });
        expect((await client.run('echo $$', id)).stdout).toBe(shell);
      }
      await client.request('close_session', { session_id: id });
    },
  );
});

describe('F30: what a program leaves behind on the terminal', () => {
  it.each([
    ['raw mode', 'stty raw -echo -isig'],
    ['no output processing', 'stty -opost'],
    ['the alternate screen', "printf '\\033[?1049h\\033[?25l' >/dev/tty"],
    ['mouse and paste modes', "printf '\\033[?1000h\\033[?2004h' >/dev/tty"],
    ['questions to the terminal', "printf '\\033[6n\\033[c\\033]11;?\\007' >/dev/tty"],
    ['output stopped by ^S', "printf '\\023' >/dev/tty"],
    ['a stopped job', "sh -c 'kill -STOP $$' & wait $! 2>/dev/null; true"],
    ['a foreground group that is not the shell’s', "sh -ic 'exit 0' 2>/dev/null; true"],
    ['a killed full-screen program', "sh -c 'stty raw -echo; kill -9 $$'; true"],
  ])('F30: after %s the next command and its input work', async (_, command) => {
    const id = await client.openSession();
    expect(await client.run(command, id, { timeout_ms: 3000 })).toMatchObject({ session_state: 'alive' });
    expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', stderr: '', exit_code: 0 });
    const reading = client.run('read -r line; echo "[$line]"', id, { timeout_ms: 5000 });
    await client.event('awaiting_input', ({ session_id }) => session_id === id);
    await client.request('send_input', { session_id: id, data: 'typed\n' });
    expect(await reading).toMatchObject({ stdout: '[typed]\n', exit_code: 0 });
    const terminal = await client.run('echo on terminal', id, { tty: true });
    expect(terminal.stdout).toMatch(/^on terminal\r?\n$/);
    expect(terminal.exit_code).toBe(0);
    await client.request('close_session', { session_id: id });
  });

  it('F30: Ctrl-C works again after a program switched signals off', async () => {
    const id = await client.openSession();
    await client.run('stty raw -isig', id);
    // The program itself says it: between a command of the shell and the next a key reaches neither, as at any terminal.
    const running = client.run("sh -c 'echo started; exec sleep 300'", id, { stream: true });
    await client.event('command_output', ({ session_id, data }) => session_id === id && data === 'started\n');
    await client.request('send_input', { session_id: id, data: '\x03' });
    expect(await running).toMatchObject({ exit_code: 130 });
    await client.request('close_session', { session_id: id });
  });

  it('F30: a foreground program that stops itself does not stop the session', async () => {
    const id = await client.openSession();
    const { ms, value } = await timed(() =>
      client.run("sh -c 'kill -STOP $$'; echo went on", id, { timeout_ms: 2000 }),
    );
    expect(ms).toBeLessThan(PROCESS_HANG_MS);
    expect(value.status === 'completed' ? value.stdout : value.status).toMatch(/went on\n|timed_out/);
    expect(await client.run('echo next', id)).toMatchObject({ stdout: 'next\n', session_state: 'alive' });
    await client.request('close_session', { session_id: id });
  });
});
