import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { makeCertificate } from '../../support/network/certificate.js';
import { MAIN, TestDaemon } from '../../support/daemon.js';
import { canReceiveNotifications, NotifySocket } from '../../support/network/notify-socket.js';
import { makeFolder } from '../cli/support.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const UNIT = join(ROOT, 'deploy/systemd/shell-adapter.service');
const DROP_IN = join(ROOT, 'deploy/systemd/detach.conf');

const hasProgram = (name: string): boolean => spawnSync(name, ['--version']).error === undefined;

const canNotify = hasProgram('systemd-notify') && canReceiveNotifications();

describe.skipIf(!canNotify)('a daemon with NOTIFY_SOCKET (needs systemd-notify)', () => {
  it('says when it is ready and when it ends', async () => {
    using folder = makeFolder();
    const path = join(folder.path, 'notify');
    await using socket = await NotifySocket.open(path);
    await using daemon = await TestDaemon.startCold({ env: { NOTIFY_SOCKET: path } });
    expect((await socket.next()).lines).toEqual(['READY=1', `STATUS=listening on ${daemon.url}`]);
    expect(await daemon.stop()).toBe(0);
    expect((await socket.next()).lines[0]).toBe('STOPPING=1');
  });

  it('says that it is alive, in half of the time that the watchdog allows', async () => {
    using folder = makeFolder();
    const path = join(folder.path, 'notify');
    await using socket = await NotifySocket.open(path);
    await using daemon = await TestDaemon.startCold({ env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: '200000' } });
    expect((await socket.next()).lines[1]).toBe(`STATUS=listening on ${daemon.url}`);
    for (let count = 0; count < 2; count += 1) expect((await socket.next()).lines).toEqual(['WATCHDOG=1']);
  });
});

it('a daemon that cannot tell systemd says so, and runs', async () => {
  await using daemon = await TestDaemon.startCold({ env: { NOTIFY_SOCKET: '/nonexistent/notify' } });
  await expect.poll(() => daemon.output).toContain('systemd could not be told');
  expect(await daemon.stop()).toBe(0);
});

describe('secrets of LoadCredential', () => {
  it('are read where keys name files', async () => {
    using folder = makeFolder();
    const { cert, key } = makeCertificate(folder.path);
    writeFileSync(join(folder.path, 'masked'), 'a-secret-of-the-service\n');
    writeFileSync(join(folder.path, 'webhook'), 'key-of-the-signature\n');
    const place = (name: string) => `\${CREDENTIALS_DIRECTORY}/${name}`;
    await using daemon = await TestDaemon.startCold({
      env: { CREDENTIALS_DIRECTORY: folder.path },
      settings: {
        socketio: { tls: { cert, key: place(key.slice(folder.path.length + 1)) } },
        secrets: { files: [place('masked')] },
        notify: { webhooks: [{ url: 'https://127.0.0.1:9/', secret_file: place('webhook') }] },
      },
    });
    expect(daemon.url).toMatch(/^https:/);
  });
});

describe.skipIf(!hasProgram('systemd-analyze'))('the unit (needs systemd-analyze)', () => {
  it.each([
    ['alone', false],
    ['with the drop-in for adapter.detach', true],
  ])('has nothing that systemd does not understand, %s', (_name, isDetached) => {
    using folder = makeFolder();
    const unit = join(folder.path, 'shell-adapter.service');
    writeFileSync(unit, readFileSync(UNIT, 'utf8').replace('ExecStart=/usr/bin/shell-adapter', `ExecStart=${MAIN}`));
    if (isDetached) {
      mkdirSync(`${unit}.d`);
      copyFileSync(DROP_IN, join(`${unit}.d`, 'detach.conf'));
    }
    mkdirSync(join(folder.path, 'man1'));
    symlinkSync(join(ROOT, 'man/shell-adapter.1'), join(folder.path, 'man1/shell-adapter.1'));
    const env = { ...process.env, MANPATH: folder.path };
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', env });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  });

  it('makes the user of the service', () => {
    const users = join(ROOT, 'deploy/systemd/shell-adapter.sysusers.conf');
    const { status, stderr } = spawnSync('systemd-sysusers', ['--dry-run', users], { encoding: 'utf8' });
    expect(status, stderr).toBe(0);
    expect(stderr).not.toContain('Failed');
  });
});

it.skipIf(!hasProgram('man'))('the manual page has no fault that man sees (needs man)', () => {
  const page = join(ROOT, 'man/shell-adapter.1');
  const run = spawnSync('man', ['--warnings', '--local-file', page], {
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '100' },
  });
  expect(run.stderr).toBe('');
  expect(run.stdout).toContain('shell-adapter exec -- ls -l "a b"');
});
