import { describe, expect, it } from 'vitest';

import { renderEvent } from '../../../../src/core/audit.js';
import { SecretMask } from '../../../../src/core/secrets.js';

const mask = new SecretMask(['hunter2-hunter2']);
const render = (event: Parameters<typeof renderEvent>[0]) =>
  renderEvent(event, mask, (text) => `hash of ${text.length}`);

describe('what stands in a record', () => {
  it('is masked: command, arguments, reasons and details; the hash is that of the command itself', () => {
    const secret = 'hunter2-hunter2';
    const record = render({
      event: 'command_started',
      command: `curl -u ada:${secret}`,
      args: [secret, 'x'],
      verdict: { action: 'allow', class: 'network', reasons: [`uses ${secret}`] },
      details: { cwd: `/tmp/${secret}`, exit_code: 0 },
    });
    expect(record).toEqual({
      event: 'command_started',
      command: 'curl -u ada:***',
      command_sha256: 'hash of 27',
      args: ['***', 'x'],
      verdict: { action: 'allow', class: 'network', reasons: ['uses ***'] },
      details: { cwd: '/tmp/***', exit_code: 0 },
    });
  });

  it('is bounded: a long command is cut, and many arguments are', () => {
    expect(render({ event: 'command_started', command: 'x'.repeat(9000) })).toEqual({
      event: 'command_started',
      command: 'x'.repeat(8192),
      command_truncated: true,
      command_sha256: 'hash of 9000',
    });
    const args = Array.from({ length: 9000 }, () => 'x');
    expect(render({ event: 'command_started', args })).toEqual({
      event: 'command_started',
      args: args.slice(0, 4096),
      args_truncated: true,
    });
  });
});
