import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { PRESETS, withoutCheckpoints } from '../../../../src/core/policy/policy.js';
import { factsOfFreshShell } from '../../../../src/core/policy/model.js';
import { decideHere } from '../../../../src/services/gate/decide-here.js';

const POLICY = withoutCheckpoints({ actions: PRESETS.balanced, rules: [] });

/** Files and links, some of which lead out of the workspace. */
const PREPARE = `
mkdir -p space/src space/deploy home/.ssh home/project real-space other
ln -s ../real-space linked-space
echo text | tee space/src/a.txt real-space/a.txt other/file home/.profile > home/.ssh/id_rsa
{ echo '-----BEGIN OPENSSH PRIVATE KEY-----'; echo b3Bl; } > space/deploy/server
{ echo 'Bag Attributes'; echo '-----BEGIN RSA PRIVATE KEY-----'; } > space/deploy/bag
echo 'PuTTY-User-Key-File-3: ssh-ed25519' > space/deploy/putty
echo '-----BEGIN PUBLIC KEY-----' > space/deploy/public
echo "const start = '-----BEGIN PRIVATE KEY-----';" > space/src/pem.ts
mkfifo space/pipe
cd space
ln -s ../home/.profile notes
ln -s ../home/.ssh keys
ln -s src/a.txt inside
ln -s deploy/server data
ln -s ../other out
ln -s loop loop
ln -s / root
ln -s missing dangling
`;

describe('A decision on the files of the machine', () => {
  let place: string;

  beforeAll(() => {
    // The scratch directories are no workspace: this one is beside them.
    place = realpathSync(mkdtempSync(join(tmpdir(), 'shell-adapter-files-')));
    execFileSync('bash', ['-ec', PREPARE], { cwd: place });
  });

  afterAll(() => {
    rmSync(place, { recursive: true, force: true });
  });

  const decideOn = (command: string, workspace = 'space') =>
    decideHere(
      POLICY,
      { command },
      factsOfFreshShell(join(place, workspace), { home: join(place, 'home'), scratch: [join(place, 'scratch')] }),
    );
  const outcomeOf = (command: string, workspace?: string) => {
    const { action, class: commandClass } = decideOn(command, workspace);
    return `${action} ${commandClass}`;
  };

  it.each([
    ['cat src/a.txt', 'allow read'],
    ['cat inside', 'allow read'],
    ['cat loop dangling missing/file', 'allow read'],
    ['cat pipe', 'allow read'],
    ['cat out/file', 'allow read'],
    ['echo x >> inside', 'allow write'],
    ['rm inside', 'confirm destructive'],
  ])('takes links for what they lead to: %s', (command, outcome) => {
    expect(outcomeOf(command)).toBe(outcome);
  });

  it.each([
    ['cat keys/id_rsa', 'confirm exfiltration'],
    ['cat < keys/id_rsa', 'confirm exfiltration'],
    ['grep -r Host keys', 'confirm exfiltration'],
    ['cat root/etc/shadow', 'confirm exfiltration'],
    ['cp keys/* copies', 'confirm exfiltration'],
    ['echo x >> notes', 'confirm persistence'],
    ['tee -a notes', 'confirm persistence'],
    ['echo x > out/file', 'confirm destructive'],
    ['echo x > root/usr/lib/os-release', 'confirm persistence'],
    ['rm -rf root/usr', 'deny destructive'],
    ['rm -rf root/*', 'deny destructive'],
    ['rm keys/id_rsa', 'confirm persistence'],
  ])('follows links out of the workspace: %s', (command, outcome) => {
    expect(outcomeOf(command)).toBe(outcome);
  });

  it.each([
    ['cat deploy/server', 'confirm exfiltration'],
    ['cat data', 'confirm exfiltration'],
    ['base64 < deploy/bag', 'confirm exfiltration'],
    ['head -c 100 deploy/putty', 'confirm exfiltration'],
    ['cat deploy/public', 'allow read'],
    ['cat src/pem.ts', 'allow read'],
  ])('knows a private key by its content: %s', (command, outcome) => {
    expect(outcomeOf(command)).toBe(outcome);
  });

  it('says where a link leads', () => {
    expect(decideOn('cat keys/id_rsa').reasons.join()).toContain(`which leads to ${place}/home/.ssh/id_rsa`);
    expect(decideOn('cat data').reasons.join()).toContain('reads a private key');
  });

  it('takes a workspace behind a link for the workspace', () => {
    expect(outcomeOf('echo x > a.txt', 'linked-space')).toBe('allow write');
  });

  it('asks about more files than it looks at', () => {
    expect(outcomeOf(`cat ${Array.from({ length: 1_000 }, (_, index) => `f${index}`).join(' ')}`)).toBe('allow read');
    expect(outcomeOf(`cat ${Array.from({ length: 1_001 }, (_, index) => `f${index}`).join(' ')}`)).toBe(
      'confirm obfuscated',
    );
  });
});
