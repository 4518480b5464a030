import { describe, expect, it } from 'vitest';

import {
  isWorthRetrying,
  type Notification,
  pauseBeforeRetry,
  renderBody,
} from '../../../../src/core/notifications.js';

const facts = { id: 'the-id', time: '2026-01-01T00:00:00.000Z', hostname: 'host' };
const waiting: Notification = {
  event: 'confirmation_required',
  message: 'a <command> waits',
  sessionId: 'session_1',
  commandId: 'command_1',
  class: 'destructive',
  command: 'rm ```<x>&',
  details: { confirmation_id: 'c' },
};

describe('the body of a notification', () => {
  it('has the class of a command and not its text', () => {
    expect(JSON.parse(renderBody(waiting, facts, { format: 'json', includeCommand: false }))).toEqual({
      event: 'confirmation_required',
      id: 'the-id',
      time: '2026-01-01T00:00:00.000Z',
      hostname: 'host',
      message: 'a <command> waits',
      session_id: 'session_1',
      command_id: 'command_1',
      class: 'destructive',
      details: { confirmation_id: 'c' },
    });
  });

  it('has the text where it is wanted, up to a length', () => {
    const long = { ...waiting, command: 'x'.repeat(5000) };
    const body = JSON.parse(renderBody(long, facts, { format: 'json', includeCommand: true })) as { command: string };
    expect(body.command).toHaveLength(2000);
  });

  it.each([
    [false, '*confirmation_required* on host: a &lt;command&gt; waits'],
    [true, "*confirmation_required* on host: a &lt;command&gt; waits\n```rm '''&lt;x&gt;&amp;```"],
  ])('is a text for Slack, with the command: %s', (includeCommand, text) => {
    expect(JSON.parse(renderBody(waiting, facts, { format: 'slack', includeCommand }))).toEqual({ text });
  });
});

describe('retries', () => {
  it.each([
    [429, true],
    [500, true],
    [503, true],
    [400, false],
    [404, false],
    [302, false],
  ])('after status %i: %s', (status, expected) => {
    expect(isWorthRetrying(status)).toBe(expected);
  });

  it.each([
    [1, 0, null, 250],
    [1, 1, null, 500],
    [4, 1, null, 4000],
    [20, 1, null, 60_000],
    [1, 1, '7', 7000],
    [1, 1, '3600', 60_000],
    [1, 1, 'Wed, 21 Oct 2026 07:28:00 GMT', 500],
  ])('pause after attempt %i, random %f, Retry-After %s: %i ms', (attempt, random, retryAfter, expected) => {
    expect(pauseBeforeRetry(attempt, random, retryAfter)).toBe(expected);
  });
});
