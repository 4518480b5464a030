import { describe, expect, it } from 'vitest';

import type { EventPayload } from '../../../src/core/protocol/results.js';
import { useDaemon } from '../../support/daemon-and-client.js';
import { itRootIf } from '../../support/root.js';
import { canMount, Tmpfs } from '../../support/machine/tmpfs.js';
import type { WireClient } from '../../support/wire.js';

describe('health of a session', () => {
  let client: WireClient;

  useDaemon((started) => ({ client } = started));

  /** Runs a command, and gives what the daemon has to say of the session it leaves. */
  async function disturb(id: string, command: string): Promise<EventPayload<'health_warning'>> {
    await client.run(command, id);
    return client.event('health_warning', ({ session_id }) => session_id === id);
  }

  const manyJobs = 'i=0; pids=; while [ $i -lt 20 ]; do sleep 60 & pids="$pids $!"; i=$((i+1)); done';
  it.each(
    ['bash', 'zsh', 'sh'].flatMap((shell) => [
      [shell, 'mkdir gone; cd gone; rmdir ../gone', 'cd /', 'DIRECTORY_GONE'] as const,
      [shell, 'OLD=$PATH; export PATH=/nonexistent', 'export PATH=$OLD', 'PATH_BROKEN'] as const,
      [shell, 'alias ls="echo no"', 'unalias ls', 'COMMANDS_SHADOWED'] as const,
      [shell, 'ls() { echo no; }', 'unset -f ls', 'COMMANDS_SHADOWED'] as const,
      [shell, 'set -u', 'set +u', 'SHELL_OPTIONS'] as const,
      [shell, 'set -C', 'set +C', 'SHELL_OPTIONS'] as const,
      [shell, 'set -e', 'set +e', 'SHELL_OPTIONS'] as const,
      [shell, 'export BIG=$(head -c 200000 /dev/zero | tr "\\0" x)', 'unset BIG', 'ENVIRONMENT_LARGE'] as const,
      [
        shell,
        'for N in 1 2 3 4 5 6 7; do export BIG$N=$(head -c 100000 /dev/zero | tr "\\0" x); done',
        'unset BIG1 BIG2 BIG3 BIG4 BIG5 BIG6 BIG7',
        'ENVIRONMENT_LARGE',
      ] as const,
      [shell, manyJobs, 'eval "kill $pids; wait"', 'PROCESSES_LEFT'] as const,
    ]),
  )('%s: `%s` is told once, and not again when it is put right', async (shell, command, repair, code) => {
    const id = await client.openSession({ shell });
    const { warnings } = await disturb(id, command);
    expect(warnings.map((warning) => warning.code)).toEqual([code]);
    expect((await client.run(':', id)).warnings).toEqual(warnings);
    expect((await client.run(repair, id)).warnings).toEqual([]);
    expect((await client.run(':', id)).warnings).toEqual([]);
    await client.request('close_session', { session_id: id });
  });

  const SHELLS = ['bash', 'zsh', 'sh'];
  it.each(SHELLS.flatMap((shell) => [false, true].map((tty) => ({ shell, tty }))))(
    '%o: a terminal that a program has left without echo is put right, and that is told once',
    async ({ shell, tty }) => {
      const id = await client.openSession({ shell });
      await client.run('stty sane', id, { tty });
      await client.run("sh -c 'stty raw -echo; sleep 0.05'", id, { tty });
      const { warnings } = await client.event('health_warning', ({ session_id }) => session_id === id);
      expect(warnings).toEqual([
        { code: 'TERMINAL_MODES', message: expect.stringContaining('(-icrnl -opost -isig -icanon -echo)') as string },
      ]);
      const next = await client.run('stty -a | grep -oE -e "-?(icanon|echo)\\b"', id);
      expect(next).toMatchObject({ stdout: 'icanon\necho\n', warnings });
      expect((await client.run(':', id)).warnings).toEqual([]);
      await client.request('close_session', { session_id: id });
    },
  );

  it('a command that itself puts the terminal right is nothing to tell of', async () => {
    const id = await client.openSession();
    await client.run('stty -echo; sleep 0.05; stty echo', id);
    // What is told is in order: had there been something, it would come before this.
    await client.run('set -u', id);
    const { warnings } = await client.event('health_warning', ({ session_id }) => session_id === id);
    expect(warnings.map(({ code }) => code)).toEqual(['SHELL_OPTIONS']);
  });

  it.each([
    ['bash', 'readonly PATH'],
    ['zsh', 'typeset -U path'],
    ['zsh', 'readonly PATH'],
    ['sh', 'readonly PATH'],
  ])('%s: `%s` breaks no PATH', async (shell, command) => {
    const id = await client.openSession({ shell });
    await client.run(command, id);
    await client.run('set -u', id);
    const { warnings } = await client.event('health_warning', ({ session_id }) => session_id === id);
    expect(warnings.map(({ code }) => code)).toEqual(['SHELL_OPTIONS']);
  });

  it('a shell that takes its time to save its state is waited for', async () => {
    const [slow, other] = [await client.openSession(), await client.openSession()];
    const shell = Number((await client.run('echo $$', slow)).stdout);
    await client.run('set -u', slow);
    process.kill(shell, 'SIGSTOP');
    // When this one is told of, the slow one has been looked at.
    await disturb(other, 'set -u');
    process.kill(shell, 'SIGCONT');
    const { warnings } = await client.event('health_warning', ({ session_id }) => session_id === slow);
    expect(warnings.map(({ code }) => code)).toEqual(['SHELL_OPTIONS']);
    for (const id of [slow, other]) await client.request('close_session', { session_id: id });
  });

  it('bash: a function instead of a command', async () => {
    const id = await client.openSession();
    const { warnings } = await disturb(id, 'rm() { echo no; }');
    expect(warnings[0]).toMatchObject({ code: 'COMMANDS_SHADOWED', message: expect.stringContaining('rm') as string });
  });

  it('reset_session repairs it, and nothing is told of what was before', async () => {
    const id = await client.openSession();
    await disturb(id, 'set -e; ls() { false; }; export PATH=/nowhere');
    await client.request('reset_session', { session_id: id });
    expect(await client.run('ls / >/dev/null && echo fine', id)).toMatchObject({ stdout: 'fine\n', warnings: [] });
  });

  itRootIf(canMount())('a disk that is nearly full', async () => {
    using disk = new Tmpfs(1);
    const id = await client.openSession({ cwd: disk.path });
    const { warnings } = await disturb(id, 'head -c 1040000 /dev/zero >file');
    expect(warnings.map(({ code }) => code)).toEqual(['DISK_LOW']);
    await client.request('close_session', { session_id: id });
  });
});
