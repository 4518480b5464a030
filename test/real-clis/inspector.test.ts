import { execFileSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { MAIN, TestDaemon } from '../support/daemon.js';
import { install } from './install.js';

const PACKAGE = '@modelcontextprotocol/inspector@0.15.0';

/** Ways in which it reaches the tools. */
const WAYS = {
  stdio: (url: string) => [process.execPath, MAIN, 'mcp', '--url', url],
  HTTP: (url: string) => [new URL('/mcp', url).href, '--transport', 'http'],
};

describe.each(Object.entries(WAYS))('the inspector of MCP over %s', (_, way) => {
  let daemon: TestDaemon;
  let program: string;

  beforeAll(async () => {
    program = install('mcp-inspector', PACKAGE);
    daemon = await TestDaemon.start({ settings: { confirmation: { mode: 'self', checkpoint: false } } });
  });

  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
  });

  const inspect = (...args: readonly string[]) => {
    const output = execFileSync(program, ['--cli', ...way(daemon.url), ...args], { encoding: 'utf8', stdio: 'pipe' });
    return JSON.parse(output) as Record<string, unknown>;
  };
  const call = (tool: string, ...args: readonly string[]) =>
    inspect('--method', 'tools/call', '--tool-name', tool, ...args.flatMap((arg) => ['--tool-arg', arg]));

  it('lists the tools', () => {
    expect(inspect('--method', 'tools/list')['tools']).toHaveLength(21);
  });

  it('runs a command', () => {
    expect(call('run_command', 'command=echo hi; exit 3')).toMatchObject({
      structuredContent: { stdout: 'hi\n', stderr: '', exit_code: 3 },
    });
  });

  it('is asked to confirm one, and does', () => {
    const { structuredContent } = call('run_command', 'command=rm -f none');
    const asked = structuredContent as Record<string, string>;
    expect(asked).toMatchObject({ status: 'confirmation_required', requires: 'self' });
    const { confirmation_id: id = '', command_sha256: hash = '' } = asked;
    const approval = [`confirmation_id=${id}`, `command_sha256=${hash}`, 'decision=approve', 'justification=a test'];
    expect(call('confirm_command', ...approval)).toMatchObject({ structuredContent: { exit_code: 0 } });
  });

  it('is told what is wrong', () => {
    expect(call('run_command', 'cmd=ls')).toMatchObject({ isError: true });
    expect(() => call('nothing')).toThrow('nothing');
  });
});
