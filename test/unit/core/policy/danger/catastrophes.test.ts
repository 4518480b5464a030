import { describe, expect, it } from 'vitest';

import { PRESET_NAMES } from '../../../../../src/core/policy/policy.js';
import { outcomeOf, ruleOf, verdictOn } from '../support.js';

/** What cannot be undone, and what would be left is no machine. */
const CATASTROPHES: readonly string[] = [
  'rm -rf /',
  'rm -r /',
  'rm -rf //',
  'rm -rf /./',
  'rm -rf /home/../',
  'rm -rf /*',
  'rm -fr /e*',
  'rm -rf {/,/etc}',
  'rm -rf ~',
  'rm -rf $HOME',
  'rm -rf "${HOME}"',
  'rm -rf ~/*',
  'rm -rf ~/.',
  'rm -rf /home/bob',
  'rm -rf /usr /x',
  'rm --no-preserve-root -rf /x',
  'rm -rf / --no-pres',
  'cd / && rm -rf *',
  'cd /; rm -rf .',
  'cd /\nrm -rf *',
  'cd / || exit; rm -rf ./*',
  'pushd / && rm -rf *',
  '(cd / && rm -rf *)',
  'rm -rf ../../*',
  'D=/; rm -rf $D',
  `D='/'; rm -rf "$D"`,
  "echo 'rm -rf /' | sh",
  "sh -c 'rm -rf /'",
  'sudo rm -rf /',
  'env -i sudo -u root rm -rf --one-file-system /',
  "su - root -c 'rm -rf /'",
  'xargs rm -rf /',
  'echo $(rm -rf /)',
  'f() { rm -rf /; }',
  "alias ls='rm -rf /'",
  "trap 'rm -rf /' EXIT",
  'if false; then rm -rf /; fi',
  'find / -delete',
  'find ~ -delete',
  'find /etc -exec rm -rf {} +',
  'chmod -R 777 /',
  'chmod 777 -R /etc',
  'chmod -R a-x /usr',
  'chown -R x /',
  'mv / /x',
  'mv ~ /tmp',
  'dd if=/dev/zero of=/dev/sda',
  'dd of=/dev/nvme0n1 < x',
  'echo x | dd of=/dev/sda',
  '> /dev/sda',
  'cat x > /dev/sda1',
  'cp x /dev/sda',
  'tee /dev/vda < x',
  'echo x > /dev/mem',
  'mkfs.ext4 /dev/sda1',
  'mkfs -t ext4 /dev/sda1',
  'wipefs -a /dev/sda',
  'shred /dev/sda',
  'kill -9 -1',
  'kill -KILL -1',
  'kill -s KILL -- -1',
  'kill 1',
  ':(){ :|:& };:',
  'f(){ f|f& };f',
  'f() { f & f & }; f',
  'bomb() { bomb | bomb & }',
  'shutdown -h now',
  'reboot',
  'poweroff',
  'halt -f',
  'init 0',
  'systemctl poweroff',
  'sudo reboot',
  'rm -rf / ; if',
];

describe('a catastrophe', () => {
  it.each(CATASTROPHES)('%j is denied by every preset', (command) => {
    for (const preset of PRESET_NAMES) expect(outcomeOf(command, {}, { preset })).toMatch(/^deny /);
  });

  it('is denied whatever a rule allows', () => {
    const rules = [ruleOf({ action: 'allow', program: ['*'] }), ruleOf({ action: 'allow', regex: '.' })];
    for (const command of CATASTROPHES) expect(outcomeOf(command, {}, { rules })).toMatch(/^deny /);
  });

  it('is named', () => {
    expect(verdictOn('ls && rm -rf /').reasons[0]).toBe('rm deletes a directory on which everything depends: /');
  });
});

it.each([
  'rm -rf ./build',
  'rm -rf /tmp/x',
  'rm -rf /home/ada/project/build',
  'rm -rf /work/space/*',
  'find . -delete',
  'chmod -R u+w .',
  'kill 1234',
  'f() { f; }; f',
  'echo "rm -rf /"',
  "grep 'rm -rf /' f",
  'cat /dev/sda > /dev/null',
])('%j is none', (command) => {
  expect(verdictOn(command).action).not.toBe('deny');
});
