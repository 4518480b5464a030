import { describe, expect, it } from 'vitest';

import { outcomeOf, verdictOn } from '../support.js';

/** Commands that read a listed file, whatever leads to it. */
const READING_ONE = {
  'by its name': [
    ...[
      'cat .env',
      'head -3 .env.local',
      'grep KEY config/prod.env',
      'cat .dev.vars',
      'cat server.key',
      'less tls/site.pem',
    ],
    ...['cat config/master.key', 'jq . terraform.tfstate', 'cat ~/.bash_history', 'cat ~/.claude/.credentials.json'],
    ...['cat ~/.codex/auth.json', 'cat ~/.gemini/oauth_creds.json', 'cat ~/.qwen/oauth_creds.json'],
    ...['cat ~/.local/share/opencode/auth.json', 'cat ~/.config/cursor/auth.json', 'cat ~/.cargo/credentials.toml'],
    ...['cat ~/.vault-token', 'cat ~/.terraform.d/credentials.tfrc.json', 'cat ~/.config/sops/age/keys.txt'],
    ...['ls ~/.config/op/x', 'cat ~/.huggingface/token', 'cat ~/.cache/huggingface/token', 'cat ~/.oci/config'],
    ...['sqlite3 -readonly ~/.mozilla/firefox/x/cookies.sqlite .dump', 'cat ~/.local/share/keyrings/login.keyring'],
    ...['cut -c1- ~/.ssh/id_rsa', 'bc ~/.netrc'],
    ...['cat /etc/shadow', 'base64 /home/bob/.ssh/id_ed25519', 'cp .env /tmp/x', 'tar cf x.tar .env', 'wc -l < .env'],
  ],
  'by a pattern': [
    'cat ~/.ssh/id_*',
    'cat ~/.ss?/id_rsa',
    'cat .en?',
    'cat .e*',
    'cat *.pem',
    'head ~/.*/credentials',
    'cat /etc/sh*w',
  ],
  'by a pattern that leads to the daemon’s own': [
    'cat state/tok*',
    'cat st*/token',
    'head /work/*/stat?/to*n',
    'cat ~/../../work/space/s*/*',
  ],
  'by a detour': [
    ...[
      'cat ~+/../../home/ada/.ssh/id_rsa',
      'cat $dir/../.ssh/id_rsa',
      'cat $HOME/.ssh/../.ssh/id_rsa',
      'cat "$x/.env"',
    ],
    ...['cat $(echo ~/.ssh/id_rsa)', 'cat "$(printf %s ~/.ssh/id_rsa)"', 'cat `echo ~/.netrc`'],
    ...[
      'echo ~/.ssh/id_rsa | xargs cat',
      'echo ~/.ssh/id_rsa | xargs -I{} cat {}',
      'printf "%s" ~/.netrc | xargs -0 cat',
    ],
    ...['xargs cat <<< ~/.ssh/id_rsa', "printf '%s' ~/.ssh/id_rsa | sort --files0-from=-"],
    ...["printf '%s\\0' ~/.ssh/id_rsa | sort --files0-from=-", "cat $(printf '\\057etc/shadow')"],
    ...['echo ~/.ssh/id_rsa | zip x.zip -@', 'echo ~/.netrc | rsync --files-from=- / x/'],
    ...['echo ~/.netrc | git hash-object -w --stdin-paths'],
    ...['printf "%s" ~/.ssh/id_rsa | wc --files0-from=-', 'echo id_rsa | xargs -I{} cat ~/.ssh/{}'],
    ...[
      'tar cf - -C ~ .ssh | base64',
      'tar -C ~ -cf x.tar .aws',
      'curl -s FILE:///etc/shadow',
      'curl file://localhost/etc/shadow',
    ],
    ...['curl "file://$PWD/.env"', 'while read l; do echo "$l"; done < .env', 'mapfile -t x < ~/.netrc'],
  ],
  'below a directory': [
    ...[
      'grep -r KEY ~',
      'grep -rh KEY ~/',
      'grep -R KEY $HOME',
      'grep KEY -r /',
      'grep --recursive KEY /home',
      'cd ~ && grep -r KEY',
    ],
    ...['grep -d recurse KEY ~', 'rg --hidden KEY ~', 'rg -uu KEY ~', 'rg KEY ~/.config', 'grep -r root /etc'],
    ...[
      'find ~ -name id_rsa -exec cat {} +',
      "find ~ -type f -exec grep KEY {} ';'",
      "find / -name '*.pem' -exec cat {} +",
    ],
    ...[
      "find ~ -type f -path '*ssh*' | xargs cat",
      'find ~ -name id_rsa -print0 | xargs -0 cat',
      'find /home | xargs -n1 head',
    ],
    ...[
      'tar czf x.tgz ~',
      'cp -r ~ /tmp/x',
      'cp -a ~/.config /tmp/x',
      'zip -r x.zip ~',
      'diff -r ~ /tmp/x',
      'rsync -a ~/ backup/',
    ],
    ...['find ~ -type f -print0 | wc --files0-from=-'],
  ],
};

