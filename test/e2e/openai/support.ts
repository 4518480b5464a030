import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import OpenAI from 'openai';

import { TestDaemon } from '../../support/daemon.js';

/** Models of an endpoint, in the words of `models.json`. */
export type WrittenModels = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A folder with tools to run, a repository to run them in, and a daemon that does. */
export class ToolStage implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'shell-adapter-stage-'));
  /** A repository with one commit, which has `AGENTS.md` and `sub/file`. */
  readonly repo = join(this.folder, 'repo');
  #daemon: TestDaemon | undefined;

  constructor() {
    mkdirSync(join(this.folder, 'bin'));
    mkdirSync(join(this.repo, 'sub'), { recursive: true });
    writeFileSync(join(this.repo, 'AGENTS.md'), 'Answer in one word.\n');
    writeFileSync(join(this.repo, 'sub/file'), 'content\n');
    this.git('init', '--quiet', '--initial-branch=main');
    this.git('add', '--all');
    this.git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '--quiet', '--message=first');
  }

  get daemon(): TestDaemon {
    if (!this.#daemon) throw new Error('the stage has no daemon yet');
    return this.#daemon;
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, { cwd: this.repo, encoding: 'utf8' });
  }

  /** Makes a program of a script for sh. */
  tool(name: string, script: string): string {
    const file = join(this.folder, 'bin', name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** Starts the daemon, with the tools on its PATH. */
  async start(
    models: WrittenModels | undefined,
    llm: Record<string, unknown> = {},
    settings: Record<string, Record<string, unknown>> = {},
  ): Promise<void> {
    this.writeModels(models ?? {});
    const file = models && { models_file: join(this.folder, 'models.json') };
    this.#daemon = await TestDaemon.startCold({
      settings: { ...settings, llm: { ...file, ...llm } },
      env: { PATH: `${join(this.folder, 'bin')}:${process.env['PATH'] ?? ''}` },
    });
  }

  writeModels(models: WrittenModels): void {
    writeFileSync(join(this.folder, 'models.json'), JSON.stringify(models, null, 2));
  }

  /** OpenAI's own client. */
  client(apiKey = 'local'): OpenAI {
    return new OpenAI({ baseURL: `${this.daemon.url}/v1`, apiKey });
  }

  /** Content of a file in the folder; empty when it is not there. */
  read(name: string): string {
    const file = join(this.folder, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A question. */
export const ask = (content = 'hello'): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content }];

/** The command of a shell provider: a script. */
export const sh = (script: string) => ({ command: 'sh', args: ['-c', script] });

/** How many worktrees the repository knows of beside itself. */
export const worktreesOf = (stage: ToolStage) =>
  stage.git('worktree', 'list', '--porcelain').match(/^worktree /gm)!.length - 1;

/** The text of an answer. */
export const contentOf = (answer: { choices: { message: { content: string | null } }[] }) =>
  answer.choices[0]?.message.content;
