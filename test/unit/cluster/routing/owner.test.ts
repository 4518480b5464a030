import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { askOwner } from '../../../../src/cluster/gather.js';
import type { SessionNode } from '../../../../src/cluster/placement.js';
import type { ErrorCode } from '../../../../src/core/errors.js';
import type { RoutedReply } from '../../../../src/services/cluster-port.js';

const node = (name: string, facts: { isHere?: boolean; isLive?: boolean } = {}): SessionNode =>
  ({ name, isHere: false, isLive: true, problem: undefined, ...facts }) as SessionNode;
const found = (stdout: string) => ({ reply: { stdout }, isRecorded: true }) as unknown as RoutedReply;
const failed = (code: ErrorCode): RoutedReply => ({ reply: { error: { code, message: code } }, isRecorded: false });
const UNKNOWN = failed('COMMAND_NOT_FOUND');

describe('the node that has something', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is this one, if it has it: no other is asked', async () => {
    const ask = vi.fn(() => Promise.resolve(found('here')));
    const own = node('own', { isHere: true });
    expect(await askOwner([own, node('a'), node('b')], ask)).toEqual(found('here'));
    expect(ask.mock.calls).toEqual([[own]]);
  });

  it('may take an hour to answer, while the others do not have it', async () => {
    const answer = askOwner([node('own', { isHere: true }), node('a'), node('b')], ({ name }) =>
      name === 'b'
        ? new Promise((resolve) => {
            setTimeout(resolve, 3_600_000, found('late'));
          })
        : Promise.resolve(UNKNOWN),
    );
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(await answer).toEqual(found('late'));
  });

  it('may be one without a connection, when no other has it', async () => {
    const ask = () => Promise.resolve(UNKNOWN);
    const { reply } = (await askOwner([node('own', { isHere: true }), node('a'), node('b', { isLive: false })], ask))!;
    expect(reply).toMatchObject({ error: { code: 'NODE_UNREACHABLE', details: { node: 'b' } } });
    expect(await askOwner([node('own', { isHere: true }), node('a')], ask)).toEqual(UNKNOWN);
    expect(await askOwner([node('own', { isHere: true })], ask)).toEqual(UNKNOWN);
    expect(await askOwner([], ask)).toBeUndefined();
  });
});
