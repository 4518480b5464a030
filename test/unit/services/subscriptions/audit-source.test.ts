import { expect, it, vi } from 'vitest';

import { AuditSource, type Subscriber } from '../../../../src/services/subscription-sources.js';

it('fails once when the log cannot be read, and sends what it has as soon as it can', async () => {
  const record = { seq: 1 };
  const read = vi.fn().mockRejectedValueOnce(new Error('no')).mockRejectedValueOnce(new Error('no again'));
  read.mockResolvedValue({ records: [record] });
  const send = vi.fn();
  const source = new AuditSource({ read, lastSeq: 1 } as never);
  const feed = source.feed({ sink: { send } } as unknown as Subscriber);
  await expect(feed()).rejects.toThrow('no');
  await feed();
  expect(send).not.toHaveBeenCalled();
  await feed();
  expect(send).toHaveBeenCalledWith('audit_records', { records: [record], skipped: 0 });
});
