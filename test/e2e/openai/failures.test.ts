import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/measure.js';
import { ask as askPlainly } from '../../support/http.js';
import { taggedProcesses, instanceOf } from '../../support/processes.js';
import { ask, ToolStage } from './support.js';

const sh = (script: string) => ({ command: 'sh', args: ['-c', script] });

/** What Claude Code prints without a login, abridged. */
const LOGGED_OUT = [
  { type: 'assistant', error: 'authentication_failed', message: { content: [] } },
  { type: 'result', subtype: 'success', is_error: true, result: 'Not logged in · Please run /login' },
];
/** What codex prints when its service refuses more requests. */
const TOO_MANY = {
  type: 'turn.failed',
  error: { message: 'exceeded retry limit, last status: 429 Too Many Requests' },
};

const stage = new ToolStage();

beforeAll(async () => {
  stage.tool(
    'claude',
    `cat >/dev/null; cat <<'END'\n${LOGGED_OUT.map((event) => JSON.stringify(event)).join('\n')}\nEND\nexit 1`,
  );
  stage.tool('codex', 'cat >/dev/null');
  mkdirSync(join(stage.folder, 'plain'));
  mkdirSync(join(stage.repo, 'odd/AGENTS.md'), { recursive: true });
  execFileSync('mkfifo', [join(stage.repo, 'pipe')]);
  writeFileSync(join(stage.repo, 'large'), 'x'.repeat(1024 * 1024 + 1));
  await stage.start(
    Object.fromEntries(
      Object.entries({
        broken: { driver: 'broken' },
        silent: { driver: 'codex' },
        limited: { driver: 'limited' },
        parser: { driver: 'parser' },
        quota: { driver: 'quota' },
        tar: { driver: 'tar' },
        loggedOut: { driver: 'claude' },
        late: { driver: 'sleeper', timeout: 0.3 },
        missing: { driver: 'opencode-not-there' },
        gone: { driver: 'broken', repoPath: 'nowhere' },
        unversioned: { driver: 'broken', repoPath: 'plain', worktree: true },
        unreadable: { driver: 'broken', repoPath: 'repo/odd' },
        piped: { driver: 'broken', agentFile: 'pipe' },
        endless: { driver: 'broken', agentFile: '/dev/zero' },
        enormous: { driver: 'broken', agentFile: 'large' },
        torn: { driver: 'torn' },
        unmarked: { driver: 'text', normalizer: 'structured' },
      }).map(([name, model]) => [name, { repoPath: 'repo', ...model }]),
    ),
    {
      shell_providers: {
        broken: sh(`cat >/dev/null; echo run >> ${stage.folder}/runs; echo half; echo "it hurts" >&2; exit 3`),
        limited: {
          driver: 'codex',
          ...sh(`cat >/dev/null; echo run >> ${stage.folder}/limited-runs; echo '${JSON.stringify(TOO_MANY)}'; exit 1`),
        },
        parser: sh('cat >/dev/null; echo "Error: parse error at line 429" >&2; exit 3'),
        quota: sh('cat >/dev/null; echo "disk quota exceeded" >&2; exit 1'),
        tar: sh('cat >/dev/null; echo "tar: file too large" >&2; exit 2'),
        sleeper: sh('cat >/dev/null; setsid sleep 300 & sleep 300'),
        'opencode-not-there': { command: 'opencode-not-there' },
        torn: sh('cat >/dev/null; echo some; sleep 0.2; exit 1'),
        text: sh('cat >/dev/null; echo text'),
      },
    },
  );
});
afterAll(() => stage[Symbol.asyncDispose]());

const create = (model: string, content = 'hello', more: object = {}) =>
  stage.client().chat.completions.create({ model, messages: ask(content), ...more });

const failureOf = async (asking: Promise<unknown>): Promise<APIError> => {
  const error: unknown = await asking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error(`no APIError: ${String(error)}`);
  return error;
};

