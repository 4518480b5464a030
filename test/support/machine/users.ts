import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';

/** Whether this machine has the programs that make and remove users. */
export const canMakeUsers = ['useradd', 'userdel'].every((name) => spawnSync(name, ['--help']).error === undefined);

/** A user of the machine for a test, with a home and a group of its own; removed with both at the end. */
export class TestUser implements Disposable {
  readonly name: string;
  readonly home: string;
  readonly uid: number;

  /** @param suffix distinguishes the users of one test file */
  constructor(suffix: string) {
    this.name = `sat${process.pid}${suffix}`;
    this.home = `/home/${this.name}`;
    run('useradd', ['--create-home', '--home-dir', this.home, '--user-group', '--shell', '/bin/bash', this.name]);
    chmodSync(this.home, 0o700);
    this.uid = Number(run('id', ['-u', this.name]));
  }

  /** Runs a text as this user, outside of the daemon; returns what it prints and its exit code. */
  run(text: string): { readonly stdout: string; readonly stderr: string; readonly status: number | null } {
    const args = [`--reuid=${this.name}`, `--regid=${this.name}`, '--init-groups', '--', '/bin/sh', '-c', text];
    return spawnSync('setpriv', args, { encoding: 'utf8', cwd: '/', env: { PATH: '/usr/bin:/bin' } });
  }

  [Symbol.dispose](): void {
    // A second removal finds no user.
    spawnSync('userdel', ['--remove', this.name]);
  }
}

function run(file: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout.trim();
}