/** Commands that read none. */
const ORDINARY = [
  ...[
    'cat .env.example',
    'cat README.md',
    'cat package.json',
    'cat src/*',
    'cat *',
    'ls -la',
    'ls ~',
    'cat ~/.ssh/id_rsa.pub',
  ],
  ...['grep -rn foo .', 'grep -rn foo src', 'grep -r foo', 'rg foo', 'rg foo ~', 'rg --hidden foo src', 'git grep foo'],
  ...[
    "find . -name '*.ts' -exec grep foo {} +",
    'find . -type f | xargs wc -l',
    'find . -type f -print0 | xargs -0 grep foo',
  ],
  ...[
    "find ~ -name '*.log' -exec head {} +",
    'find ~ -name id_rsa',
    'find ~ -type f | head',
    'find ~ -type f -exec ls -l {} +',
  ],
  ...[
    "grep -r --include='*.py' foo ~/project",
    "grep -r --include='*.ts' foo ~",
    'ls -R ~',
    'du -sh ~',
    'tar czf x.tgz src',
  ],
  ...[
    'cp -r src /tmp/x',
    'echo a b | xargs echo',
    'echo README.md | xargs cat',
    'cat $(echo README.md)',
    'diff -r a b',
  ],
  ...[
    'openssl x509 -in cert.pem -noout',
    'cat fullchain.pem',
    'curl file:///etc/os-release',
    'grep -r foo /usr/include',
  ],
];

/** Programs that print credentials by themselves. */
const PRINTING = [
  ...[
    'npm config get //registry.npmjs.org/:_authToken',
    'kubectl config view --raw',
    'aws configure get aws_secret_access_key',
  ],
  ...[
    'op read op://x/y',
    'sops -d secrets.enc.yaml',
    'docker compose config',
    'curl http://169.254.169.254/latest/meta-data/',
  ],
  ...[
    'wget -qO- http://metadata.google.internal/computeMetadata/v1/',
    'aws configure export-credentials',
    'gh auth token',
  ],
  ...[
    'gcloud auth print-access-token',
    'pass show x',
    'secret-tool lookup a b',
    'security find-generic-password -w',
    'bw get password x',
  ],
];

describe('credentials', () => {
  for (const [how, commands] of Object.entries(READING_ONE)) {
    describe(`found ${how}`, () => {
      it.each(commands)('are asked about: %s', (command) => {
        expect(verdictOn(command).causes).toContain('exfiltration');
      });

      it.each(commands)('are asked about under `strict`: %s', (command) => {
        expect(verdictOn(command, {}, { preset: 'strict' }).action).toBe('confirm');
      });
    });
  }

  it.each(PRINTING)('that a program prints are asked about: %s', (command) => {
    expect(outcomeOf(command)).toBe('confirm exfiltration');
  });

  it.each(ORDINARY)('are not seen where there are none: %s', (command) => {
    expect(verdictOn(command)).toMatchObject({ action: 'allow' });
  });

  it('of the adapter are everything below its folders', () => {
    const facts = { secretPaths: ['/run/shell-adapter'] };
    expect(outcomeOf('grep -rh X /run/shell-adapter', facts)).toBe('confirm exfiltration');
    expect(outcomeOf('cat /run/shell-adapter/s1/000.cmd', facts)).toBe('confirm exfiltration');
    expect(outcomeOf('cat /run/shell-adapter/*/000.cmd', facts)).toBe('confirm exfiltration');
    expect(outcomeOf('grep -r X /run', facts)).toBe('confirm exfiltration');
  });
});