describe('what fails is an error as OpenAI’s clients take it', () => {
  it.each([
    ['an unknown model', 'nope', 400, 'model_not_found', /^400 Unknown model$/, /there is no model "nope"; there are /],
    ['a tool that fails', 'broken', 500, 'llm_failed', /^500 CLI failed$/, /^half\nit hurts$/],
    [
      'a line number in plain text',
      'parser',
      500,
      'llm_failed',
      /^500 CLI failed$/,
      /^Error: parse error at line 429$/,
    ],
    ['a full disk', 'quota', 500, 'llm_failed', /^500 CLI failed$/, /^disk quota exceeded$/],
    ['a large file', 'tar', 500, 'llm_failed', /^500 CLI failed$/, /^tar: file too large$/],
    ['a tool that is not logged in', 'loggedOut', 500, 'llm_auth', /^500 CLI failed$/, /Not logged in/],
    ['a tool that takes too long', 'late', 504, 'llm_timeout', /^504 CLI timed out$/, /time-out/],
    ['a tool that is not there', 'missing', 503, 'llm_unavailable', /^503 CLI not available$/, /not installed/],
    ['a repository that is not there', 'gone', 500, 'bad_directory', /nowhere, where the model runs/, undefined],
    [
      'a worktree of no repository',
      'unversioned',
      500,
      'bad_directory',
      /plain gives no worktree/,
      /not a git repository/,
    ],
    ['instructions that cannot be read', 'unreadable', 500, 'bad_directory', /AGENTS\.md cannot be read/, undefined],
    ['instructions from a pipe', 'piped', 500, 'bad_directory', /pipe cannot be read: it is no file/, undefined],
    ['instructions from a device', 'endless', 500, 'bad_directory', /zero cannot be read: it is no file/, undefined],
    [
      'instructions without measure',
      'enormous',
      500,
      'bad_directory',
      /large cannot be read: it has 1048577 bytes/,
      undefined,
    ],
    ['no structured output', 'unmarked', 500, 'llm_failed', /^500 CLI failed$/, /^text$/],
  ])('%s', async (_, model, status, code, message, detail) => {
    const error = await failureOf(create(model));
    expect({ status: error.status, code: error.code }).toEqual({ status, code });
    expect(error.message).toMatch(message);
    const told = (error.error as { detail?: string }).detail;
    if (detail === undefined) expect(told).toBeUndefined();
    else expect(told).toMatch(detail);
    expect(error.headers?.get('x-should-retry')).toBe('false');
  });

  it.each([
    ['no messages', { messages: [] }, 'messages'],
    ['an empty message', { messages: ask('  ') }, 'messages'],
    ['two choices', { n: 2 }, 'n'],
    [
      'a picture',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }] },
      'messages.0.content.0',
    ],
    ['a model that is no text', { model: 5 }, 'model'],
    ['NUL', { messages: ask('a\0b') }, 'messages.0.content'],
    ['a role that is none', { messages: [{ role: 'robot', content: 'x' }] }, 'messages.0.role'],
    ['changes of a run without a worktree', { worktree_changes: true }, 'worktree_changes'],
  ])('%s', async (_, more, field) => {
    const error = await failureOf(create('broken', 'hello', more));
    expect(error).toMatchObject({ status: 400, param: field, type: 'invalid_request_error' });
  });

  it('a prompt beyond what the tool takes', async () => {
    const error = await failureOf(create('silent', 'x'.repeat(1024 * 1024 + 1)));
    expect(error).toMatchObject({ status: 400, code: 'llm_prompt_too_large' });
  });

  it.each([
    ['no JSON', '{"model":', 'application/json', 400],
    ['another type', 'model=x', 'application/x-www-form-urlencoded', 415],
    ['a text', '{"model":"broken"}', 'text/plain', 415],
    ['a body without end', `{"model":"${'x'.repeat(25 * 1024 * 1024)}"}`, 'application/json', 413],
  ])('%s', async (_, body, type, status) => {
    const headers = { 'content-type': type };
    const answer = await askPlainly(`${stage.daemon.url}/v1/chat/completions`, { method: 'POST', headers, body }).catch(
      // The connection may be closed before all of it was sent.
      () => ({ status: 413, body: undefined }),
    );
    if (answer.body !== undefined) expect(answer).toMatchObject({ body: { error: { type: 'invalid_request_error' } } });
    expect([status, 400]).toContain(answer.status);
  });

  it('a tool that says nothing has an answer too', async () => {
    const { choices } = (await create('silent')) as { choices: { message: { content: string } }[] };
    expect(choices[0]?.message.content).toBe('No output from CLI.');
  });

  it('is not tried again by itself: a run may have changed something', async () => {
    const before = stage.read('runs').length;
    await failureOf(create('broken', 'a prompt of its own'));
    expect(stage.read('runs').length - before).toBe('run\n'.length);
  });

  it('not when its service has had too many requests either', async () => {
    const error = await failureOf(create('limited'));
    expect(error).toMatchObject({ status: 429, code: 'llm_rate_limited', type: 'rate_limit_error' });
    expect((error.error as { detail?: string }).detail).toContain('429 Too Many');
    expect(error.headers?.get('retry-after')).toBeNull();
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(stage.read('limited-runs')).toBe('run\n');
  });

  it('before the first piece of a stream, is an answer with a status', async () => {
    expect(await failureOf(create('loggedOut', 'hello', { stream: true }))).toMatchObject({
      status: 500,
      code: 'llm_auth',
    });
    expect(await failureOf(create('nope', 'hello', { stream: true }))).toMatchObject({ status: 400 });
  });

  it('after it, ends the stream', async () => {
    const stream = await stage.client().chat.completions.create({ model: 'torn', messages: ask(), stream: true });
    const parts: string[] = [];
    const reading = (async () => {
      for await (const { choices } of stream) parts.push(choices[0]?.delta.content ?? '');
    })();
    expect((await failureOf(reading)).message).toContain('CLI failed');
    expect(parts.join('')).toBe('some\n');
  });

  it('leaves no process behind', async () => {
    await failureOf(create('late'));
    await eventually(() => {
      const left = taggedProcesses(instanceOf(stage.daemon.pid)).filter(({ command }) => command.includes('sleep 300'));
      expect(left).toEqual([]);
    });
  });
});
