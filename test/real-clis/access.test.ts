import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ACCESS_MODES } from '../../src/core/llm/settings.js';
import { ask } from '../support/http.js';
import { LlmService, SERVICE_ANSWER } from '../support/llm/llm-service.js';
import { TestDaemon } from '../support/daemon.js';
import { install } from './install.js';
import { REAL_TOOLS } from './tools.js';

/** What a completion with `worktree_changes` has. */
interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly worktree: { readonly changes: readonly { readonly path: string; readonly status: string }[]; patch: string };
}

/** A file in the worktree, whose path the tools tell the model. */
const wishForFile = (text: string) => {
  const [directory = '.'] = /[^\s"'`\\<>]*\/worktrees\/[\w.-]+\/\d+/.exec(text) ?? [];
  return { file: `${directory}/made.txt`, content: 'by the model' };
};

describe.each(REAL_TOOLS)('access of $package', (tool) => {
  const { name, modelPrefix } = tool;
  let service: LlmService;
  let daemon: TestDaemon;
  let home: string;

  beforeAll(async () => {
    const program = install(name, tool.package);
    // Not in /tmp, where codex does not trust its own files.
    mkdirSync(join(homedir(), '.cache'), { recursive: true });
    home = mkdtempSync(join(homedir(), '.cache/shell-adapter-real-clis-'));
    const repo = join(home, 'repo');
    mkdirSync(repo);
    writeFileSync(join(repo, 'README'), 'a repository\n');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: repo, stdio: 'pipe' });
    git('init', '--quiet');
    git('add', '--all');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '--quiet', '--message=first');
    service = await LlmService.start();
    const model = (access: string) => ({
      ...{ driver: name, repoPath: repo, worktree: true, timeout: 90 },
      ...{ access, model: `${modelPrefix}fake-tool` },
    });
    const models = Object.fromEntries(ACCESS_MODES.map((access) => [access, model(access)]));
    writeFileSync(join(home, 'models.json'), JSON.stringify(models));
    const env = { HOME: home, ...tool.configure(home, service.url) };
    daemon = await TestDaemon.start({
      settings: {
        llm: {
          models_file: join(home, 'models.json'),
          worktree_directory: join(home, 'worktrees'),
          shell_providers: { [name]: { command: program, env } },
        },
      },
    });
  });

  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const complete = async (access: string): Promise<Answer> => {
    const messages = [{ role: 'user', content: 'hello' }];
    const { status, text } = await ask(`${daemon.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: access, messages, worktree_changes: true }),
    });
    expect({ status, text }).toMatchObject({ status: 200 });
    return JSON.parse(text) as Answer;
  };

  it('read: a file that the model wants to write is not written', async () => {
    service.toolWish = wishForFile;
    const { choices, worktree } = await complete('read');
    expect(choices[0]?.message.content).toBe(SERVICE_ANSWER);
    expect(worktree.changes).toEqual([]);
  });

  it('write: it is written, and told among the changes', async () => {
    service.toolWish = wishForFile;
    const { choices, worktree } = await complete('write');
    expect(choices[0]?.message.content).toBe(SERVICE_ANSWER);
    expect(worktree.changes).toMatchObject([{ path: 'made.txt' }]);
    expect(worktree.patch).toContain('+by the model');
  });

  it('full: any command is run', async () => {
    service.toolWish = () => ({ command: 'echo ran > proof.txt' });
    const { worktree } = await complete('full');
    expect(worktree.changes).toMatchObject([{ path: 'proof.txt' }]);
  });
});
